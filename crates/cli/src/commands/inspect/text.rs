//! The text output of an inspection: rows of a name and a value.

use perfpipe_analyze::format::one_line;

/// The width of the column of names.
const NAMES: usize = 11;

/// The largest number of characters shown of a name or a record.
const SHOWN: usize = 120;

/// The largest number of entries shown of a list.
pub(super) const LISTED: usize = 10;

/// Rows of a name and a value, under titles.
#[derive(Default)]
pub(super) struct TextRows(String);

impl TextRows {
    /// Returns the text.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Begins a block with a title.
    pub(super) fn title(&mut self, title: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(&one_line(title));
        self.0.push('\n');
    }

    /// Adds a row; a row without a name continues the one before it.
    pub(super) fn row(&mut self, name: &str, value: &str) {
        self.0.push_str(&format!("{name:>NAMES$}  {}\n", one_line(value)));
    }

    /// Adds a row for each value; only the first has the name.
    pub(super) fn list(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        for (at, value) in values.into_iter().enumerate() {
            self.row(if at == 0 { name } else { "" }, &value);
        }
    }
}

/// Returns the beginning of a long text.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Joins the first names of a list, and the number of further ones.
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
