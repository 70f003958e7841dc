//! The selected store: by flags first, then by the environment, otherwise a folder in the current one.

use std::path::{Path, PathBuf};

use anyhow::Result;
use perfpipe_ingest::Store;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::store::postgres::PostgresConfig;

use crate::args::{SendArgs, StoreArgs};
use crate::error::CliError;
use crate::output::target::folder_of;
use crate::output::warn;

/// The default folder of the store.
const FOLDER: &str = "perfpipe-data";

/// The environment variable that names a database. A plain `DATABASE_URL` may be another project's.
const DATABASE: &str = "PERFPIPE_DATABASE_URL";

/// The environment variable that names a folder.
const STORE: &str = "PERFPIPE_STORE";

/// How the environment variables begin that configure access to buckets.
const BUCKETS: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// The largest number of stores suggested in the error on a missing one.
const NAMED: usize = 5;

/// A flag that names a folder or a bucket, and the one that names a database in its place, if there is one.
pub(crate) struct FolderFlag(pub(crate) &'static str, pub(crate) Option<&'static str>);

const STORE_FLAG: &FolderFlag = &FolderFlag("--store", Some("--database"));

/// The flag of the store with the runs that others are compared with.
pub(crate) const BASELINE_FLAG: &FolderFlag = &FolderFlag("--baseline-store", None);

/// Opens the selected store, which need not exist yet.
pub(crate) async fn open(args: &StoreArgs) -> Result<Store> {
    match chosen(args)? {
        ChosenStore::Database(url) => database(&url).await,
        ChosenStore::Folder(path) => folder(&path, STORE_FLAG),
    }
}

/// Opens the selected store as [`open`] does, with what is said of the samples that are sent to a database.
pub(crate) async fn open_with(args: &StoreArgs, sent: &SendArgs) -> Result<Store> {
    match (chosen(args)?, sent.placement()) {
        (ChosenStore::Database(url), placement) => {
            let config = config(&url)?;
            let config = sent.connections.into_iter().fold(config, PostgresConfig::with_connections);
            let config =
                placement.into_iter().fold(config, |config, (place, _)| config.with_placement(place));
            let store = Store::database(config).await?;
            store.check_placement().await?;
            if sent.connections.is_some_and(|several| several > 1) && store.is_cluster().await? {
                warn(
                    "--connections changes nothing: a Citus cluster takes the samples of a run on one connection",
                );
            }
            Ok(store)
        }
        (ChosenStore::Folder(path), None) => folder(&path, STORE_FLAG),
        (ChosenStore::Folder(path), Some((_, flag))) => Err(CliError::usage(
            format!("{flag} is for a Citus cluster, and the store is at {}", path.display()),
            "Name the cluster's coordinator with --database, or leave it out.",
        )
        .into()),
    }
}

/// Opens the selected store for reading; it must exist.
pub(crate) async fn existing(args: &StoreArgs) -> Result<Store> {
    match chosen(args)? {
        ChosenStore::Database(url) => database(&url).await,
        ChosenStore::Folder(path) => existing_folder(&path, STORE_FLAG),
    }
}

/// A store that was chosen, and is not opened yet.
#[derive(Debug, PartialEq, Eq)]
enum ChosenStore {
    /// The folder at this path.
    Folder(PathBuf),
    /// The database at this URL.
    Database(String),
}

/// Returns the store that the flags name, otherwise the environment, otherwise the default folder.
fn chosen(args: &StoreArgs) -> Result<ChosenStore> {
    match (&args.store, &args.database) {
        (Some(path), _) => Ok(ChosenStore::Folder(path.clone())),
        (None, Some(url)) => Ok(ChosenStore::Database(url.clone())),
        (None, None) => by_environment(environment(STORE), environment(DATABASE)),
    }
}

/// Returns the store that the environment names, otherwise the default folder.
///
/// # Errors
/// If it names two.
fn by_environment(folder: Option<String>, database: Option<String>) -> Result<ChosenStore> {
    match (folder, database) {
        (Some(_), Some(_)) => Err(CliError::usage(
            format!("{STORE} and {DATABASE} are both set, and each names another store"),
            "Unset one of them, or name the store with --store or --database.",
        )
        .into()),
        (Some(folder), None) => Ok(ChosenStore::Folder(folder.into())),
        (None, Some(url)) => Ok(ChosenStore::Database(url)),
        (None, None) => Ok(ChosenStore::Folder(FOLDER.into())),
    }
}

/// Returns an environment variable, unless it is empty.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Opens the store in a database; the environment supplies what the URL omits.
pub(crate) async fn database(url: &str) -> Result<Store> {
    Ok(Store::database(config(url)?).await?)
}

/// Resolves the URL of a database, and prints the notes on it.
fn config(url: &str) -> Result<PostgresConfig> {
    let config = PostgresConfig::resolve(url, &environment)?;
    config.notes().iter().for_each(|text| warn(text));
    Ok(config)
}

/// Opens the store in a folder or a bucket, which a flag names and which need not exist yet.
pub(crate) fn folder(path: &Path, flag: &FolderFlag) -> Result<Store> {
    Ok(Store::from(opened(path, flag)?))
}

fn opened(path: &Path, flag: &FolderFlag) -> Result<ParquetStore> {
    if let Some(url) = path.to_str().filter(|text| ParquetStore::is_bucket(text)) {
        return Ok(ParquetStore::open_bucket(url, &bucket_settings())?);
    }
    refuse_url(path, flag)?;
    refuse_lake(path)?;
    Ok(ParquetStore::open(path)?)
}

/// Refuses the plain path of a store that has the form of one in a bucket.
fn refuse_lake(path: &Path) -> Result<()> {
    if !path.join("runs/_delta_log").is_dir() {
        return Ok(());
    }
    let problem = format!("{} has tables of Delta Lake, and is opened by its URL", path.display());
    let url = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Err(CliError::usage(problem, format!("Name it as file://{}.", url.display())).into())
}

/// Returns what the environment says of buckets: keys, regions, addresses of servers.
fn bucket_settings() -> Vec<(String, String)> {
    let variables = std::env::vars_os();
    let texts =
        variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts.filter(|(name, _)| BUCKETS.iter().any(|prefix| name.starts_with(prefix))).collect()
}

/// Opens the store in a folder or a bucket, which a flag names and which must exist.
pub(crate) fn existing_folder(path: &Path, flag: &FolderFlag) -> Result<Store> {
    let store = opened(path, flag)?;
    if store.is_there() {
        return Ok(Store::from(store));
    }
    let remedy = match beside(path).as_slice() {
        [] => "Store a run with `perfpipe ingest run.zip cpu.csv`, or name another store.".to_owned(),
        [only] => format!("Did you mean {only}?"),
        several => format!("Did you mean one of these: {}?", several.join(", ")),
    };
    Err(CliError::refused(format!("there is no store at {}", path.display()), remedy).into())
}

/// Returns the stores in the same parent folder.
fn beside(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder_of(path)).into_iter().flatten().flatten();
    let is_store = |path: &Path| ParquetStore::open(path).is_ok_and(|store| store.is_there());
    let stores = entries.map(|entry| folder_of(path).join(entry.file_name())).filter(|path| is_store(path));
    let name = |path: &Path| path.strip_prefix(".").unwrap_or(path).display().to_string();
    let mut names: Vec<String> = stores.map(|path| name(&path)).collect();
    names.sort();
    names.truncate(NAMED);
    names
}

/// Refuses a URL of another kind, which could also be a valid path of a folder. It may have a password, and is not printed.
fn refuse_url(path: &Path, FolderFlag(flag, database): &FolderFlag) -> Result<()> {
    let text = path.to_string_lossy();
    let url = text.split_once(":/").filter(|(scheme, _)| is_scheme(scheme));
    let Some((scheme, rest)) = url else { return Ok(()) };
    let scheme = scheme.to_ascii_lowercase();
    let places = format!("a folder ({flag} DIR) or a bucket ({flag} s3://bucket/folder, gs:// or az://)");
    let (problem, remedy) = match (scheme.as_str(), rest.starts_with('/')) {
        ("postgres" | "postgresql", true) => {
            let remedy = match database {
                Some(database) => format!("Write {database} URL."),
                None => format!("It has to be {places}: `perfpipe copy` copies runs there."),
            };
            (format!("{flag}: expected a folder or a bucket, found the URL of a database"), remedy)
        }
        (_, true) => {
            let database =
                database.map(|flag| format!(", or a Postgres database ({flag} postgres://user@host/name)"));
            let remedy = format!("A store is {places}{}.", database.unwrap_or_default());
            (format!("{flag}: perfpipe has no stores of the kind {scheme}://"), remedy)
        }
        ("s3" | "gs" | "az" | "file", false) => (
            format!("{flag}: a URL begins with {scheme}://, found {scheme}:/"),
            "Write both slashes.".to_owned(),
        ),
        _ => return Ok(()),
    };
    Err(CliError::usage(problem, remedy).into())
}

/// Returns true if a text is the scheme of a URL; a single letter is a drive.
fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_name_the_store_before_the_environment_does() {
        let flags = |store: Option<&str>, database: Option<&str>| StoreArgs {
            store: store.map(PathBuf::from),
            database: database.map(str::to_owned),
        };
        assert_eq!(chosen(&flags(Some("a"), None)).unwrap(), ChosenStore::Folder("a".into()));
        assert_eq!(chosen(&flags(None, Some("url"))).unwrap(), ChosenStore::Database("url".into()));
        let of = |folder: Option<&str>, database: Option<&str>| {
            by_environment(folder.map(str::to_owned), database.map(str::to_owned))
        };
        assert_eq!(of(Some("b"), None).unwrap(), ChosenStore::Folder("b".into()));
        assert_eq!(of(None, Some("url")).unwrap(), ChosenStore::Database("url".into()));
        assert_eq!(of(None, None).unwrap(), ChosenStore::Folder(FOLDER.into()));
        assert!(of(Some("b"), Some("url")).unwrap_err().to_string().contains("both set"));
    }

    #[test]
    fn urls_are_told_from_paths() {
        for url in [
            "s3:/bucket",
            "file:/x",
            "hdfs://bucket/x",
            "HTTPS://x",
            "ftp://",
            "postgres://h/d",
            "git+ssh://x",
        ] {
            assert!(refuse_url(Path::new(url), STORE_FLAG).is_err(), "{url}");
        }
        for path in ["perfpipe-data", "./s3://x", "C://x", "a/b://c", "://x", "1x://y", "", "a:/b"] {
            assert!(refuse_url(Path::new(path), STORE_FLAG).is_ok(), "{path}");
        }
    }
}
