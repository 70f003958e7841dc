//! The lines of one section, and which of them were understood.

use std::cell::Cell;

use super::super::units;

/// The lines from the beginning of a section to the beginning of the next.
pub(crate) struct Section<'a> {
    lines: &'a [&'a str],
    used: Cell<usize>,
}

impl<'a> Section<'a> {
    /// The first of these lines begins the section, and so is understood.
    pub(crate) fn new(lines: &'a [&'a str]) -> Self {
        Self { lines, used: Cell::new(1) }
    }

    /// How many lines there are up to the last one that was understood.
    pub(crate) fn used(&self) -> usize {
        self.used.get().min(self.lines.len())
    }

    /// The first line.
    pub(crate) fn first(&self) -> &'a str {
        self.lines.first().copied().unwrap_or_default()
    }

    /// What `read` makes of each line that it understands.
    pub(crate) fn each<T>(&self, mut read: impl FnMut(&'a str) -> Option<T>) -> Vec<T> {
        let mut found = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            if let Some(value) = read(line.trim()) {
                self.used.set(self.used.get().max(at + 1));
                found.push(value);
            }
        }
        found
    }

    /// What `read` makes of the first line that it understands.
    pub(crate) fn find<T>(&self, read: impl FnMut(&'a str) -> Option<T>) -> Option<T> {
        let (at, value) = {
            let mut read = read;
            self.lines.iter().enumerate().find_map(|(at, line)| Some((at, read(line.trim())?)))?
        };
        self.used.set(self.used.get().max(at + 1));
        Some(value)
    }

    /// What stands behind the name that a line begins with.
    pub(crate) fn after(&self, name: &str) -> Option<&'a str> {
        self.find(|line| line.strip_prefix(name)).map(str::trim)
    }

    /// The whole number behind a name; `None` if there is no such line.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.after(name) else { return Ok(None) };
        let word = text.split_whitespace().next().unwrap_or_default();
        units::count(word).map(Some).ok_or_else(|| format!("\"{name} {word}\" is no count"))
    }

    /// The number behind a name; `None` if there is no such line.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.after(name) else { return Ok(None) };
        let word = text.split_whitespace().next().unwrap_or_default();
        units::number(word).map(Some).ok_or_else(|| format!("\"{name} {word}\" is no number"))
    }

    /// The lines from the first one that satisfies `begins` on, joined.
    pub(crate) fn joined_from(&self, begins: impl Fn(&str) -> bool) -> Option<(usize, String)> {
        let at = self.lines.iter().position(|line| begins(line))?;
        Some((at, self.lines.get(at..)?.concat()))
    }

    /// Tells that the lines before this one were understood.
    pub(crate) fn use_to(&self, line: usize) {
        self.used.set(self.used.get().max(line));
    }
}

/// A value that must be there, or the reason why there are no figures.
pub(crate) fn needed<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("the output ends without its figures: there is no \"{name}\""))
}
