//! Errors of object stores as sentences with a remedy, and of commits whether the change was made. What may contain a
//! secret, such as a signed request, is not repeated.

use std::error::Error as _;
use std::io;

use object_store::Error as Fault;

use perfpipe_model::error::{Error, ErrorKind};

/// The longest cause that is repeated, in characters.
const LONGEST: usize = 300;

/// The remedy for credentials that are missing or not enough.
const CREDENTIALS: &str = "Check the credentials in the environment and what they may do there: AWS_ACCESS_KEY_ID and \
                           AWS_SECRET_ACCESS_KEY (and AWS_REGION), GOOGLE_APPLICATION_CREDENTIALS, or \
                           AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY.";

/// What answers say that deny something.
const DENIED: [&str; 5] =
    ["AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "403 Forbidden", "401 Unauthorized"];

/// Returns an error of an object store as one of reading or writing.
pub(super) fn io_fault(error: &Fault) -> io::Error {
    let text = texts(error);
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let (kind, why, remedy) = if has(&[
        "NoSuchBucket",
        "ContainerNotFound",
        "The specified bucket does not exist",
    ]) {
        let why = "there is no such bucket".to_owned();
        (ErrorKind::BucketMissing, why, "Check its name, or create it with the tools of the object store.")
    } else if has(&["ExpiredToken", "token has expired", "TokenRefreshRequired"]) {
        let why = "the credentials have expired".to_owned();
        (ErrorKind::BucketExpired, why, "Renew them, and run the command again. Nothing was changed.")
    } else if has(&["RequestTimeTooSkewed"]) {
        let why = "the clock of this machine differs too much from that of the bucket's server".to_owned();
        (ErrorKind::BucketClock, why, "Set the clock, and run the command again. Nothing was changed.")
    } else if matches!(error, Fault::PermissionDenied { .. } | Fault::Unauthenticated { .. }) || has(&DENIED)
    {
        (ErrorKind::BucketDenied, format!("the bucket denies it: {}", cause(error)), CREDENTIALS)
    } else if has(&["NotImplemented", "501 Not Implemented"]) {
        let why = format!("its server does not know what is asked of it: {}", cause(error));
        let remedy = "Use a server that knows conditional writes, or a store in a folder.";
        (ErrorKind::BucketUnconditional, why, remedy)
    } else if has(&["/latest/api/token", "/latest/meta-data"]) {
        let why = "there are no keys in the environment, and this machine has no role of its own".to_owned();
        let remedy = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_REGION). Profiles in ~/.aws are not read: \
                          `aws configure export-credentials` writes their keys.";
        (ErrorKind::BucketDenied, why, remedy)
    } else if has(&["URL scheme is not allowed", "BadScheme", "https only"]) {
        let why = "its address begins with http://, and only https:// is allowed".to_owned();
        (ErrorKind::BucketFailed, why, "Set AWS_ALLOW_HTTP=true for a server without TLS.")
    } else if let Fault::NotFound { .. } = error {
        return io::Error::new(io::ErrorKind::NotFound, "there is no such object");
    } else if let Some(error) = on_disk(error) {
        return error;
    } else {
        let remedy =
            "Check the network, and AWS_ENDPOINT_URL or the like if the store is not the provider's own.";
        (ErrorKind::BucketFailed, cause(error), remedy)
    };
    Error::io_failure(kind, why, remedy)
}

/// Returns an error of reading or writing for which the user can do nothing but try again.
pub(super) fn explained(why: &str) -> io::Error {
    Error::io_failure(ErrorKind::BucketFailed, why, "Run the command again.")
}

/// Returns the error for a client that can't be made.
pub(super) fn configuration(url: &str, error: &Fault) -> Error {
    Error::usage(ErrorKind::BucketUrl, format!("{url}: {}", cause(error)), CREDENTIALS)
}

/// Returns an error of the disk, with its kind.
fn on_disk(error: &Fault) -> Option<io::Error> {
    let mut below = error.source();
    while let Some(error) = below {
        if let Some(error) = error.downcast_ref::<io::Error>().filter(|error| error.raw_os_error().is_some())
        {
            return error.raw_os_error().map(io::Error::from_raw_os_error);
        }
        below = error.source();
    }
    None
}

/// Returns the texts of an error and of all its causes.
fn texts(error: &Fault) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(error) = below {
        text.push_str(&error.to_string());
        below = error.source();
    }
    text
}

/// Returns why an object store refuses, in its own words: its code and its message, or else the innermost cause.
fn cause(error: &Fault) -> String {
    let text = texts(error);
    let within = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once("</").map(|(inner, _)| inner.to_owned())
    };
    let text = match (within("Code"), within("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code,
        _ => {
            let (mut last, mut below) = (error.to_string(), error.source());
            while let Some(error) = below {
                last = error.to_string();
                below = error.source();
            }
            last
        }
    };
    text.chars().take(LONGEST).collect()
}

/// The error for an object of which it is not known whether it was written.
pub(crate) fn outcome_unknown(error: &Error) -> Error {
    Error::refused(ErrorKind::CommitUnknown, error.to_string(), remedy(error))
}

/// The error for what failed after a change was made, which is worded as in "the run a_t is stored".
pub(crate) fn change_made(change: &str, error: &Error) -> Error {
    Error::refused(
        ErrorKind::ChangeMade,
        format!("{change}, but the other tables or files could not be brought in line with it: {error}"),
        format!("{} Then repair the store. The command need not be run again.", remedy(error)),
    )
}

/// The error for a change of which it is not known whether it was made, which is worded as in "the run a_t may be stored".
pub(crate) fn change_perhaps_made(change: &str, error: &Error) -> Error {
    Error::refused(
        ErrorKind::CommitUnknown,
        format!("{change}, since the answer to its commit was lost, and the bucket can't be asked: {error}"),
        format!(
            "{} Then look at what is stored, and run the command again only if it is needed.",
            remedy(error)
        ),
    )
}

/// The error for a change that was not made.
pub(crate) fn change_not_made(error: Error) -> Error {
    match error.kind() {
        ErrorKind::CommitUnknown => {
            Error::refused(ErrorKind::BucketFailed, error.to_string(), remedy(&error))
        }
        _ => error,
    }
}

fn remedy(error: &Error) -> String {
    error.remedy().unwrap_or_else(|| "Find out what is wrong with the bucket.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(body: &str) -> Fault {
        Fault::Generic { store: "S3", source: body.into() }
    }

    #[test]
    fn answers_of_a_bucket_are_sentences_without_its_secrets() {
        for (body, kind) in [
            ("<Code>NoSuchBucket</Code>", ErrorKind::BucketMissing),
            ("<Code>ExpiredToken</Code>", ErrorKind::BucketExpired),
            ("<Code>RequestTimeTooSkewed</Code>", ErrorKind::BucketClock),
            ("<Code>AccessDenied</Code><Message>no</Message>", ErrorKind::BucketDenied),
            ("<Code>NotImplemented</Code><Message>If-None-Match</Message>", ErrorKind::BucketUnconditional),
            ("error sending request for http://169.254.169.254/latest/api/token", ErrorKind::BucketDenied),
            ("builder error: URL scheme is not allowed", ErrorKind::BucketFailed),
            ("<Code>SlowDown</Code><Message>less</Message><Key>secret</Key>", ErrorKind::BucketFailed),
        ] {
            let error = Error::io(std::path::Path::new("s3://b/x"), io_fault(&fault(body)));
            assert_eq!(error.kind(), kind, "{body}");
            assert!(error.remedy().is_some(), "{body}");
            assert!(!error.to_string().contains("secret") && !error.to_string().contains('<'), "{error}");
        }
    }
}
