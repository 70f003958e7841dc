//! The note on the files that a command wrote.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use perfpipe_analyze::format::thousands;

use super::say::note;
use super::target::folder_of;

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
