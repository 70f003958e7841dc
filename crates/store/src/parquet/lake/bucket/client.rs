//! The URL of a store in a bucket, and the client for it, whose requests are sent by the library that perfpipe uses for all
//! of HTTP.

use std::error::Error as _;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use rustls::crypto::ring;
use tokio::task::spawn_blocking;
use ureq::Agent;
use ureq::http::{Method, Request, request};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::fault::configuration;
use perfpipe_model::error::{Error, ErrorKind, Result};

/// The kinds of URLs, without `://`.
const SCHEMES: [&str; 4] = ["s3", "gs", "az", "file"];

/// A folder in a bucket.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BucketAddress {
    /// Its URL, without a slash at its end.
    pub(super) url: String,
    scheme: &'static str,
    /// Where it is in the bucket, or on the disk.
    pub(super) folder: Path,
}

/// Returns true if a text is the URL of a store in a bucket.
pub(crate) fn is_bucket(text: &str) -> bool {
    scheme_of(text).is_some()
}

fn scheme_of(text: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = SCHEMES.into_iter().find(|known| scheme.eq_ignore_ascii_case(known))?;
    Some((scheme, rest))
}

impl BucketAddress {
    /// # Errors
    /// If it is not the URL of a bucket or of a folder on the disk.
    pub(super) fn parse(url: &str) -> Result<Self> {
        let refused = |problem: &str| {
            let remedy = "Write it as s3://bucket/folder, gs://bucket/folder, az://container/folder or \
                          file:///folder; keys and other options come from the environment.";
            Error::usage(ErrorKind::BucketUrl, format!("{url}: {problem}"), remedy)
        };
        let (scheme, rest) = scheme_of(url).ok_or_else(|| refused("it is not the URL of a bucket"))?;
        let (bucket, folder) = rest.split_once('/').unwrap_or((rest, ""));
        if rest.contains(['?', '#', '@']) {
            return Err(refused("a URL of a bucket has a name and folders, and nothing else"));
        }
        match (scheme, bucket) {
            ("file", "") if !folder.trim_matches('/').is_empty() => {}
            ("file", _) => return Err(refused("it is not the whole path of a folder on this machine")),
            (_, "") => return Err(refused("it names no bucket")),
            _ => {}
        }
        let path = Path::from_url_path(folder).map_err(|error| refused(&error.to_string()))?;
        Ok(Self { url: format!("{scheme}://{}", rest.trim_end_matches('/')), scheme, folder: path })
    }

    /// Returns the path of the folder, if it is on the disk.
    pub(super) fn on_disk(&self) -> Option<PathBuf> {
        (self.scheme == "file").then(|| format!("/{}", self.folder).into())
    }
}

/// Makes the client. `settings` have the names of the environment variables that the object store's own tools know.
pub(super) fn connect(
    address: &BucketAddress,
    settings: &[(String, String)],
) -> Result<Arc<dyn ObjectStore>> {
    // The client finds the bucket's name in the URL.
    macro_rules! client {
        ($builder:ty, $prefix:literal) => {{
            let retry = RetryConfig {
                max_retries: 5,
                retry_timeout: std::time::Duration::from_secs(60),
                ..RetryConfig::default()
            };
            let begun =
                <$builder>::new().with_url(&address.url).with_retry(retry).with_http_connector(HttpClients);
            let known = settings.iter().filter(|(name, _)| name.starts_with($prefix));
            let builder =
                known.fold(begun, |builder, (name, value)| match name.to_ascii_lowercase().parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
            builder.build().map(|client| Arc::new(client) as Arc<dyn ObjectStore>)
        }};
    }
    let client = match address.scheme {
        "s3" => client!(AmazonS3Builder, "AWS_"),
        "gs" => client!(GoogleCloudStorageBuilder, "GOOGLE_"),
        "az" => client!(MicrosoftAzureBuilder, "AZURE_"),
        _ => Ok(Arc::new(LocalFileSystem::new().with_fsync(true)) as Arc<dyn ObjectStore>),
    };
    client.map_err(|error| configuration(&address.url, &error))
}

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may take from the last byte of its request on.
const ANSWER: Duration = Duration::from_secs(60);

/// How long it may take to send the body of a request, or to receive that of an answer.
const BODY: Duration = Duration::from_secs(300);

/// The number of connections that are kept for later requests.
const CONNECTIONS: usize = 32;

/// The size in bytes of the largest answer, unless the request says otherwise by [`SizeLimit`].
const LARGEST: u64 = 32 << 20;

/// The size in bytes of the largest answer to a request, as an extension of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SizeLimit(pub(super) u64);

/// That an answer is larger than was allowed.
#[derive(Debug, thiserror::Error)]
#[error("the answer is larger than {0} bytes")]
struct TooLarge(u64);

/// Returns true if an answer was larger than was allowed.
pub(super) fn is_too_large(error: &object_store::Error) -> bool {
    let mut below = error.source();
    while let Some(error) = below {
        if error.is::<TooLarge>() {
            return true;
        }
        below = error.source();
    }
    false
}

/// Makes clients that send their requests by the library that perfpipe uses for all of HTTP.
#[derive(Debug)]
struct HttpClients;

impl HttpConnector for HttpClients {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let is_plain_allowed =
            options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        let certificates = rustls_native_certs::load_native_certs().certs;
        let roots = certificates.iter().map(|der| Certificate::from_der(der).to_owned()).collect::<Vec<_>>();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(!is_plain_allowed)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_send_body(Some(BODY))
            .timeout_recv_body(Some(BODY))
            .max_idle_connections(CONNECTIONS)
            .max_idle_connections_per_host(CONNECTIONS)
            .tls_config(tls)
            .user_agent(concat!("perfpipe/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(HttpClient::new(AgentClient(config.into())))
    }
}

#[derive(Debug)]
struct AgentClient(Agent);

impl HttpService for AgentClient {
    // As the macro of the trait writes it.
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let agent = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let asked = spawn_blocking(move || ask(&agent, parts, &body)).await;
            asked.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?
        })
    }
}

fn ask(agent: &Agent, parts: request::Parts, body: &[u8]) -> Result<HttpResponse, HttpError> {
    let SizeLimit(most) = parts.extensions.get().copied().unwrap_or(SizeLimit(LARGEST));
    let has_body = matches!(parts.method, Method::POST | Method::PUT | Method::PATCH);
    let answer = match has_body {
        true => agent.run(Request::from_parts(parts, body)),
        false => agent.run(Request::from_parts(parts, ())),
    }
    .map_err(http_error)?;
    let (parts, mut body) = answer.into_parts();
    // One byte more, since a body of just the limit is refused where its length is not known.
    match body.with_config().limit(most.saturating_add(1)).read_to_vec() {
        Ok(body) if body.len() as u64 <= most => Ok(HttpResponse::from_parts(parts, body.into())),
        Ok(_) | Err(ureq::Error::BodyExceedsLimit(_)) => {
            Err(HttpError::new(HttpErrorKind::Unknown, TooLarge(most)))
        }
        Err(error) => Err(http_error(error)),
    }
}

/// Says whether the client may send the request again.
fn http_error(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::Io(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused => HttpErrorKind::Connect,
            std::io::ErrorKind::InvalidData => HttpErrorKind::Unknown,
            _ => HttpErrorKind::Interrupted,
        },
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_bucket_and_a_folder() {
        for (url, shown, folder) in [
            ("s3://bucket/a/b/", "s3://bucket/a/b", "a/b"),
            ("S3://bucket", "s3://bucket", ""),
            ("file:///tmp/x", "file:///tmp/x", "tmp/x"),
            ("az://container/x", "az://container/x", "x"),
        ] {
            let address = BucketAddress::parse(url).unwrap();
            assert_eq!((address.url.as_str(), address.folder.as_ref()), (shown, folder), "{url}");
        }
    }

    #[test]
    fn urls_that_name_no_folder_of_a_bucket_are_refused() {
        for url in
            ["s3://", "s3:///x", "file://host/x", "file:///", "s3://user:key@bucket/x", "s3://b/x?y", "x"]
        {
            assert_eq!(BucketAddress::parse(url).unwrap_err().kind(), ErrorKind::BucketUrl, "{url}");
        }
    }
}
