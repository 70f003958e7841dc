//! The lines of a text, one by one, without a list of them: a text may have too many for that.

/// A line of a text, and those around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextLine<'a> {
    text: &'a str,
    /// The byte at which the line begins.
    at: usize,
}

impl<'a> TextLine<'a> {
    /// The first line.
    pub(crate) fn first(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The line as it is, with its end.
    pub(crate) fn whole(self) -> &'a str {
        let rest = self.rest();
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        rest.get(..end).unwrap_or(rest)
    }

    /// The line without spaces around it; nothing after the last one.
    pub(crate) fn trimmed(self) -> &'a str {
        self.whole().trim()
    }

    /// The text from this line on.
    pub(crate) fn rest(self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The byte at which it begins.
    pub(crate) fn at(self) -> usize {
        self.at
    }

    /// True after the last line.
    pub(crate) fn is_behind(self) -> bool {
        self.at >= self.text.len()
    }

    /// The line below.
    pub(crate) fn next(self) -> Self {
        Self { at: self.at + self.whole().len(), ..self }
    }

    /// The line above, without spaces around it; `None` for the first one.
    pub(crate) fn above(self) -> Option<&'a str> {
        let above = self.text.get(..self.at)?.strip_suffix('\n')?;
        let begin = memchr::memrchr(b'\n', above.as_bytes()).map_or(0, |end| end + 1);
        above.get(begin..).map(str::trim)
    }

    /// The lines below.
    pub(crate) fn below(self) -> impl Iterator<Item = Self> {
        let lines =
            std::iter::successors(Some(self), |line| Some(line.next()).filter(|next| !next.is_behind()));
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
        assert!(last.next().is_behind() && last.next().trimmed().is_empty());
        assert_eq!(last.rest(), " c");
    }
}
