//! The sources of readings that flags name; its secrets are the environment's.

mod proxy;
pub(crate) mod series;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use perfpipe_ingest::source::{Access, ReadingsSource, Secret};

use self::proxy::proxy;
use crate::args::{AskArgs, CpuFromArgs};
use crate::error::CliError;

/// The largest file with a secret that is read, in bytes.
const LONGEST: u64 = 64 << 10;

/// Returns the source of CPU readings, if one is named.
///
/// # Errors
/// If its URL can't be used, or a file of secrets or certificates can't be read.
pub(crate) fn source(args: &CpuFromArgs) -> Result<Option<ReadingsSource>> {
    args.cpu_from.as_deref().map(|url| of(url, &args.ask)).transpose()
}

/// Returns the source of readings at a URL.
///
/// # Errors
/// If the URL can't be used, or a file of secrets or certificates can't be read.
pub(crate) fn of(url: &str, args: &AskArgs) -> Result<ReadingsSource> {
    let source: ReadingsSource = url.parse()?;
    let mut access = Access::default();
    access.timeout = args.cpu_timeout.map_or(access.timeout, |seconds| Duration::from_secs(seconds.into()));
    if source.is_database() {
        access.environment = settings(args.ca_file.as_deref());
        return Ok(source.with_access(access));
    }
    let system = if source.is_zabbix() { "ZABBIX" } else { "PROMETHEUS" };
    access.token = secret(&format!("PERFPIPE_{system}_TOKEN"))?;
    let password = secret(&format!("PERFPIPE_{system}_PASSWORD"))?;
    access.login = environment(&format!("PERFPIPE_{system}_USER")).zip(password);
    access.proxy = proxy(&source, &environment).map(Secret::new);
    if let Some(file) = &args.ca_file {
        access.authorities = read(file)?;
    }
    Ok(source.with_access(access))
}

/// Returns the variables that complete the URL of a database. A file of authorities is what `PGSSLROOTCERT` would name.
fn settings(authorities: Option<&Path>) -> BTreeMap<String, Secret> {
    let own = |name: &str| name.starts_with("PG") || ["HOME", "USER", "LOGNAME", "USERNAME"].contains(&name);
    let found = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let mut found: BTreeMap<String, Secret> = found
        .filter(|(name, _)| own(name))
        .filter_map(|(name, value)| Some((name, Secret::new(value.into_string().ok()?))))
        .collect();
    if let Some(file) = authorities {
        found.insert("PGSSLROOTCERT".to_owned(), Secret::new(file.to_string_lossy()));
    }
    found
}

/// Returns an environment variable, unless it is empty.
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns a secret: an environment variable, or what the file holds that `NAME_FILE` names.
fn secret(name: &str) -> Result<Option<Secret>> {
    let file = environment(&format!("{name}_FILE")).map(PathBuf::from);
    match (environment(name), file) {
        (Some(_), Some(_)) => {
            Err(CliError::usage(format!("{name} and {name}_FILE are both set"), "Unset one of them.").into())
        }
        (Some(text), None) => Ok(Some(Secret::new(text))),
        (None, Some(file)) => {
            let text = String::from_utf8_lossy(&read(&file)?).trim().to_owned();
            Ok(Some(text).filter(|text| !text.is_empty()).map(Secret::new))
        }
        (None, None) => Ok(None),
    }
}

fn read(file: &Path) -> Result<Vec<u8>> {
    use std::io::Read as _;

    let failed = |error: std::io::Error| {
        CliError::usage(format!("{}: {error}", file.display()), "Check its name, and who may read it.")
    };
    let mut text = Vec::new();
    let file = std::fs::File::open(file).map_err(failed)?;
    // A bundle of all public authorities is larger than any secret.
    file.take(LONGEST * 16).read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}
