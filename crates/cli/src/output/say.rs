//! What a command says on standard error: notes, warnings, messages that are always printed, and which files it wrote.

use std::ffi::OsStr;
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use perfpipe_analyze::format::thousands;

use super::target::folder_of;

/// The largest number of characters shown of a sentence.
const SENTENCE: usize = 1500;

/// True if notes and progress are not to be printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints no more notes and no progress from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Returns true if notes and progress are not to be printed.
pub(super) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a note to standard error, on one line, unless notes are not wanted (`--quiet`).
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        print_message(text);
    }
}

/// Prints to standard error that something may be wrong, on one line: what, and what to do.
pub(crate) fn warn(text: &str) {
    print_message(&format!("warning: {text}"));
}

/// Prints a message to standard error, on one line, whether notes are wanted or not.
pub(crate) fn print_message(text: &str) {
    // If standard error is closed, nobody reads the message.
    let _ = writeln!(io::stderr(), "{}", sentence(text));
}

/// Makes a sentence safe for terminals, whatever names it contains: without control characters, and with its middle cut
/// out if it is very long.
pub(crate) fn sentence(text: &str) -> String {
    let line = perfpipe_analyze::format::one_line(text);
    let length = line.chars().count();
    if length <= SENTENCE {
        return line;
    }
    let begin: String = line.chars().take(SENTENCE / 2).collect();
    let end: String = line.chars().skip(length - SENTENCE / 2).collect();
    format!("{begin} … {end}")
}

/// Prints which files were written, on one line: their name, or where they are and of which kinds.
pub(crate) fn print_written(files: &[PathBuf]) {
    if let Some(text) = written(files) {
        note(&format!("wrote {text}"));
    }
}

fn written(files: &[PathBuf]) -> Option<String> {
    let [first, others @ ..] = files else { return None };
    if others.is_empty() {
        return Some(first.display().to_string());
    }
    let endings: Vec<&str> = files.iter().map(|file| ending(file)).collect();
    let name = |file: &Path| file.with_extension("");
    if others.iter().all(|other| name(other) == name(first)) {
        return Some(format!("{}.{{{}}}", name(first).display(), endings.join(",")));
    }
    let mut kinds: Vec<&str> = Vec::new();
    for ending in &endings {
        if !kinds.contains(ending) {
            kinds.push(ending);
        }
    }
    let count = |kind: &&str| {
        format!("{} {kind}", thousands(endings.iter().filter(|ending| *ending == kind).count() as u64))
    };
    let counts: Vec<String> = kinds.iter().map(count).collect();
    let (all, folder) = (thousands(files.len() as u64), folder_of(first).display());
    Some(match kinds.as_slice() {
        [_] => format!("{all} files into {folder}"),
        _ => format!("{all} files into {folder}: {}", counts.join(", ")),
    })
}

/// Returns the part of a file's name after the last dot.
fn ending(file: &Path) -> &str {
    file.extension().and_then(OsStr::to_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_is_one_line_of_bounded_length() {
        assert_eq!(sentence("a\nb \u{1b}[31m"), r"a\nb \u{1b}[31m");
        let long = format!("run {} is not there", "x".repeat(10_000));
        let shown = sentence(&long);
        assert!(shown.chars().count() < SENTENCE + 10, "{shown}");
        assert!(shown.starts_with("run x") && shown.ends_with("x is not there"), "{shown}");
    }

    #[test]
    fn files_are_told_on_one_line() {
        let listed = |files: &[&str]| written(&files.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(listed(&[]), None);
        assert_eq!(listed(&["charts/a.svg"]).unwrap(), "charts/a.svg");
        assert_eq!(listed(&["charts/a_1.5.svg", "charts/a_1.5.pdf"]).unwrap(), "charts/a_1.5.{svg,pdf}");
        let several = ["charts/a.svg", "charts/a.pdf", "charts/b.svg", "charts/b.pdf", "charts/r.html"];
        assert_eq!(listed(&several).unwrap(), "5 files into charts: 2 svg, 2 pdf, 1 html");
        assert_eq!(listed(&["a.1", "b.1"]).unwrap(), "2 files into .");
    }
}
