//! Tables as aligned text, fitted to the width of a terminal if that is given.

use std::iter;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::column::{Column, Tone};
use super::formats::TableFormat;
use super::value::Value;

/// The blanks between two columns.
const GAP: &str = "  ";
/// The least width to which a column of texts is narrowed.
const NARROW: usize = 14;
/// A word of at most this width is not broken, if the column has place for it.
const WORD: usize = 24;

/// A terminal that a table is shown on: the default one has any width and no colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Terminal {
    /// The number of characters in a line; `None` for any.
    pub width: Option<usize>,
    /// True if it shows colours, by ANSI escape codes.
    pub has_colors: bool,
}

impl Terminal {
    /// Describes a terminal of a width, in characters.
    #[must_use]
    pub fn with_width(self, width: usize) -> Self {
        Self { width: Some(width), ..self }
    }

    /// Describes a terminal that shows colours.
    #[must_use]
    pub fn with_colors(self) -> Self {
        Self { has_colors: true, ..self }
    }
}

/// Columns side by side, with numbers aligned to the right. Rows are kept until the widths are known.
#[derive(Default)]
pub(super) struct Text {
    rows: Vec<Vec<String>>,
}

impl TableFormat for Text {
    fn begin(&mut self, _: &[Column], _: &mut Vec<u8>) {}

    fn row(&mut self, columns: &[Column], row: &[Value<'_>], _: &mut Vec<u8>) {
        self.rows.push(columns.iter().zip(row).map(|(column, value)| column.shown(value)).collect());
    }

    fn end(&mut self, columns: &[Column], out: &mut Vec<u8>) {
        let columns: Vec<&Column> = columns.iter().collect();
        out.extend_from_slice(shown(&columns, &self.rows, Terminal::default()).as_bytes());
    }
}

/// Returns a table as text. If the terminal is too narrow, texts and headings are wrapped; if that is not enough, columns
/// are left out, and a last line names them.
pub(super) fn shown(columns: &[&Column], rows: &[Vec<String>], terminal: Terminal) -> String {
    let headings: Vec<String> = columns.iter().map(|column| column.heading()).collect();
    let cells = |at: usize| rows.iter().filter_map(move |row| row.get(at)).map(String::as_str);
    let all: Vec<Fitted<'_>> = (0..)
        .zip(columns.iter().zip(&headings))
        .map(|(at, (column, heading))| Fitted::new(at, column, heading, cells(at)))
        .collect();
    let (kept, left_out) = fit(all, terminal.width);
    let mut text = String::new();
    let heading = |one: &Fitted<'_>| headings.get(one.at).map_or("", String::as_str);
    lines(&kept, heading, false, &mut text);
    let rules: Vec<String> = kept.iter().map(|one| "-".repeat(one.width)).collect();
    text += &rules.join(GAP);
    text.push('\n');
    for row in rows {
        let cell = |one: &Fitted<'_>| row.get(one.at).map_or("", String::as_str);
        lines(&kept, cell, terminal.has_colors, &mut text);
    }
    if !left_out.is_empty() {
        text +=
            &wrapped(&format!("(not shown: {})", left_out.join(", ")), terminal.width.unwrap_or(usize::MAX))
                .join("\n");
        text.push('\n');
    }
    text
}

/// A column with its width.
struct Fitted<'a> {
    /// Its place in the table.
    at: usize,
    column: &'a Column,
    width: usize,
    /// The least width that it can be given.
    least: usize,
}

impl<'a> Fitted<'a> {
    fn new<'b>(at: usize, column: &'a Column, heading: &str, cells: impl Iterator<Item = &'b str>) -> Self {
        let longest = |text: &str| text.split(' ').map(width).max().unwrap_or(0);
        let (mut widest, mut unbroken) = (0, 0);
        for cell in cells {
            widest = widest.max(width(cell));
            unbroken = unbroken.max(longest(cell));
        }
        let narrow = if column.is_number() { widest } else { widest.min(NARROW).max(unbroken.min(WORD)) };
        let least = longest(heading).max(narrow);
        Self { at, column, width: widest.max(width(heading)), least }
    }
}

/// Narrows columns, the widest first, and leaves out those that still have no place: of those with the least weight the
/// last, never the first. Returns what is left, and the names of what was left out.
fn fit(mut columns: Vec<Fitted<'_>>, width: Option<usize>) -> (Vec<Fitted<'_>>, Vec<String>) {
    let Some(width) = width else { return (columns, Vec::new()) };
    let total = |widths: &mut dyn Iterator<Item = usize>| -> usize {
        let widths: Vec<usize> = widths.collect();
        widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
    };
    let mut left_out = Vec::new();
    while columns.len() > 1 && total(&mut columns.iter().map(|one| one.least)) > width {
        let least = columns.iter().skip(1).map(|one| one.column.weight()).min();
        let last = columns.iter().rposition(|one| Some(one.column.weight()) == least);
        let one = columns.remove(last.filter(|at| *at > 0).unwrap_or(columns.len() - 1));
        left_out.push((one.at, one.column.heading()));
    }
    while total(&mut columns.iter().map(|one| one.width)) > width {
        let widest = columns.iter_mut().filter(|one| one.width > one.least).max_by_key(|one| one.width);
        match widest {
            Some(one) => one.width -= 1,
            None => break,
        }
    }
    left_out.sort();
    (columns, left_out.into_iter().map(|(_, heading)| heading).collect())
}

/// Writes one row, in as many lines as its highest cell has, without trailing blanks.
fn lines<'a>(columns: &[Fitted<'_>], cell: impl Fn(&Fitted<'_>) -> &'a str, colors: bool, text: &mut String) {
    let tone = |one: &Fitted<'_>| one.column.tone(cell(one)).filter(|_| colors);
    if columns.iter().all(|one| width(cell(one)) <= one.width) {
        return line(columns.iter().map(|one| (one, cell(one), tone(one))), text);
    }
    let cells: Vec<Vec<String>> = columns.iter().map(|one| wrapped(cell(one), one.width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..height {
        let parts = cells.iter().map(|parts| parts.get(at).map_or("", String::as_str));
        line(columns.iter().zip(parts).map(|(one, part)| (one, part, tone(one))), text);
    }
}

/// Writes one line of columns with their texts and tones.
fn line<'a, 'c: 'a>(parts: impl Iterator<Item = (&'a Fitted<'c>, &'a str, Option<Tone>)>, text: &mut String) {
    // Blanks are written only once something comes after them, since colours would hide those at the end.
    let mut blanks = 0;
    for (one, part, tone) in parts {
        let padding = one.width.saturating_sub(width(part));
        let (before, after) = if one.column.is_number() { (padding, 0) } else { (0, padding) };
        blanks += before;
        if !part.is_empty() {
            text.extend(iter::repeat_n(' ', blanks));
            toned(part, tone, text);
            blanks = 0;
        }
        blanks += after + GAP.len();
    }
    text.push('\n');
}

/// Writes a text in the colour of its tone.
fn toned(part: &str, tone: Option<Tone>, text: &mut String) {
    let code = match tone {
        None => return text.push_str(part),
        Some(Tone::Good) => "32",
        Some(Tone::Bad) => "31",
        Some(Tone::Doubt) => "33",
    };
    for piece in ["\u{1b}[", code, "m", part, "\u{1b}[0m"] {
        text.push_str(piece);
    }
}

/// Returns the number of cells of a terminal that a text fills: of printable ASCII, which most is, that of its bytes.
fn width(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) { text.len() } else { text.width() }
}

/// Breaks a text into lines of at most `width`, at blanks if there are any. An empty text has one line.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    if self::width(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let room = |line: &String| width.saturating_sub(self::width(line));
        let last = lines.last().map_or(0, room);
        match lines.last_mut() {
            Some(line) if line.is_empty() || self::width(word) < last => {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().flat_map(|line| pieces(line, width)).collect()
}

/// Breaks a word that is longer than a line.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for letter in word.chars() {
        let wide = letter.width().unwrap_or(0);
        if used + wide > width && used > 0 {
            pieces.push(String::new());
            used = 0;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(letter);
        }
        used += wide;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Table;
    use super::*;

    fn league() -> Table {
        Table::of(&[("perfectnio", 7204.5, "worse", "a sentence of some length"), ("go", 10.0, "better", "")])
            .column("framework", |row| Some(row.0.to_owned()))
            .column("throughput", |row| Some(row.1))
            .unit("1/s", 1)
            .column("outcome", |row| Some(row.2.to_owned()))
            .tones(&[("better", Tone::Good), ("worse", Tone::Bad)])
            .column("why", |row| Some(row.3.to_owned()))
            .minor()
            .done()
    }

    #[test]
    fn narrow_terminals_wrap_texts_and_headings() {
        assert_eq!(
            league().shown(Terminal::default().with_width(48)),
            "\
framework    throughput  outcome  why
                  (1/s)
----------  -----------  -------  --------------
perfectnio      7,204.5  worse    a sentence of
                                  some length
go                 10.0  better
"
        );
    }

    #[test]
    fn columns_without_place_are_named() {
        assert_eq!(
            league().shown(Terminal::default().with_width(26)),
            "\
framework       throughput
                     (1/s)
----------  --------------
perfectnio         7,204.5
go                    10.0
(not shown: outcome, why)
"
        );
    }

    #[test]
    fn columns_are_left_out_by_their_weight_and_words_stay_whole() {
        let table = Table::of(&[("go_mix", 1.5)])
            .column("run", |row| Some(row.0.to_owned()))
            .column("measure", |_| Some("failures_percent".to_owned()))
            .words(&[("failures_percent", "failures")])
            .major()
            .column("unit", |_| Some("%".to_owned()))
            .minor()
            .column("value", |row| Some(row.1))
            .column("outcome", |_| Some("a_word_of_some_length".to_owned()))
            .major()
            .column("p", |row| Some(row.1))
            .minor()
            .done();
        let shown = |width| table.shown(Terminal::default().with_width(width));
        let last = |width| shown(width).lines().last().map(str::to_owned);
        assert_eq!(last(54).as_deref(), Some("(not shown: p)"));
        assert_eq!(last(50).as_deref(), Some("(not shown: unit, p)"));
        assert_eq!(last(42).as_deref(), Some("(not shown: unit, value, p)"));
        let narrowest = shown(42);
        assert!(narrowest.contains("failures") && narrowest.contains("a_word_of_some_length"), "{narrowest}");
    }

    #[test]
    fn colours_are_those_of_the_words() {
        let text = league().shown(Terminal::default().with_colors());
        assert!(text.contains("  \u{1b}[31mworse\u{1b}[0m    a sentence"), "{text}");
        assert!(text.ends_with("\u{1b}[32mbetter\u{1b}[0m\n"), "{text}");
        assert!(!league().shown(Terminal::default()).contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_terminal_and_no_word_is_lost(
            cells in prop::collection::vec(("[a-z配]{0,30}", "([a-z]{1,9} ){0,9}"), 1..5), width in 40..120_usize,
        ) {
            let table = Table::of(&cells)
                .column("name", |row| Some(row.0.clone()))
                .column("text", |row| Some(row.1.clone()))
                .done();
            let text = table.shown(Terminal::default().with_width(width));
            for line in text.lines() {
                prop_assert!(line.width() <= width, "{line}");
            }
            let letters = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).count();
            let all: usize = cells.iter().map(|(name, words)| letters(name) + letters(words)).sum();
            prop_assert_eq!(letters(&text), all + "nametext".len());
        }
    }
}
