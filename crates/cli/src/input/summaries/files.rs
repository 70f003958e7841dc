//! The files among the given ones that are summaries, read whole.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use perfpipe_ingest::Error;
use perfpipe_ingest::points::{AbFile, FoundSections, sections};
use perfpipe_ingest::source::Text;
use tokio::task::JoinError;

use crate::error::CliError;
use crate::output::note;

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
