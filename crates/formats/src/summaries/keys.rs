//! The keys of points: from the sections of files, else from the files' names, else as given.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;

use super::walk::FoundSection;
use crate::work_count;
use perfpipe_model::points::{Point, PointKey};
use perfpipe_model::run::infer::Frameworks;
use perfpipe_model::run::key::LAST_REPEAT;

/// What is given for the keys of points, in addition to sections and files' names.
#[derive(Debug, Clone, Default)]
pub struct PointNames {
    /// The framework of all points.
    pub framework: Option<String>,
    /// The test of all points; otherwise the path of each URL.
    pub test: Option<String>,
    /// The concurrency of points whose sections and files do not have it.
    pub concurrency: Option<u32>,
    /// The number of workers of points whose files' names do not have it.
    pub workers: Option<u32>,
    /// The number of the first repeat; by default 1.
    pub repeat: Option<u32>,
    /// How files are named.
    pub pattern: Option<NamePattern>,
    /// Frameworks by the port of the URL.
    pub frameworks: Frameworks,
}

/// Why a section is no point: what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// Its framework: there is no URL, and none was given.
    Framework,
    /// Its test: there is no URL, and none was given.
    Test,
    /// The file's name does not follow the given pattern.
    Name,
    /// Its repeat is the same as that of another section of the file.
    Repeat,
    /// It would be a repeat of a section of another folder, and nothing that was given says that both are of one framework:
    /// their URLs are the same.
    Folder,
}

/// Names the sections of files, given with the files' names. Sections of equal keys are repeats, in their order.
///
/// # Errors
/// The number of the file and of the section, both from 0, whose key is not known, and what of it.
pub fn named_points<S: AsRef<[FoundSection]>>(
    files: &[(String, S)],
    names: &PointNames,
) -> Result<Vec<Point>, (usize, usize, Unknown)> {
    let mut repeats: BTreeMap<PointKey, u32> = BTreeMap::new();
    let mut points: Vec<Point> = Vec::new();
    let mut used: BTreeSet<PointKey> = BTreeSet::new();
    let mut folders: BTreeMap<PointKey, &str> = BTreeMap::new();
    for (file_at, (file, sections)) in files.iter().enumerate() {
        let parts = match &names.pattern {
            Some(pattern) => pattern.read(file).ok_or((file_at, 0, Unknown::Name))?,
            None => NamedParts::default(),
        };
        let sections = sections.as_ref();
        let shared = CommonKey::by_tool(sections);
        for (at, section) in sections.iter().enumerate() {
            work_count::count(1);
            let reported = completed(section, &shared);
            let key = key_of(&reported, &parts, names).map_err(|unknown| (file_at, at, unknown))?;
            let by_url = names.framework.is_none() && parts.framework.is_none() && parts.repeat.is_none();
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            if by_url && *folders.entry(key.clone()).or_insert(folder) != folder {
                return Err((file_at, at, Unknown::Folder));
            }
            let key = match parts.repeat {
                Some(repeat) => key.with_repeat(repeat),
                None => {
                    let before = repeats
                        .entry(key.clone())
                        .or_insert_with(|| names.repeat.unwrap_or(1).saturating_sub(1));
                    *before = before.saturating_add(1).min(LAST_REPEAT);
                    let repeat = *before;
                    key.with_repeat(repeat)
                }
            };
            if !used.insert(key.clone()) {
                return Err((file_at, at, Unknown::Repeat));
            }
            points.push(Point::new(key, section.figures.clone()));
        }
    }
    Ok(points)
}

/// The parts of a key that a section reports.
struct ReportedKey<'a> {
    tool: &'a str,
    concurrency: Option<u32>,
    url: Option<&'a str>,
}

/// The values on which the sections of a tool in a file agree.
#[derive(Clone, Copy, Default)]
struct CommonKey<'a> {
    concurrency: CommonValue<u32>,
    url: CommonValue<&'a str>,
}

/// A value on which all that have one agree.
#[derive(Clone, Copy, Default)]
enum CommonValue<T> {
    #[default]
    Absent,
    One(T),
    Differing,
}

impl<T: Copy + PartialEq> CommonValue<T> {
    fn add(&mut self, reported: Option<T>) {
        *self = match (*self, reported) {
            (Self::Absent, Some(reported)) => Self::One(reported),
            (Self::One(known), Some(reported)) if known != reported => Self::Differing,
            (known, _) => known,
        };
    }

    fn value(self) -> Option<T> {
        if let Self::One(value) = self { Some(value) } else { None }
    }
}

impl<'a> CommonKey<'a> {
    fn by_tool(sections: &'a [FoundSection]) -> BTreeMap<&'a str, Self> {
        let mut all: BTreeMap<&str, Self> = BTreeMap::new();
        for section in sections {
            let shared = all.entry(section.tool).or_default();
            shared.concurrency.add(section.concurrency);
            shared.url.add(section.url.as_deref());
        }
        all
    }
}

/// A section that was aborted may have neither its URL nor its concurrency. It gets those of the file's other sections of
/// the tool, if these agree.
fn completed<'a>(section: &'a FoundSection, shared: &BTreeMap<&'a str, CommonKey<'a>>) -> ReportedKey<'a> {
    let reported =
        ReportedKey { tool: section.tool, concurrency: section.concurrency, url: section.url.as_deref() };
    let shared = shared.get(section.tool).filter(|_| section.figures.aborted.is_some());
    let CommonKey { concurrency, url } = shared.copied().unwrap_or_default();
    ReportedKey {
        concurrency: reported.concurrency.or(concurrency.value()),
        url: reported.url.or(url.value()),
        ..reported
    }
}

fn key_of(reported: &ReportedKey<'_>, parts: &NamedParts, names: &PointNames) -> Result<PointKey, Unknown> {
    let url = reported.url.and_then(UrlParts::read);
    let port = url.as_ref().and_then(|url| url.port).or(parts.port);
    let framework = [
        names.framework.clone(),
        parts.framework.clone(),
        port.and_then(|port| names.frameworks.on_port(port)).map(str::to_owned),
        url.as_ref().map(|url| url.host.to_owned()),
    ];
    let test = [names.test.clone(), parts.test.clone(), url.map(|url| url.path.to_owned())];
    Ok(PointKey {
        tool: parts.tool.clone().unwrap_or_else(|| reported.tool.to_owned()),
        framework: framework.into_iter().flatten().next().ok_or(Unknown::Framework)?,
        test: test.into_iter().flatten().next().ok_or(Unknown::Test)?,
        concurrency: reported.concurrency.or(parts.concurrency).or(names.concurrency),
        workers: parts.workers.or(names.workers),
        repeat: 1,
    })
}

/// The parts of a URL that keys are made of.
struct UrlParts<'a> {
    /// Host and port.
    host: &'a str,
    port: Option<u16>,
    /// Path and query.
    path: &'a str,
}

impl<'a> UrlParts<'a> {
    fn read(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, path) = rest.split_at_checked(end)?;
        // Users and passwords are no part of a key.
        let host = host.rsplit('@').next()?;
        let path = path.split('#').next().filter(|path| !path.is_empty()).unwrap_or("/");
        let reported = host.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let port = reported.or(match scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self { host, port, path }).filter(|url| !url.host.is_empty())
    }
}

/// The fields that a pattern may have; all others are ignored.
const FIELDS: [&str; 7] = ["framework", "test", "concurrency", "workers", "repeat", "tool", "port"];

/// The fields that are numbers.
const NUMBERS: [&str; 4] = ["concurrency", "workers", "repeat", "port"];

/// How files are named, as in `result_w{workers}_{repeat}.log`, or with the folders that they are in, as in
/// `{framework}/{test}/raw.txt`: as many as the pattern has slashes.
///
/// The fields are `{framework}`, `{test}`, `{concurrency}`, `{workers}`, `{repeat}`, `{tool}` and `{port}`. Any other
/// one, such as `{*}`, matches any text.
///
/// ```
/// # mod perfpipe_ingest { pub mod points { pub use perfpipe_formats::summaries::keys::NamePattern; } }
/// use perfpipe_ingest::points::NamePattern;
///
/// let pattern = NamePattern::new("result_w{workers}_{repeat}.log")?;
/// let parts = pattern.read("result_w8_3.log").ok_or("no match")?;
/// assert_eq!((parts.workers, parts.repeat, parts.test), (Some(8), Some(3), None));
/// assert!(pattern.read("bigbox_w8.txt").is_none());
/// let tree = NamePattern::new("{framework}/{test}/raw.txt")?;
/// let parts = tree.read("/runs/go/json/raw.txt").ok_or("no match")?;
/// assert_eq!((parts.framework.as_deref(), parts.test.as_deref()), (Some("go"), Some("json")));
/// assert!(NamePattern::new("w{workers}_{workers}").is_err(), "a field is one part");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct NamePattern {
    regex: Regex,
    /// The number of folders before the file's name.
    folders: usize,
}

/// The parts of a key that a file's name has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedParts {
    /// The framework.
    pub framework: Option<String>,
    /// The test.
    pub test: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The concurrency.
    pub concurrency: Option<u32>,
    /// The number of workers.
    pub workers: Option<u32>,
    /// The repeat.
    pub repeat: Option<u32>,
    /// The port, which may name the framework.
    pub port: Option<u16>,
}

impl NamePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If a brace is not closed, a field occurs twice, or there is no field. The error is a clause that says so.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let (mut regex, mut rest, mut seen) = (String::from("^"), pattern, Vec::new());
        while let Some((before, after)) = rest.split_once('{') {
            let (field, tail) = after
                .split_once('}')
                .ok_or_else(|| format!("\"{pattern}\" has a brace that is not closed"))?;
            regex.push_str(&regex_lite::escape(before));
            if seen.contains(&field) {
                return Err(format!("\"{pattern}\" has the field {{{field}}} twice"));
            }
            match (FIELDS.contains(&field), NUMBERS.contains(&field)) {
                (true, true) => regex.push_str(&format!("(?P<{field}>[0-9]+)")),
                (true, false) => regex.push_str(&format!("(?P<{field}>[^/]+?)")),
                _ => regex.push_str("[^/]*?"),
            }
            if FIELDS.contains(&field) {
                seen.push(field);
            }
            rest = tail;
        }
        if seen.is_empty() {
            return Err(format!("\"{pattern}\" has none of the fields {{{}}}", FIELDS.join("}, {")));
        }
        regex.push_str(&regex_lite::escape(rest));
        regex.push('$');
        let regex = Regex::new(&regex).map_err(|problem| format!("\"{pattern}\": {problem}"))?;
        Ok(Self { regex, folders: pattern.matches('/').count() })
    }

    /// The parts that a file's path has, of which the last ones count; `None` if it does not follow the pattern, or a number
    /// does not fit.
    pub fn read(&self, path: &str) -> Option<NamedParts> {
        let begin = path.rmatch_indices('/').nth(self.folders).map_or(0, |(slash, _)| slash + 1);
        let found = self.regex.captures(path.get(begin..)?)?;
        let text = |field: &str| found.name(field).map(|part| part.as_str());
        let number = |field: &str| text(field).map(str::parse::<u32>).transpose().ok();
        Some(NamedParts {
            framework: text("framework").map(str::to_owned),
            test: text("test").map(str::to_owned),
            tool: text("tool").map(str::to_owned),
            concurrency: number("concurrency")?,
            workers: number("workers")?,
            repeat: number("repeat")?.filter(|repeat| *repeat > 0),
            port: text("port").map(str::parse).transpose().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summaries::fixtures::read;

    fn files(names: &[&str]) -> Vec<(String, Vec<FoundSection>)> {
        let file = |name: &&str| (name.rsplit('/').next().unwrap().to_owned(), read(name).sections);
        names.iter().map(file).collect()
    }

    #[test]
    fn names_of_files_tell_workers_and_repeats() {
        let names = PointNames {
            framework: Some("crossbar".into()),
            pattern: NamePattern::new("result_w{workers}_{repeat}.log").ok(),
            ..PointNames::default()
        };
        let files = files(&["wrk/workers/result_w1_2.log", "wrk/workers/result_w4_1.log"]);
        let points = named_points(&files, &names).unwrap();
        let keys: Vec<String> = points.iter().map(|point| point.key.to_string()).collect();
        assert_eq!(keys[0], "crossbar /json by weighttp at c32 w1 #2");
        assert_eq!(keys[5], "crossbar /json by wrk at c32 w4", "the tool is a part of the key");
        assert_eq!(keys.len(), 8);
    }

    #[test]
    fn appended_sections_are_repeats_and_ports_name_frameworks() {
        let names = PointNames {
            frameworks: [(8100, "alpha".to_owned())].into_iter().collect(),
            ..PointNames::default()
        };
        let points = named_points(&files(&["ab/jempower/64.8100", "ab/jempower/64.8101"]), &names).unwrap();
        let keys: Vec<String> = points.iter().map(|point| point.key.to_string()).collect();
        assert_eq!(keys[..2], ["alpha /hello by ab at c64", "alpha /hello by ab at c64 #2"]);
        assert_eq!(
            keys[5], "127.0.0.1:8101 /hello by ab at c64 #3",
            "a port without a name is the framework"
        );
    }

    #[test]
    fn aborted_section_has_the_level_of_its_file() {
        let text = std::fs::read(crate::summaries::fixtures::path("ab/jempower/64.8100")).unwrap();
        let aborted = std::fs::read(crate::summaries::fixtures::path("ab/drop-abort.txt")).unwrap();
        let found = crate::summaries::sections(&[text, aborted].concat());
        let points = named_points(&[("64.8100".to_owned(), found.sections)], &PointNames::default()).unwrap();
        assert_eq!(points[3].key.to_string(), "127.0.0.1:8100 /hello by ab at c64 #4");
        assert!(points[3].figures.aborted.is_some());
    }

    #[test]
    fn folders_are_no_repeats_of_each_other_unless_that_is_told() {
        let sections = read("wrk/workers/result_w1_2.log").sections;
        let files = ["go/json/raw.txt", "rust/json/raw.txt"].map(|name| (name.to_owned(), sections.clone()));
        let keys = |names: &PointNames| -> Result<Vec<String>, Unknown> {
            let points = named_points(&files, names).map_err(|(_, _, unknown)| unknown)?;
            Ok(points.iter().map(|point| format!("{} {}", point.key.framework, point.key.repeat)).collect())
        };
        assert_eq!(keys(&PointNames::default()), Err(Unknown::Folder));
        let by =
            |pattern: &str| PointNames { pattern: NamePattern::new(pattern).ok(), ..PointNames::default() };
        assert!(keys(&by("{framework}/{test}/raw.txt")).unwrap().contains(&"rust 1".to_owned()));
        let one = PointNames { framework: Some("go".into()), ..PointNames::default() };
        assert!(keys(&one).unwrap().contains(&"go 2".to_owned()), "as it was given");
    }

    #[test]
    fn what_is_missing_is_told() {
        let hey = files(&["hey/clean-summary.out"]);
        assert_eq!(named_points(&hey, &PointNames::default()), Err((0, 0, Unknown::Framework)));
        let framework = PointNames { framework: Some("go".into()), ..PointNames::default() };
        assert_eq!(named_points(&hey, &framework), Err((0, 0, Unknown::Test)));
        let pattern = PointNames { pattern: NamePattern::new("{framework}.log").ok(), ..framework };
        assert_eq!(named_points(&hey, &pattern), Err((0, 0, Unknown::Name)));
    }
}
