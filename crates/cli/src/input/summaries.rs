//! Summaries of load tools: the files among given ones, and the points that their sections are.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use perfpipe_analyze::format::counted;
use perfpipe_ingest::Error;
use perfpipe_ingest::points::{
    AbFile, FoundSections, NamePattern, Point, PointNames, Unknown, named_points, sections,
};
use perfpipe_ingest::run::Frameworks;
use perfpipe_ingest::source::Text;
use tokio::task::JoinError;
use toml::de::{DeTable, DeValue};

use crate::args::PointArgs;
use crate::error::CliError;
use crate::input::text_of;
use crate::output::{line_of, note};

/// Converts the flags on keys. The framework and the test are left open.
pub(crate) fn names(args: &PointArgs, frameworks: Option<&Path>) -> Result<PointNames> {
    let pattern = pattern(args, "result_w{workers}_{repeat}.log")?;
    Ok(PointNames {
        concurrency: args.concurrency,
        workers: args.server_workers,
        pattern,
        frameworks: frameworks.map(frameworks_of_file).transpose()?.unwrap_or_default(),
        ..PointNames::default()
    })
}

/// Returns the pattern of file names, if one is given.
///
/// # Errors
/// If it can't be read.
pub(crate) fn pattern(args: &PointArgs, example: &str) -> Result<Option<NamePattern>> {
    let pattern = args.name.as_deref().map(NamePattern::new).transpose();
    Ok(pattern.map_err(|problem| {
        CliError::usage(format!("--name {problem}"), format!("Write it as in '{example}'."))
    })?)
}

/// Returns the points of the files.
///
/// # Errors
/// If the key of a section is not known.
pub(crate) fn named(files: &[SummaryFile], names: &PointNames) -> Result<Vec<Point>> {
    let sections: Vec<_> = files.iter().map(|file| (file.name(), &file.found.sections)).collect();
    let points = named_points(&sections, names).map_err(|(file, section, unknown)| {
        let file = files.get(file);
        let shown = file.map(|file| file.shown.clone()).unwrap_or_default();
        let line = file.and_then(|file| file.found.sections.get(section)).map_or(1, |section| section.line);
        nameless(&shown, line, unknown)
    })?;
    Ok(points)
}

fn nameless(shown: &str, line: usize, unknown: Unknown) -> CliError {
    let place = format!("{shown}, line {line}");
    match unknown {
        Unknown::Framework => CliError::usage(
            format!("{place}: the framework is not known: the output has no URL"),
            "Give --framework, or --name with the field {framework}.",
        ),
        Unknown::Test => CliError::usage(
            format!("{place}: the test is not known: the output has no URL"),
            "Give --test, or --name with the field {test}.",
        ),
        Unknown::Name => CliError::usage(
            format!("{shown}: the file's name does not follow the pattern of --name"),
            "Correct the pattern ({*} stands for any text), or leave the file out.",
        ),
        Unknown::Folder => CliError::usage(
            format!(
                "{place}: it has the same URL as a file in another folder, and would be a repeat of that"
            ),
            "Say what the folders are: --name '{framework}/{test}/{*}', or --name '{*}{repeat}/{*}'; or that all are of one \
             framework: --framework.",
        ),
        _ => CliError::usage(
            format!("{place}: another section has the same key and the same repeat"),
            "Leave {repeat} out of --name, so that sections of equal keys are numbered, or give each file another name.",
        ),
    }
}

/// Prints how many runs are no points, and how many lines belong to no section.
pub(crate) fn note_ignored(file: &SummaryFile) {
    if file.found.warm_ups > 0 {
        let runs = counted(file.found.warm_ups as u64, "run");
        note(&format!("{}: {runs} left out, which warm the server up (primer, warm-up)", file.shown));
    }
    let FoundSections { ignored, first_ignored: Some((line, text)), .. } = &file.found else { return };
    let lines = counted(*ignored as u64, "line");
    note(&format!("{}: {lines} of other text ignored, the first is line {line}: {text}", file.shown));
}

/// How much of a file is looked at to recognise it, in bytes.
const HEAD: u64 = 64 << 10;

/// The largest summary, in bytes.
const LARGEST: u64 = 16 << 20;

/// The most outputs of load tools that are read at once.
const MOST_OUTPUTS: usize = 50_000;

/// The most lines that a tool has for why it does nothing.
const REFUSED: usize = 3;

/// A file with at least one section.
pub(crate) struct SummaryFile {
    /// Its path, without the ending of a packed file; of a member of a zip, that within the zip.
    path: PathBuf,
    /// The file, as messages name it.
    pub(crate) shown: String,
    pub(crate) found: FoundSections,
}

impl SummaryFile {
    /// The path, as patterns of names read it.
    pub(crate) fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

/// What was found among given files.
#[derive(Default)]
pub(crate) struct FoundSummaries {
    /// The summaries, sorted by name.
    pub(crate) files: Vec<SummaryFile>,
    /// What was read of standard input, if it is no summary.
    pub(crate) read_of_stdin: Vec<u8>,
}

/// What a file is.
enum FileKind {
    Summary,
    /// A command whose tool printed nothing that it prints: a run that failed, if others are summaries.
    Refused,
    Ab(AbFile),
    Other,
}

/// Reads the files that are summaries: plain, packed, in zips, in folders, or standard input (`-`). There are none if no
/// file is one.
///
/// # Errors
/// If only some of the files are summaries, one can't be read, or one of ab's files has no summary beside it.
pub(crate) async fn find(given: &[PathBuf]) -> Result<FoundSummaries> {
    let given = given.to_vec();
    // On a thread of its own, so that a signal ends the command at once: nothing is begun yet.
    match tokio::task::spawn_blocking(move || read(&given)).await.map_err(JoinError::try_into_panic) {
        Ok(found) => found,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(error)) => Err(error.into()),
    }
}

fn read(given: &[PathBuf]) -> Result<FoundSummaries> {
    let mut result = FoundSummaries::default();
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    let (mut others, mut ab) = (Vec::new(), Vec::new());
    // Errors of files without a summary are reported by the readers of logs.
    let mut unread: Option<Error> = None;
    for path in given {
        if path.as_os_str() == "-" {
            match stdin()? {
                Ok(file) => add(file, &mut found)?,
                Err(head) => {
                    result.read_of_stdin = head;
                    others.push(path.clone());
                }
            }
            continue;
        }
        for path in files_of(path) {
            let texts = texts_of(&path).unwrap_or_else(|error| {
                unread.get_or_insert(error);
                Vec::new()
            });
            if texts.is_empty() {
                others.push(path);
                continue;
            }
            for text in texts {
                match text.kind() {
                    Ok(FileKind::Summary) => add(text.read()?, &mut found)?,
                    Ok(FileKind::Refused) => refused.push(text),
                    Ok(FileKind::Ab(kind)) => ab.push((text, kind)),
                    Ok(FileKind::Other) => others.push(path.clone()),
                    Err(error) => _ = unread.get_or_insert(error),
                }
            }
        }
    }
    let Some(first) = found.first() else {
        return ab.first().map_or(Ok(result), |(text, kind)| Err(alone(&text.shown, *kind).into()));
    };
    if let Some(error) = unread {
        return Err(error.into());
    }
    let (within, named): (Vec<PathBuf>, Vec<PathBuf>) =
        others.into_iter().partition(|path| !given.contains(path));
    refuse_mixed(&first.shown, &named)?;
    if let Some(path) = within.first() {
        let which = match within.len() {
            1 => "skipped a file that is not a summary".to_owned(),
            count => format!("skipped {count} files that are not summaries, the first"),
        };
        note(&format!("{which}: {}", path.display()));
    }
    for text in refused {
        add(text.read()?, &mut found)?;
    }
    // Percentiles first: exact counts of every request replace them.
    ab.sort_by_key(|(text, kind)| (*kind == AbFile::Requests, text.path.clone()));
    for (text, kind) in ab {
        refine(&text, kind, &mut found)?;
    }
    found.sort_by(|one, other| (one.path.file_name(), &one.path).cmp(&(other.path.file_name(), &other.path)));
    Ok(FoundSummaries { files: found, ..result })
}

/// Adds a file to those that were found.
fn add(file: SummaryFile, found: &mut Vec<SummaryFile>) -> Result<()> {
    found.push(file);
    if found.iter().map(|file| file.found.sections.len()).sum::<usize>() <= MOST_OUTPUTS {
        return Ok(());
    }
    let problem = format!("the files have more than {MOST_OUTPUTS} outputs of load tools");
    Err(CliError::refused(problem, "Give fewer files to each command.").into())
}

/// Reads standard input if it is a summary; otherwise returns what was read of it.
fn stdin() -> Result<Result<SummaryFile, Vec<u8>>> {
    let failed = "can't read standard input";
    let mut bytes = Vec::new();
    std::io::stdin().take(HEAD).read_to_end(&mut bytes).context(failed)?;
    if !matches!(by_sections(&sections(&bytes)), FileKind::Summary) {
        return Ok(Err(bytes));
    }
    std::io::stdin().take(LARGEST).read_to_end(&mut bytes).context(failed)?;
    let shown = "standard input".to_owned();
    summary("-".into(), shown, &bytes).map(Ok)
}

/// A text that may be a summary.
struct Candidate {
    path: PathBuf,
    shown: String,
    text: Text,
}

/// Returns the texts in a file. What is no file is left to those who read logs.
fn texts_of(path: &Path) -> Result<Vec<Candidate>, Error> {
    let texts = if path.is_file() { Text::of_file(path)? } else { Vec::new() };
    let candidate = |text: Text| {
        let place = text.place();
        let packed = path.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
        let path = match &place.member {
            Some(member) => path.join(member),
            None if packed => path.with_extension(""),
            None => path.to_owned(),
        };
        Candidate { path, shown: place.to_string(), text }
    };
    Ok(texts.into_iter().map(candidate).collect())
}

impl Candidate {
    /// Looks at the beginning of the text.
    fn kind(&self) -> Result<FileKind, Error> {
        let head = self.text.read(HEAD)?;
        Ok(AbFile::of(&head).map_or_else(|| by_sections(&sections(&head)), FileKind::Ab))
    }

    fn read(&self) -> Result<SummaryFile> {
        summary(self.path.clone(), self.shown.clone(), &self.text.read(LARGEST + 1)?)
    }
}

/// Finds the sections of a summary.
fn summary(path: PathBuf, shown: String, bytes: &[u8]) -> Result<SummaryFile> {
    const SPLIT: &str = "Split the file between two outputs.";
    if bytes.len() as u64 > LARGEST {
        let problem = format!("{shown} has more bytes than a summary has, at most {LARGEST}");
        return Err(CliError::refused(problem, SPLIT).into());
    }
    let found = sections(bytes);
    if found.are_too_many {
        let problem = format!("{shown} has more than {} outputs of load tools", found.sections.len());
        return Err(CliError::refused(problem, SPLIT).into());
    }
    Ok(SummaryFile { path, shown, found })
}

/// The files of a folder and of its subfolders, or the file itself. A folder that can't be read is left to those who read
/// logs.
fn files_of(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_hidden = |path: &Path| path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    let is_link = |path: &Path| path.is_dir() && path.is_symlink();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| !is_hidden(path) && !is_link(path)).collect();
    paths.sort();
    let files = paths.into_iter().filter(|path| path.is_file() || path.is_dir());
    files.flat_map(|path| files_of(&path)).collect()
}

fn by_sections(found: &FoundSections) -> FileKind {
    match found.sections.first() {
        None => FileKind::Other,
        Some(_) if found.sections.iter().any(|section| section.printed) => FileKind::Summary,
        // A text about commands has more lines than a run that failed.
        Some(_) if found.ignored <= REFUSED => FileKind::Refused,
        Some(_) => FileKind::Other,
    }
}

/// Refines the only section of the summary of the same name.
fn refine(text: &Candidate, kind: AbFile, found: &mut [SummaryFile]) -> Result<()> {
    let is_beside = |file: &&mut SummaryFile| {
        let stem = |path: &Path| path.file_stem().map(OsStr::to_owned);
        file.path.parent() == text.path.parent() && stem(&file.path) == stem(&text.path)
    };
    let summary = found.iter_mut().find(is_beside).map(|file| file.found.sections.as_mut_slice());
    let Some([section]) = summary.filter(|sections| sections.iter().all(|section| section.tool == "ab"))
    else {
        return Err(alone(&text.shown, kind).into());
    };
    let refined = text.text.read_by(|lines| kind.refine(lines, &mut section.figures))?;
    refined.map_err(|line| {
        let problem = format!("{}, line {line}: not as ab writes it", text.shown);
        CliError::refused(problem, "Leave the file out, or run ab again.").into()
    })
}

fn alone(shown: &str, kind: AbFile) -> CliError {
    let (what, why) = match kind {
        AbFile::Requests => (
            "the file of ab -g",
            "it does not say which requests failed, and is sorted by duration, so that their order is lost",
        ),
        _ => ("the file of ab -e", "it has percentiles only, of failed requests too"),
    };
    CliError::refused(
        format!("{shown} is {what}, without ab's summary of the same name beside it: {why}"),
        "Give the output of ab as well, named as this file but for the ending.",
    )
}

/// Refuses files of which some are summaries and some are not.
fn refuse_mixed(summary: &str, others: &[PathBuf]) -> Result<()> {
    let Some(other) = others.first() else { return Ok(()) };
    let problem = format!("{summary} is the summary of a load tool, and {} is not", other.display());
    Err(CliError::usage(problem, "Give summaries and logs to commands of their own.").into())
}

/// Remedy that shows the format of the file.
const EXAMPLE: &str = "Write a port and a name on each line, as in: 8181 = \"perfectnio\"";

/// Reads the frameworks that a file names by port.
pub(crate) fn frameworks_of_file(path: &Path) -> Result<Frameworks> {
    let text = text_of(path)?;
    let wrong = |at: usize, problem: &str| {
        let line = line_of(&text, at);
        CliError::usage(format!("{}, line {line}: {problem}", path.display()), EXAMPLE)
    };
    let table = DeTable::parse(&text)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
    let named = table.get_ref().iter().map(|(key, value)| {
        let port = key.get_ref().parse::<u16>().ok().filter(|port| *port > 0);
        let port = port.ok_or_else(|| {
            wrong(key.span().start, &format!("{:?} is not a port, 1 to 65535", key.get_ref()))
        })?;
        match value.get_ref() {
            DeValue::String(name) if !name.trim().is_empty() => Ok((port, name.clone().into_owned())),
            _ => Err(wrong(value.span().start, &format!("port {port} has no name in quotes"))),
        }
    });
    Ok(named.collect::<Result<_, CliError>>()?)
}

#[cfg(test)]
mod tests {
    use super::frameworks_of_file;

    fn read(text: &str) -> Result<perfpipe_ingest::run::Frameworks, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        frameworks_of_file(file.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn ports_have_names() {
        let frameworks = read("# night\n8181 = \"perfectnio\"\n\"9000\" = 'go'\n").unwrap();
        assert_eq!((frameworks.on_port(8181), frameworks.on_port(9000)), (Some("perfectnio"), Some("go")));
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn invalid_port_or_name_is_refused_with_its_line() {
        for (text, line, part) in [
            ("8181 = \"a\"\nhttp = \"b\"", 2, "\"http\" is not a port"),
            ("70000 = \"a\"", 1, "\"70000\" is not a port"),
            ("0 = \"a\"", 1, "\"0\" is not a port"),
            ("\n8181 = 3", 2, "port 8181 has no name"),
            ("8181 = \" \"", 1, "port 8181 has no name"),
            ("8181 = \"a\"\n8181 = \"b\"", 2, "duplicate key"),
            ("8181 = \"a\"\n9000", 2, ""),
            ("8181.x = \"a\"", 1, "port 8181 has no name"),
        ] {
            let complaint = read(text).unwrap_err();
            assert!(
                complaint.contains(&format!(", line {line}: ")) && complaint.contains(part),
                "{complaint}"
            );
        }
    }
}
