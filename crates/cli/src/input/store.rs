//! The selected store: by flags first, then by the environment, otherwise a folder in the current one.

use std::path::Path;

use anyhow::Result;
use perfpipe_ingest::Store;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::store::postgres::PostgresConfig;

use crate::args::StoreArgs;
use crate::error::CliError;
use crate::output::target::folder_of;
use crate::output::warn;

/// The default folder of the store.
const FOLDER: &str = "perfpipe-data";

/// The environment variable that names a database. A plain `DATABASE_URL` may be another project's.
const DATABASE: &str = "PERFPIPE_DATABASE_URL";

/// The largest number of stores suggested in the error on a missing one.
const NAMED: usize = 5;

/// Opens the selected store, which need not exist yet.
pub(crate) async fn open(args: &StoreArgs) -> Result<Store> {
    match of_database(args) {
        Some(url) => database(&url).await,
        None => folder(of_folder(args)),
    }
}

/// Opens the selected store for reading; it must exist.
pub(crate) async fn existing(args: &StoreArgs) -> Result<Store> {
    match of_database(args) {
        Some(url) => database(&url).await,
        None => existing_folder(of_folder(args)),
    }
}

fn of_folder(args: &StoreArgs) -> &Path {
    args.store.as_deref().unwrap_or(Path::new(FOLDER))
}

/// Returns the URL of the database, if the store is one.
fn of_database(args: &StoreArgs) -> Option<String> {
    match (&args.store, &args.database) {
        (Some(_), _) => None,
        (None, Some(url)) => Some(url.clone()),
        (None, None) => environment(DATABASE),
    }
}

/// Returns an environment variable, unless it is empty.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Opens the store in a database; the environment supplies what the URL omits.
pub(crate) async fn database(url: &str) -> Result<Store> {
    let config = PostgresConfig::resolve(url, &environment)?;
    config.notes().iter().for_each(|text| warn(text));
    Ok(Store::database(config).await?)
}

/// Opens the store in a folder, which need not exist yet.
pub(crate) fn folder(path: &Path) -> Result<Store> {
    refuse_url(path)?;
    Ok(Store::folder(path.to_owned())?)
}

/// Opens the store in a folder, which must exist.
pub(crate) fn existing_folder(path: &Path) -> Result<Store> {
    refuse_url(path)?;
    let store = ParquetStore::open(path)?;
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

/// Refuses a URL, which could also be a valid path of a folder.
fn refuse_url(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let Some((scheme, rest)) = text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return Ok(());
    };
    let (problem, remedy) = match scheme.to_ascii_lowercase().as_str() {
        "postgres" | "postgresql" => {
            ("expected a folder, found the URL of a database".to_owned(), "Write --database URL.".to_owned())
        }
        "file" => (
            format!("a store in a folder is named by its path, not by a URL: {text}"),
            format!("Write --store {rest}."),
        ),
        _ => (
            format!("perfpipe has no stores of the kind {scheme}://: {text}"),
            "A store is a folder (--store DIR) or a Postgres database (--database postgres://user@host/name)."
                .to_owned(),
        ),
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
    fn urls_are_told_from_paths() {
        for url in ["s3://bucket/x", "S3://x", "gs://", "file:///x", "postgres://h/d", "git+ssh://x"] {
            assert!(refuse_url(Path::new(url)).is_err(), "{url}");
        }
        for path in ["perfpipe-data", "./s3://x", "C://x", "a/b://c", "://x", "1x://y", ""] {
            assert!(refuse_url(Path::new(path)).is_ok(), "{path}");
        }
    }
}
