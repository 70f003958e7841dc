//! The sources of readings that flags name; its secrets are the environment's.

pub(crate) mod cpu_scale;
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
use crate::input::open_plain;

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
    access.login = environment(&format!("PERFPIPE_{system}_USER"))?.zip(password);
    access.proxy =
        proxy(&source, &|name| std::env::var(name).ok().filter(|value| !value.is_empty())).map(Secret::new);
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
///
/// # Errors
/// If it is not UTF-8, or has line ends or other control characters.
fn environment(name: &str) -> Result<Option<String>> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    match value.into_string() {
        Ok(text) if !text.chars().any(char::is_control) => Ok(Some(text)),
        _ => Err(unusable(name, "is not a line of text")),
    }
}

/// The refusal of a variable. Its value is never shown.
fn unusable(name: &str, problem: &str) -> anyhow::Error {
    let remedy = "Set it to the secret alone, without a line end: printf %s SECRET, rather than echo.";
    CliError::usage(format!("what {name} says {problem}"), remedy).into()
}

/// Returns a secret: an environment variable, or what the file holds that `NAME_FILE` names.
fn secret(name: &str) -> Result<Option<Secret>> {
    let named = format!("{name}_FILE");
    let (source, text) = match (environment(name)?, environment(&named)?.map(PathBuf::from)) {
        (Some(_), Some(_)) => {
            let problem = format!("{name} and {named} are both set");
            return Err(CliError::usage(problem, "Unset one of them.").into());
        }
        (Some(text), None) => (name, text),
        (None, Some(file)) => {
            let text = String::from_utf8(read(&file)?).ok().map(|text| text.trim().to_owned());
            let text = text.filter(|text| !text.chars().any(char::is_control));
            (named.as_str(), text.ok_or_else(|| unusable(&named, "is not a line of text"))?)
        }
        (None, None) => return Ok(None),
    };
    if name.ends_with("_TOKEN") && !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unusable(source, "is no token: it has a space, or a letter that is not ASCII"));
    }
    Ok(Some(text).filter(|text| !text.is_empty()).map(Secret::new))
}

fn read(file: &Path) -> Result<Vec<u8>> {
    use std::io::Read as _;

    let failed = |error: std::io::Error| {
        CliError::usage(format!("{}: {error}", file.display()), "Check its name, and who may read it.")
    };
    let mut text = Vec::new();
    let file = open_plain(file).map_err(failed)?;
    // A bundle of all public authorities is larger than any secret.
    file.take(LONGEST * 16).read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}
