//! Renamed flags: for one version the old names still work, with a note.

use std::ffi::{OsStr, OsString};

/// A flag of a command, with its old and its new name.
struct Renamed {
    command: &'static str,
    old: &'static str,
    new: &'static str,
    /// Returns true if the old flag is meant, given its value, since the old name may have a new meaning.
    is_old: fn(&str) -> bool,
}

const RENAMED: [Renamed; 3] = [
    Renamed { command: "ingest", old: "--format", new: "--page-format", is_old: |_| true },
    Renamed { command: "compare", old: "--table", new: "--format", is_old: |_| true },
    Renamed { command: "compare", old: "--format", new: "--page-format", is_old: is_of_pages },
];

/// Flags before the command that take a value.
const GLOBAL: [&str; 3] = ["--store", "--database", "--color"];

fn is_of_pages(value: &str) -> bool {
    value.split(',').all(|format| ["svg", "pdf", "png"].contains(&format))
}

/// Returns the command line with the new names, and a note for each old one.
pub(crate) fn translate(words: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Vec<String>) {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let mut notes = Vec::new();
    let Some(command) = command(&words) else { return (words, notes) };
    let name = words.get(command).cloned().unwrap_or_default();
    for renamed in RENAMED.iter().filter(|renamed| name == renamed.command) {
        let places: Vec<usize> = places(&words, command, renamed).collect();
        for at in places {
            if let Some(word) = words.get_mut(at) {
                let rest = word.to_str().and_then(|text| text.strip_prefix(renamed.old)).unwrap_or_default();
                *word = format!("{}{rest}", renamed.new).into();
                notes.push(format!("note: {} is now {}", renamed.old, renamed.new));
            }
        }
    }
    (words, notes)
}

/// Returns the index of the command, which comes after the program's name and flags.
fn command(words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !word.as_encoded_bytes().starts_with(b"-") {
            return Some(at);
        }
        at += if GLOBAL.iter().any(|flag| word == flag) { 2 } else { 1 };
    }
    None
}

/// Returns the indexes at which a flag has its old name.
fn places(words: &[OsString], command: usize, renamed: &Renamed) -> impl Iterator<Item = usize> {
    let flags = words.iter().enumerate().skip(command).take_while(|(_, word)| *word != "--");
    flags.filter(|(at, word)| stands(word, words.get(at + 1), renamed)).map(|(at, _)| at)
}

fn stands(word: &OsStr, next: Option<&OsString>, renamed: &Renamed) -> bool {
    let Some(rest) = word.to_str().and_then(|text| text.strip_prefix(renamed.old)) else { return false };
    match rest.strip_prefix('=') {
        Some(value) => (renamed.is_old)(value),
        None => rest.is_empty() && next.and_then(|next| next.to_str()).is_none_or(renamed.is_old),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(line: &str) -> (String, Vec<String>) {
        let (words, notes) = translate(line.split(' ').map(OsString::from));
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
        (words.join(" "), notes)
    }

    #[test]
    fn old_names_become_new_ones_with_a_note() {
        for (old, new, note) in [
            (
                "p ingest a.csv --report c --format png",
                "p ingest a.csv --report c --page-format png",
                "note: --format is now --page-format",
            ),
            (
                "p ingest a.csv --format=svg",
                "p ingest a.csv --page-format=svg",
                "note: --format is now --page-format",
            ),
            (
                "p --store x compare a b --table json",
                "p --store x compare a b --format json",
                "note: --table is now --format",
            ),
            (
                "p compare a b --out c --format svg,pdf",
                "p compare a b --out c --page-format svg,pdf",
                "note: --format is now --page-format",
            ),
        ] {
            assert_eq!(translated(old), (new.to_owned(), vec![note.to_owned()]), "{old}");
        }
        let (both, notes) = translated("p compare a b --table csv --out c --format png");
        assert_eq!((both.as_str(), notes.len()), ("p compare a b --format csv --out c --page-format png", 2));
    }

    #[test]
    fn all_else_stays() {
        for line in [
            "p",
            "p --version",
            "p report --test t --format svg --table csv",
            "p compare a b --format json",
            "p compare a b --format=md",
            "p ingest a.csv --table json",
            "p ingest -- --format",
            "p --store ingest list --format json",
            "p --database=ingest export --format csv",
            "p -q --color ingest list --format json",
            "p ingest --formats x",
        ] {
            assert_eq!(translated(line), (line.to_owned(), Vec::new()), "{line}");
        }
    }
}
