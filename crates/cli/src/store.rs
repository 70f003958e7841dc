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
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let url = match (&args.store, &args.database) {
        (Some(folder), _) => return Ok(Store::folder(folder_of(folder)?)?),
        (None, Some(url)) => url.clone(),
        (None, None) => match environment(DATABASE) {
            Some(url) => url,
            None => return Ok(Store::folder(PathBuf::from(FOLDER))?),
        },
    };
    let config = PostgresConfig::resolve(&url, &environment)?;
    config.notes().iter().for_each(|text| note(text));
    Ok(Store::database(config).await?)
}

/// The folder, unless it is the URL of a database.
fn folder_of(folder: &Path) -> Result<PathBuf> {
    let text = folder.to_string_lossy();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Err(Error::usage(
            "--store names a folder, and was given a database's URL",
            "Write --database URL.",
        )
        .into());
    }
    Ok(folder.to_owned())
}
