//! The table of bad inputs: what each is, how it is given, and what must happen.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::outcome::files;
use crate::support::{fixture, text};

/// The parts of the table, each of them run by a test of its own.
pub(crate) const GROUPS: [(&str, &str); 6] = [
    ("files", "What is no log, or can't be opened"),
    ("zips", "Zips that are damaged, lie, or hold odd things"),
    ("cuts", "Real zips, cut at every 1,000th byte"),
    ("bombs", "Small files that become large ones"),
    ("logs", "Logs with odd records"),
    ("cpu", "CPU exports"),
];

/// Those who write the table take turns.
static WRITING: Mutex<()> = Mutex::new(());

/// Whether what happens is to be written down, in the place of being compared.
pub(crate) fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn path(name: &str) -> PathBuf {
    fixture("bad").join(name)
}

/// All rows.
pub(crate) fn rows() -> Vec<Value> {
    serde_json::from_slice(&std::fs::read(path("table.json")).unwrap()).unwrap()
}

/// Writes down what happened with an input of a group.
pub(crate) fn update(row: &Value, way: &str, happened: &Value) {
    let _turn = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows = rows();
    let place = rows.iter_mut().find(|other| other["group"] == row["group"] && other["what"] == row["what"]);
    place.unwrap()["happens"][way] = happened.clone();
    let table = serde_json::to_string_pretty(&rows).unwrap() + "\n";
    std::fs::write(path("table.json"), table).unwrap();
    std::fs::write(path("README.md"), readme(&rows)).unwrap();
}

/// The table as people read it.
fn readme(rows: &[Value]) -> String {
    let mut page = HEAD.to_owned();
    for (group, title) in GROUPS {
        write!(page, "\n## {title}\n\n| input | is | given as | exit | what is said, and what is stored |\n")
            .unwrap();
        page.push_str("|---|---|---|--:|---|\n");
        for row in rows.iter().filter(|row| row["group"] == group) {
            for (way, happens) in row["happens"].as_object().unwrap() {
                let cells = [given(row), text(row, "what").into(), way.clone(), happens["exit"].to_string()];
                writeln!(page, "| {} | {} |", cells.join(" | "), said(happens)).unwrap();
            }
        }
    }
    page + TAIL
}

fn given(row: &Value) -> String {
    let flags = row["flags"].as_array().into_iter().flatten().map(|flag| flag.as_str().unwrap().to_owned());
    files(row).into_iter().chain(flags).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ")
}

/// What is said, and what is stored.
fn said(happens: &Value) -> String {
    if happens["exit"] != 0 {
        let (message, remedy) = (cell(text(happens, "message")), cell(text(happens, "remedy")));
        return format!("{message}<br>*{remedy}*");
    }
    let lines = |name: &str| happens[name].as_array().cloned().unwrap_or_default();
    let mut parts: Vec<String> = lines("notes").iter().map(|note| cell(note.as_str().unwrap())).collect();
    let rejects = lines("rejects");
    parts.push(format!(
        "Stored: {} records = {} requests + {} transactions + {} rejects.",
        happens["records"],
        happens["requests"],
        happens["transactions"],
        rejects.len()
    ));
    parts.extend(happens["cpu"].as_str().map(|cpu| format!("CPU: {}.", cell(cpu))));
    parts.extend(rejects.iter().map(|reject| cell(reject.as_str().unwrap())));
    parts.join("<br>")
}

/// A text in a cell of a Markdown table.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if matches!(character, '\\' | '|' | '<' | '>' | '`' | '*' | '_' | '[' | ']' | '&' | '~') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

const HEAD: &str = "# Bad input, and what must happen with it

Each row is run by `crates/cli/tests/bad_input`: the command is given the input, in a folder of its own, and must say exactly this and end
with this exit code. Of what is refused the store must hold nothing afterwards, neither a run nor leftovers; what is accepted is read back from
the store and counted. Rows are run in both stores, but for the cuts. Messages come with the remedy, here in italics.

The table is `table.json`; this page is written from it, and the test checks that it still is. Inputs that are not in this folder are made by
`crates/cli/tests/bad_input/inputs.rs`. `zipcrypto.zip` and `aes.zip` hold `good.csv` under the password `secret`, by Info-ZIP's `zip -P` and by `7z -mem=AES256`.
";

const TAIL: &str = "
## Names and labels made to do harm

Frameworks, tests, labels, codes and messages full of quotes, semicolons, angle brackets, emoji, control characters, 10,000 characters, `../..`, or made for SQL,
SVG, HTML, Markdown or spreadsheets are tried by `crates/cli/tests/bad_input/hostile.rs`, in both stores:

- they are stored and given back to the byte, but for NUL (which Postgres can't hold) and what is not UTF-8, which become U+FFFD in both stores;
- exported CSV and JSON are data, and exact: a label that begins with `=`, `+`, `-` or `@` is not changed, since a tool that reads the file would get another
  label than the log has. Whoever opens such a file in a spreadsheet imports its columns as text;
- in text and Markdown tables, in messages and on pages a control character is written out (`\\u{1b}`), and nothing is taken for Markdown, HTML or SVG.
";

#[test]
fn page_is_the_table() {
    assert!(updating() || std::fs::read_to_string(path("README.md")).unwrap() == readme(&rows()));
}

#[test]
fn every_row_is_run_and_every_file_is_used() {
    let rows = rows();
    let mut used = vec!["README.md".to_owned(), "table.json".to_owned()];
    for row in &rows {
        assert!(GROUPS.iter().any(|(group, _)| row["group"] == *group), "{row}");
        assert!(row["happens"].as_object().is_some_and(|ways| !ways.is_empty()), "{row}");
        used.extend(files(row));
    }
    for entry in std::fs::read_dir(fixture("bad")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert!(used.contains(&name), "no row uses {name}");
        assert!(
            name == "README.md" || name == "table.json" || entry.metadata().unwrap().len() < 20_000,
            "{name}"
        );
    }
}
