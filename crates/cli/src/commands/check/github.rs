//! Verdicts for GitHub: an annotation for each broken rule, and a table in the job's summary.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use perfpipe_analyze::format::one_line;
use perfpipe_analyze::table::Format;
use perfpipe_analyze::{Verdict, verdict_table};

use super::sentence::sentence;

/// The environment variable with the path of the job's summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Writes annotations to standard error, where GitHub recognises them too, and appends the table to the summary.
pub(crate) fn write(verdicts: &[Verdict]) -> Result<()> {
    let mut text = String::new();
    for verdict in verdicts.iter().filter(|verdict| !verdict.holds) {
        let title = property(&format!("perfpipe: {}", verdict.run));
        text.push_str(&format!("::error title={title}::{}\n", data(&sentence(verdict))));
    }
    std::io::stderr().write_all(text.as_bytes())?;
    match std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) {
        Some(path) => append(&PathBuf::from(path), verdicts),
        None => Ok(()),
    }
}

fn append(path: &PathBuf, verdicts: &[Verdict]) -> Result<()> {
    let mut table = b"\n".to_vec();
    verdict_table(verdicts).write(Format::Markdown, &mut table)?;
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(&table))
        .with_context(|| format!("can't write {}", path.display()))
}

/// Escapes a message for a workflow command.
fn data(text: &str) -> String {
    one_line(text).replace('%', "%25")
}

/// Escapes a property's value for a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
