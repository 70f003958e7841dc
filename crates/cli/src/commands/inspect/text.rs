//! An inspection as people read it: a block for each log, for the CPU export, and for the run.

use perfpipe_analyze::one_line;
use perfpipe_ingest::Inspection;

use super::{cpu, log, run};

/// Columns that the names of rows take.
const NAMES: usize = 11;

/// Characters of a name or a record that are shown.
const SHOWN: usize = 120;

/// How many names of a list are shown.
pub(super) const LISTED: usize = 10;

/// Rows of a name and what it is, under titles.
#[derive(Default)]
pub(super) struct Rows(String);

impl Rows {
    /// Begins a block.
    pub(super) fn title(&mut self, title: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(&one_line(title));
        self.0.push('\n');
    }

    /// A row; without a name it goes on with the one before it.
    pub(super) fn row(&mut self, name: &str, value: &str) {
        self.0.push_str(&format!("{name:>NAMES$}  {}\n", one_line(value)));
    }

    /// A row for each value, of which the first has the name.
    pub(super) fn list(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        for (at, value) in values.into_iter().enumerate() {
            self.row(if at == 0 { name } else { "" }, &value);
        }
    }
}

/// All of it.
pub(super) fn of(found: &Inspection) -> String {
    let mut rows = Rows::default();
    found.logs.iter().for_each(|log| log::rows(log, &mut rows));
    if let Some(export) = &found.cpu {
        cpu::rows(export, found.end_seen, &mut rows);
    }
    run::rows(found, &mut rows);
    rows.0
}

/// The beginning of a text that may be long.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The first of many names, and how many more there are.
pub(super) fn names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let mut list: Vec<String> = names.take(LISTED).map(short).collect();
    if more > 0 {
        list.push(format!("and {more} more"));
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_texts_are_cut() {
        assert_eq!(names(["a", "b"].into_iter()), "a, b");
        let many = vec!["x"; LISTED + 3];
        assert!(names(many.into_iter()).ends_with("x, and 3 more"));
        assert_eq!(short(&"é".repeat(200)).chars().count(), SHOWN + 1);
    }
}
