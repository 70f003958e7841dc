//! Rows of a name and a value, as an inspection is printed.

use perfpipe_analyze::format::one_line;

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
    /// All that was written.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

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
