//! The sources of readings that flags name; its secrets are the environment's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use perfpipe_ingest::IngestOptions;
use perfpipe_ingest::series::{CpuScale, SeriesFile};
use perfpipe_ingest::source::{Access, ReadingsSource, Secret, SeriesSource};

use crate::args::{AskArgs, CpuFromArgs, CpuScaleArg, SeriesArgs};
use crate::error::CliError;
use crate::input::open_plain;

/// The largest file with a secret that is read, in bytes.
const LONGEST: u64 = 64 << 10;

/// Returns the source of CPU readings, if one is named.
///
/// # Errors
/// If its URL can't be used, or a file of secrets or certificates can't be read.
pub(crate) fn source(args: &CpuFromArgs) -> Result<Option<ReadingsSource>> {
    args.cpu_from.as_deref().map(|url| source_of(url, &args.ask)).transpose()
}

/// Returns the source of readings at a URL.
///
/// # Errors
/// If the URL can't be used, or a file of secrets or certificates can't be read.
fn source_of(url: &str, args: &AskArgs) -> Result<ReadingsSource> {
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

/// Returns the scale that the flags describe.
pub(crate) fn cpu_scale(scale: Option<CpuScaleArg>, cores: Option<u32>) -> Result<Option<CpuScale>> {
    let whole = |name: &str| {
        let problem = format!("--cpu-scale {name} needs the number of cores");
        cores.ok_or_else(|| CliError::usage(problem, "Give --cores N, the cores of the server."))
    };
    Ok(match scale {
        None => None,
        Some(CpuScaleArg::PercentOfCore) => Some(CpuScale::PercentOfCore),
        Some(CpuScaleArg::PercentOfMachine) => {
            Some(CpuScale::PercentOfMachine { cores: whole("percent-of-machine")? })
        }
        Some(CpuScaleArg::Fraction) => Some(CpuScale::Fraction { cores: whole("fraction")? }),
    })
}

/// Returns the URL of the proxy to a source, by the usual variables in either case.
fn proxy(source: &ReadingsSource, environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let of = |name: &str| environment(name).or_else(|| environment(&name.to_uppercase()));
    let host = source.host().rsplit_once(':').map_or(source.host(), |(host, _)| host);
    let excluded = |pattern: &str| {
        let bare = pattern.trim().trim_start_matches("*.").trim_start_matches('.');
        pattern.trim() == "*" || !bare.is_empty() && (host == bare || host.ends_with(&format!(".{bare}")))
    };
    if of("no_proxy").is_some_and(|list| list.split(',').any(excluded)) {
        return None;
    }
    let own = if source.is_encrypted() { of("https_proxy") } else { of("http_proxy") };
    own.or_else(|| of("all_proxy"))
}

/// The series that flags name.
#[derive(Default)]
pub(crate) struct SeriesSources {
    pub(crate) files: Vec<SeriesFile>,
    pub(crate) asked: Vec<SeriesSource>,
}

/// Sets the series of an ingest, which also has the source of the CPU readings.
///
/// # Errors
/// As those of [`all_series`]; or if a flag on asking is given, and nothing is asked for.
pub(crate) fn with_series(options: &mut IngestOptions, args: &SeriesArgs, from: &CpuFromArgs) -> Result<()> {
    let SeriesSources { files, asked } = all_series(args, &from.ask)?;
    if from.cpu_from.is_none() && asked.is_empty() {
        refuse_idle_series(&from.ask)?;
    }
    (options.series, options.series_from) = (files, asked);
    Ok(())
}

/// Returns the series in files, each with its unit, where none can be asked for.
///
/// # Errors
/// If a flag lacks the name or the file or names a URL, or if the units are neither one nor one for each series.
pub(crate) fn series_files(args: &SeriesArgs) -> Result<Vec<SeriesFile>> {
    let series = all_series(args, &AskArgs::default())?;
    if series.asked.is_empty() {
        return Ok(series.files);
    }
    let problem = "--series names a URL, and readings beside summaries of load tools come from files";
    Err(CliError::usage(problem, "Give a file: --series NAME=FILE.").into())
}

/// Returns all series, each with its unit. Those that are named with a URL are asked for.
///
/// # Errors
/// If a flag lacks the name, the file or the URL, if a URL can't be used, or if the units are neither
/// one nor one for each of the series.
pub(crate) fn all_series(args: &SeriesArgs, ask: &AskArgs) -> Result<SeriesSources> {
    let count = args.series.len();
    for (flag, given, remedy) in [
        ("--unit", args.unit.len(), "Give one unit for all series, or one for each."),
        ("--series-columns", args.series_columns.len(), "Give the columns once for all series, or for each."),
    ] {
        if given > 1 && given != count {
            let problem = format!("there are {count} --series and {given} {flag}");
            return Err(CliError::usage(problem, remedy).into());
        }
    }
    let columns = args.series_columns.iter().map(Some).cycle().chain(std::iter::repeat(None));
    let mut series = SeriesSources::default();
    for ((given, unit), columns) in args.series.iter().zip(args.unit.iter().cycle()).zip(columns) {
        let unit = unit.trim();
        match given.split_once('=') {
            Some((name, url)) if is_url(url) => {
                series.asked.push(SeriesSource::new(name_of(name)?, unit, source_of(url, ask)?));
            }
            _ => {
                let mut file = series_file(given, unit)?;
                file.columns = columns.cloned();
                series.files.push(file);
            }
        }
    }
    Ok(series)
}

/// Refuses flags on how a monitoring system is asked, where none is.
///
/// # Errors
/// If there is such a flag.
pub(crate) fn refuse_idle_series(ask: &AskArgs) -> Result<()> {
    let given = [("--ca-file", ask.ca_file.is_some()), ("--cpu-timeout", ask.cpu_timeout.is_some())];
    let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let problem = format!("{flag} has no effect, since no monitoring system is asked");
    Err(CliError::usage(problem, "Leave it out, or name one: --cpu-from URL, or --series NAME=URL.").into())
}

/// Returns true if the readings of a series are at a URL, not in a file: a scheme comes before `://`.
fn is_url(text: &str) -> bool {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    text.split_once("://").is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.chars().all(is_of_scheme))
}

/// Returns the name of a series that is asked for. Its URL names the item.
fn name_of(name: &str) -> Result<&str> {
    match name.split_once(':') {
        None => Ok(name),
        Some((bare, item)) => {
            let remedy =
                format!("Leave the number out, and name the item in the URL: {bare}=...?itemid={item}.");
            Err(CliError::usage(format!("--series {name} is asked for, and its URL names the item"), remedy)
                .into())
        }
    }
}

/// Returns the file of a series in a unit, as it is given: `NAME=FILE` or `NAME:ID=FILE`.
fn series_file(given: &str, unit: &str) -> Result<SeriesFile> {
    let refuse = |problem: String| {
        let remedy = "Write NAME=FILE, as in --series memory=memory.csv, or NAME:ID=FILE for one of several Zabbix items; ingest, inspect and attach-series also read NAME=URL.";
        Err(CliError::usage(problem, remedy).into())
    };
    let Some((name, file)) = given.split_once('=').filter(|(_, file)| !file.is_empty()) else {
        return refuse(format!("--series {given} is not a name and a file"));
    };
    let Some((name, item)) = name.split_once(':') else { return Ok(SeriesFile::new(name, unit, file)) };
    match item.parse() {
        Ok(item) => Ok(SeriesFile::new(name, unit, file).with_item(item)),
        Err(_) => refuse(format!("--series {given}: {item:?} is not the number of an item")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_is_that_of_the_scheme_unless_the_host_is_excluded() {
        let of = |url: &str, set: &[(&str, &str)]| {
            let find =
                |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
            proxy(&url.parse().unwrap(), &find)
        };
        let (plain, secure) = ("prometheus+http://mon.lan:9090?query=a", "zabbix+https://mon.lan?itemid=1");
        let set = [("http_proxy", "http://a"), ("HTTPS_PROXY", "http://b")];
        assert_eq!(
            (of(plain, &set).as_deref(), of(secure, &set).as_deref()),
            (Some("http://a"), Some("http://b"))
        );
        assert_eq!(of(secure, &[("all_proxy", "http://c")]).as_deref(), Some("http://c"));
        for list in ["*", "mon.lan", "x,.lan", "*.lan"] {
            assert_eq!(of(plain, &[("http_proxy", "http://a"), ("no_proxy", list)]), None, "{list}");
        }
        assert!(of(plain, &[("http_proxy", "http://a"), ("no_proxy", "on.lan")]).is_some());
    }
}
