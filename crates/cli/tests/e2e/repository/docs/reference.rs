//! The tables of docs/reference, against what they list.

use std::fs::File;

use parquet::basic::LogicalType;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

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
fn page_of_errors_lists_every_code_of_a_reject() {
    let source = std::fs::read_to_string(root().join("crates/ingest/src/run/reject_reason.rs")).unwrap();
    let (_, codes) = source.split_once("fn code(self)").unwrap();
    let codes = codes.split_once("/// The reason").unwrap().0.split('"').skip(1).step_by(2);
    let page = std::fs::read_to_string(root().join("docs/reference/errors.md")).unwrap();
    let (_, section) = page.split_once("## Codes of rejects\n").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<Vec<_>>(), codes.collect::<Vec<_>>());
}
