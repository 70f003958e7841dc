//! The lines of a text and of one section, without a list of them: a text may have too many for that.

use std::cell::Cell;

use super::units;
use crate::work_count;

/// The lines from the beginning of a section to the beginning of the next.
pub struct Section<'a> {
    lines: &'a str,
    /// The number of lines up to the last one that was understood.
    used: Cell<usize>,
}

/// The most values that are kept of lines of the same form. No tool prints more.
const MOST_VALUES: usize = 10_000;

impl<'a> Section<'a> {
    /// The first of these lines begins the section, and so is understood.
    pub fn new(lines: &'a str) -> Self {
        Self { lines, used: Cell::new(1) }
    }

    /// The lines up to the last one that was understood.
    pub fn used(&self) -> usize {
        self.used.get()
    }

    /// The first line.
    pub fn first(&self) -> &'a str {
        self.lines().next().unwrap_or_default()
    }

    /// The lines, with their ends.
    fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.lines.split_inclusive('\n').inspect(|line| work_count::count(line.len()))
    }

    /// Gives each line to `read`, which returns true for those that it understands.
    pub fn all(&self, mut read: impl FnMut(&'a str) -> bool) {
        for (at, line) in self.lines().enumerate() {
            if read(line.trim()) {
                self.use_to(at + 1);
            }
        }
    }

    /// What `read` makes of each line that it understands; of the first ones, if there are more than a tool prints.
    pub fn each<T>(&self, mut read: impl FnMut(&'a str) -> Option<T>) -> Vec<T> {
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
    pub fn find<T>(&self, read: impl FnMut(&'a str) -> Option<T>) -> Option<T> {
        let (at, value) = {
            let mut read = read;
            self.lines().enumerate().find_map(|(at, line)| Some((at, read(line.trim())?)))?
        };
        self.use_to(at + 1);
        Some(value)
    }

    /// The text after the name that a line begins with.
    pub fn after(&self, name: &str) -> Option<&'a str> {
        self.find(|line| line.strip_prefix(name)).map(str::trim)
    }

    /// The whole number after a name; `None` if there is no such line.
    pub fn count(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.after(name) else { return Ok(None) };
        let word = text.split_whitespace().next().unwrap_or_default();
        units::count(word).map(Some).ok_or_else(|| format!("\"{name} {word}\" is not a count"))
    }

    /// The number after a name; `None` if there is no such line.
    pub fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.after(name) else { return Ok(None) };
        let word = text.split_whitespace().next().unwrap_or_default();
        units::number(word).map(Some).ok_or_else(|| format!("\"{name} {word}\" is not a number"))
    }

    /// The text from the first line that satisfies `begins` on, and the number of lines before it.
    pub fn from(&self, begins: impl Fn(&str) -> bool) -> Option<(usize, &'a str)> {
        let mut before = 0;
        let lines =
            self.lines().take_while(|line| !begins(line)).inspect(|line| before += line.len()).count();
        let text = self.lines.get(before..).filter(|text| !text.is_empty())?;
        Some((lines, text))
    }

    /// Marks the lines before this one as understood.
    pub fn use_to(&self, line: usize) {
        self.used.set(self.used.get().max(line));
    }
}

/// A value that must be there, or the reason why there are no figures.
pub(super) fn needed<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("the output ends without its figures: there is no \"{name}\""))
}

/// A line of a text, and those around it.
#[derive(Debug, Clone, Copy)]
pub struct TextLine<'a> {
    text: &'a str,
    /// The byte at which the line begins.
    at: usize,
}

impl<'a> TextLine<'a> {
    /// The first line.
    pub fn first(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The line as it is, with its end.
    pub fn whole(self) -> &'a str {
        let rest = self.rest();
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        rest.get(..end).unwrap_or(rest)
    }

    /// The line without spaces around it; nothing after the last one.
    pub fn trimmed(self) -> &'a str {
        self.whole().trim()
    }

    /// The text from this line on.
    pub fn rest(self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The byte at which it begins.
    pub fn at(self) -> usize {
        self.at
    }

    /// True after the last line.
    pub fn is_past_end(self) -> bool {
        self.at >= self.text.len()
    }

    /// The line below.
    pub fn next(self) -> Self {
        Self { at: self.at + self.whole().len(), ..self }
    }

    /// The line above, without spaces around it; `None` for the first one.
    pub fn above(self) -> Option<&'a str> {
        let above = self.text.get(..self.at)?.strip_suffix('\n')?;
        let begin = memchr::memrchr(b'\n', above.as_bytes()).map_or(0, |end| end + 1);
        above.get(begin..).map(str::trim)
    }

    /// The lines below.
    pub fn below(self) -> impl Iterator<Item = Self> {
        let lines =
            std::iter::successors(Some(self), |line| Some(line.next()).filter(|next| !next.is_past_end()));
        lines.skip(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_text() {
        let first = TextLine::first(" a \n\nb\r\n c");
        assert_eq!((first.whole(), first.trimmed(), first.above()), (" a \n", "a", None));
        let below: Vec<_> = first.below().map(|line| (line.trimmed(), line.above())).collect();
        assert_eq!(below, [("", Some("a")), ("b", Some("")), ("c", Some("b"))]);
        let last = first.below().last().unwrap();
        assert!(last.next().is_past_end() && last.next().trimmed().is_empty());
        assert_eq!(last.rest(), " c");
    }
}
