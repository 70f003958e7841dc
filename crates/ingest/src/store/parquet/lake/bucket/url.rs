//! The URL of a store in a bucket, and the client for it.

use std::path::PathBuf;
use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, RetryConfig};

use super::fault::configuration;
use super::http::HttpClients;
use crate::error::{Error, ErrorKind, Result};

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
pub(in crate::store::parquet) fn is_bucket(text: &str) -> bool {
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
