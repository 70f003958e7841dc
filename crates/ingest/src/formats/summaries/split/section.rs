//! The lines of one section, and which of them were understood.

use std::cell::Cell;

use super::super::units;
use crate::formats::steps;

/// The lines from the beginning of a section to the beginning of the next.
pub(crate) struct Section<'a> {
    lines: &'a str,
    /// The number of lines up to the last one that was understood.
    used: Cell<usize>,
}

/// The most values that are kept of lines of the same form. No tool prints more.
const MOST_VALUES: usize = 10_000;

impl<'a> Section<'a> {
    /// The first of these lines begins the section, and so is understood.
    pub(crate) fn new(lines: &'a str) -> Self {
        Self { lines, used: Cell::new(1) }
    }

    /// The lines up to the last one that was understood.
    pub(crate) fn used(&self) -> usize {
        self.used.get()
    }

    /// The first line.
    pub(crate) fn first(&self) -> &'a str {
        self.lines().next().unwrap_or_default()
    }

    /// The lines, with their ends.
    fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.lines.split_inclusive('\n').inspect(|line| steps::count(line.len()))
    }

    /// Gives each line to `read`, which returns true for those that it understands.
    pub(crate) fn all(&self, mut read: impl FnMut(&'a str) -> bool) {
        for (at, line) in self.lines().enumerate() {
            if read(line.trim()) {
                self.use_to(at + 1);
            }
        }
    }

    /// What `read` makes of each line that it understands; of the first ones, if there are more than a tool prints.
    pub(crate) fn each<T>(&self, mut read: impl FnMut(&'a str) -> Option<T>) -> Vec<T> {
        let mut found = Vec::new();
        self.all(|line| {
            let value = read(line);
            let is_read = value.is_some();
            found.extend(value.filter(|_| found.len() < MOST_VALUES));
            is_read
        });
        found
    }

    /// What `read` makes of the first line that it understands.
    pub(crate) fn find<T>(&self, read: impl FnMut(&'a str) -> Option<T>) -> Option<T> {
        let (at, value) = {
            let mut read = read;
            self.lines().enumerate().find_map(|(at, line)| Some((at, read(line.trim())?)))?
        };
        self.use_to(at + 1);
        Some(value)
    }

    /// The text after the name that a line begins with.
    pub(crate) fn after(&self, name: &str) -> Option<&'a str> {
        self.find(|line| line.strip_prefix(name)).map(str::trim)
    }

    /// The whole number after a name; `None` if there is no such line.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.after(name) else { return Ok(None) };
        let word = text.split_whitespace().next().unwrap_or_default();
        units::count(word).map(Some).ok_or_else(|| format!("\"{name} {word}\" is not a count"))
    }

    /// The number after a name; `None` if there is no such line.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.after(name) else { return Ok(None) };
        let word = text.split_whitespace().next().unwrap_or_default();
        units::number(word).map(Some).ok_or_else(|| format!("\"{name} {word}\" is not a number"))
    }

    /// The text from the first line that satisfies `begins` on, and the number of lines before it.
    pub(crate) fn from(&self, begins: impl Fn(&str) -> bool) -> Option<(usize, &'a str)> {
        let mut before = 0;
        let lines =
            self.lines().take_while(|line| !begins(line)).inspect(|line| before += line.len()).count();
        let text = self.lines.get(before..).filter(|text| !text.is_empty())?;
        Some((lines, text))
    }

    /// Marks the lines before this one as understood.
    pub(crate) fn use_to(&self, line: usize) {
        self.used.set(self.used.get().max(line));
    }
}

/// A value that must be there, or the reason why there are no figures.
pub(crate) fn needed<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("the output ends without its figures: there is no \"{name}\""))
}
