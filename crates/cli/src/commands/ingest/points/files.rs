//! The files among the given ones that are summaries, read whole.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use perfpipe_ingest::points::{AbFile, FoundSections, sections};

use super::refuse_mixed;
use crate::error::CliError;
use crate::output::note;

/// How much of a file is looked at to recognise it, in bytes.
const HEAD: u64 = 64 << 10;

/// The largest summary, in bytes.
const LARGEST: u64 = 64 << 20;

/// The most lines that a tool has for why it does nothing.
const REFUSED: usize = 3;

/// A file with at least one section.
pub(crate) struct SummaryFile {
    pub(crate) path: PathBuf,
    pub(crate) found: FoundSections,
}

impl SummaryFile {
    /// The name without its folders.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// What a file is.
enum Kind {
    Summary,
    /// A command whose tool printed nothing that it prints: a run that failed, if others are summaries.
    Refused,
    Ab(AbFile),
    Other,
}

/// Reads the files that are summaries, sorted by name. `None` if none is.
///
/// # Errors
/// If only some of the files are summaries, one can't be read, or one of ab's files has no summary beside it.
pub(crate) fn summaries(given: &[PathBuf]) -> Result<Option<Vec<SummaryFile>>> {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    let (mut others, mut ab) = (Vec::new(), Vec::new());
    for path in given.iter().filter(|path| path.as_os_str() != "-") {
        for path in files_of(path) {
            match kind(&path) {
                Kind::Summary => found.push(read(&path)?),
                Kind::Refused => refused.push(path),
                Kind::Ab(kind) => ab.push((path, kind)),
                Kind::Other => others.push(path),
            }
        }
    }
    let Some(first) = found.first() else {
        return ab.first().map_or(Ok(None), |(path, kind)| Err(alone(path, *kind).into()));
    };
    let (within, named): (Vec<PathBuf>, Vec<PathBuf>) =
        others.into_iter().partition(|path| !given.contains(path));
    refuse_mixed(&first.path, &named)?;
    if let Some(path) = within.first() {
        note(&format!(
            "{} files of the folder are no summaries, and left out: {}, ...",
            within.len(),
            path.display()
        ));
    }
    for path in refused {
        found.push(read(&path)?);
    }
    // Percentiles first: exact counts of every request replace them.
    ab.sort_by_key(|(path, kind)| (*kind == AbFile::Requests, path.clone()));
    for (path, kind) in ab {
        refine(&path, kind, &mut found)?;
    }
    found.sort_by(|one, other| one.path.file_name().cmp(&other.path.file_name()));
    Ok(Some(found))
}

/// The files of a folder, or the file itself. A folder that can't be read is left to those who read logs.
fn files_of(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_hidden = |path: &Path| path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_file() && !is_hidden(path)).collect();
    files.sort();
    files
}

/// Looks at the beginning of a file. What is no file, or can't be read, is left to those who read logs.
fn kind(path: &Path) -> Kind {
    let mut head = Vec::new();
    let file = Some(path).filter(|path| path.is_file()).and_then(|path| File::open(path).ok());
    if file.and_then(|file| file.take(HEAD).read_to_end(&mut head).ok()).is_none() {
        return Kind::Other;
    }
    AbFile::of(&head).map_or_else(|| by_sections(&sections(&head)), Kind::Ab)
}

fn by_sections(found: &FoundSections) -> Kind {
    match found.sections.first() {
        None => Kind::Other,
        Some(_) if found.sections.iter().any(|section| section.printed) => Kind::Summary,
        // A text about commands has more lines than a run that failed.
        Some(_) if found.ignored <= REFUSED => Kind::Refused,
        Some(_) => Kind::Other,
    }
}

fn read(path: &Path) -> Result<SummaryFile> {
    let size = std::fs::metadata(path).map_or(0, |found| found.len());
    if size > LARGEST {
        let problem = format!("{} has {size} bytes, and a summary has at most {LARGEST}", path.display());
        return Err(CliError::refused(problem, "Split the file between two outputs.").into());
    }
    let bytes = std::fs::read(path).with_context(|| format!("can't read {}", path.display()))?;
    Ok(SummaryFile { path: path.to_owned(), found: sections(&bytes) })
}

/// Refines the only section of the summary of the same name.
fn refine(path: &Path, kind: AbFile, found: &mut [SummaryFile]) -> Result<()> {
    let is_beside = |file: &&mut SummaryFile| {
        let stem = |path: &Path| path.file_stem().map(OsStr::to_owned);
        file.path.parent() == path.parent() && stem(&file.path) == stem(path)
    };
    let summary = found.iter_mut().find(is_beside).map(|file| file.found.sections.as_mut_slice());
    let Some([section]) = summary.filter(|sections| sections.iter().all(|section| section.tool == "ab"))
    else {
        return Err(alone(path, kind).into());
    };
    let bytes = std::fs::read(path).with_context(|| format!("can't read {}", path.display()))?;
    kind.refine(&bytes, &mut section.figures).map_err(|line| {
        let problem = format!("{}, line {line}: not as ab writes it", path.display());
        CliError::refused(problem, "Leave the file out, or run ab again.").into()
    })
}

fn alone(path: &Path, kind: AbFile) -> CliError {
    let (what, why) = match kind {
        AbFile::Requests => (
            "the file of ab -g",
            "it does not say which requests failed, and is sorted by duration, so that their order is lost",
        ),
        _ => ("the file of ab -e", "it has percentiles only, of failed requests too"),
    };
    CliError::refused(
        format!("{} is {what}, without ab's summary of the same name beside it: {why}", path.display()),
        "Give the output of ab as well, named as this file but for the ending.",
    )
}
