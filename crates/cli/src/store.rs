//! Which store is meant: flags first, then the environment, then the folder in the current one.

use std::path::{Path, PathBuf};

use anyhow::Result;
use perfpipe_ingest::Error;
use perfpipe_ingest::store::{PostgresConfig, Store};

use crate::args::StoreArgs;
use crate::output::note;

/// The folder that runs go to where nothing else is said.
const FOLDER: &str = "perfpipe-data";

/// The variable that names a database. A plain `DATABASE_URL` is some other project's.
const DATABASE: &str = "PERFPIPE_DATABASE_URL";

/// Opens the store that the flags and the environment name.
pub(crate) async fn open(args: &StoreArgs) -> Result<Store> {
    let url = match (&args.store, &args.database) {
        (Some(path), _) => return folder(path),
        (None, Some(url)) => url.clone(),
        (None, None) => match environment(DATABASE) {
            Some(url) => url,
            None => return Ok(Store::folder(PathBuf::from(FOLDER))?),
        },
    };
    database(&url).await
}

/// A variable of the environment, unless it is empty.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The store in a database; the environment fills in what its URL leaves out.
pub(crate) async fn database(url: &str) -> Result<Store> {
    let config = PostgresConfig::resolve(url, &environment)?;
    config.notes().iter().for_each(|text| note(text));
    Ok(Store::database(config).await?)
}

/// The store in a folder.
pub(crate) fn folder(path: &Path) -> Result<Store> {
    let text = path.to_string_lossy();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Err(Error::usage(
            "a folder was to be named, and this is a database's URL",
            "Write --database URL.",
        )
        .into());
    }
    Ok(Store::folder(path.to_owned())?)
}
