//! The tables of docs/reference, against what they list.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::process::Command;

use parquet::basic::LogicalType;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use perfpipe_ingest::ErrorKind;
use perfpipe_ingest::run::DamageKind;

use super::root;
use super::workshop::Workshop;

/// Lists the columns of a store's files.
const PAGE: &str = "docs/reference/parquet.md";

#[test]
fn parquet_page_lists_every_column_with_its_type() {
    let text = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let folder = Workshop::new().folder(&text);
    let run = folder.path().join("perfpipe-data/runs/go+2048");
    let generation =
        std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let mut wrong = Vec::new();
    for name in ["samples", "seconds", "errors", "labels", "cpu"] {
        let file = File::open(generation.as_ref().unwrap().join(name).with_extension("parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let expected: Vec<String> = columns.iter().map(|column| row(column)).collect();
        wrong.extend(
            (listed(&text, name) != expected).then(|| format!("## {name}.parquet\n{}", expected.join("\n"))),
        );
    }
    assert!(wrong.is_empty(), "{PAGE} should say\n{}", wrong.join("\n"));
}

/// How a column stands in the page: its name and its type.
fn row(column: &ColumnDescriptor) -> String {
    let is_list = column.path().parts().len() > 1;
    let kind = match column.logical_type_ref() {
        Some(LogicalType::String) => "text".to_owned(),
        _ => column.physical_type().to_string().to_lowercase(),
    };
    let kind = if is_list { format!("list of {kind}") } else { kind };
    let absent = if column.max_def_level() > 0 && !is_list { ", may be null" } else { "" };
    format!("| `{}` | {kind}{absent} |", column.path().parts()[0])
}

/// The first two cells of each row below a file's heading.
fn listed(page: &str, file: &str) -> Vec<String> {
    let below = page.split_once(&format!("## {file}.parquet\n")).map_or("", |(_, below)| below);
    let section = below.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| line.splitn(4, '|').take(3).collect::<Vec<_>>().join("|") + "|").collect()
}

#[test]
fn page_of_errors_lists_every_code() {
    let errors = ErrorKind::ALL.iter().map(|kind| kind.code().to_owned());
    let damage = ErrorKind::ALL.iter().filter_map(|kind| DamageKind::from(*kind).code()).map(str::to_owned);
    let lists = [
        ("errors", errors.collect()),
        ("figures", codes_in("analyze/src/error.rs", "fn code(")),
        ("rejects", codes_in("model/src/run/reject_reason.rs", "fn code(")),
        ("damage", damage.collect()),
        ("notes", codes_in("model/src/run/note.rs", "fn code(")),
        ("source files", codes_in("model/src/run/info.rs", "fn name(")),
    ];
    let page = std::fs::read_to_string(root().join("docs/reference/errors.md")).unwrap();
    for (name, codes) in lists {
        let (_, section) = page.split_once(&format!("## Codes of {name}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let mut listed: Vec<&str> = rows.collect();
        let mut codes: Vec<String> = codes;
        listed.sort_unstable();
        codes.sort_unstable();
        assert_eq!(listed, codes, "the codes of {name}");
    }
}

/// The page has each code below the exit code of the errors that the source makes with it.
#[test]
fn page_of_errors_has_the_exit_code_of_each() {
    let page = std::fs::read_to_string(root().join("docs/reference/errors.md")).unwrap();
    let (_, section) = page.split_once("## Codes of errors\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut listed: BTreeMap<&str, &str> = BTreeMap::new();
    for part in section.split("exits with ").skip(1) {
        let rows = part.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        listed.extend(rows.map(|code| (code, &part[..1])));
    }
    let mut made: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    for part in ["model", "formats", "store", "ingest"] {
        let found = made_in(&root().join("crates").join(part).join("src"));
        found.into_iter().for_each(|(kind, exits)| made.entry(kind).or_default().extend(exits));
    }
    assert!(made.len() > 60, "{made:?}");
    let mut wrong = Vec::new();
    for kind in ErrorKind::ALL {
        let code = kind.code();
        let exits = made.get(&format!("{kind:?}"));
        if let Some(exits) = exits.filter(|exits| !exits.contains(listed[code])) {
            wrong.push(format!("{code}: the page says {}, the source {exits:?}", listed[code]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The exit codes of the errors that the source makes, by the variant of their kind.
fn made_in(folder: &Path) -> BTreeMap<String, BTreeSet<&'static str>> {
    const EXITS: [(&str, &str); 3] =
        [("Error::usage(", "2"), ("Error::input(", "3"), ("Error::refused(", "1")];
    let mut made: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            made_in(&path).into_iter().for_each(|(kind, exits)| made.entry(kind).or_default().extend(exits));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (call, exit) in EXITS {
            for after in text.split(call).skip(1) {
                let Some(rest) = after.trim_start().strip_prefix("ErrorKind::") else { continue };
                let kind = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
                made.entry(kind.to_owned()).or_default().insert(exit);
            }
        }
    }
    made
}

/// The codes that a function of an enum returns. It matches all variants, so none is missing.
fn codes_in(file: &str, function: &str) -> Vec<String> {
    let source = std::fs::read_to_string(root().join("crates").join(file)).unwrap();
    let (_, body) = source.split_once(function).unwrap();
    let body = body.split("\n    }\n").next().unwrap();
    body.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn guide_has_a_heading_for_every_command() {
    let help = Command::new(env!("CARGO_BIN_EXE_perfpipe")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.split("\n\n").next().unwrap().lines();
    let commands: Vec<&str> = commands
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|command| !command.is_empty() && *command != "help")
        .collect();
    assert!(commands.len() > 10, "{help}");
    let pages = super::pages().into_iter().filter(|page| page.starts_with("docs/guide"));
    let text: String = pages.map(|page| std::fs::read_to_string(root().join(page)).unwrap()).collect();
    let headings: Vec<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' '))
        .map(|heading| heading.split([':', ' ']).next().unwrap().to_lowercase())
        .collect();
    let missing: Vec<&&str> =
        commands.iter().filter(|command| !headings.contains(&(**command).to_owned())).collect();
    assert!(missing.is_empty(), "no heading in docs/guide begins with {missing:?}");
}
