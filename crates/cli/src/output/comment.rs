//! A comment on a pull request, as Markdown: the verdict first, a short table, and all else folded away.
//!
//! Names, labels and rules come from strangers. Whatever is written into a comment is text: it is neither Markdown nor
//! HTML, mentions nobody and refers to no issue.

use perfpipe_analyze::format::{counted, decimals, one_line, thousands};

/// The largest number of characters of a comment on GitHub.
const MOST: usize = 65_536;

/// Characters that are kept for all that is neither the verdict, nor a row, a note or the marker.
const FRAME: usize = 2_000;

/// The number of rows that are not folded away.
const SHOWN: usize = 5;

/// The largest number of characters of a text from outside.
const TEXT: usize = 400;

/// Prevents that a mention or a reference is recognised: a space without width.
const BREAK: &str = "&#8203;";

/// A comment that is being made. Equal contents give equal bytes.
pub(crate) struct Comment {
    marker: String,
    verdict: Line,
    columns: &'static [CommentColumn],
    rows: Vec<Vec<Line>>,
    notes: Vec<String>,
}

/// A column of a comment's table.
pub(crate) enum CommentColumn {
    /// Of texts.
    Text(&'static str),
    /// Of numbers, which are aligned to the right.
    Number(&'static str),
}

impl Comment {
    /// Begins a comment with its first line. By the command and what it is about, the comment of one gate is distinguished
    /// from those of others: they are in the marker at its end, by which it is found again.
    pub(crate) fn new<'a>(command: &str, about: impl IntoIterator<Item = &'a str>, verdict: Line) -> Self {
        let about = about.into_iter().map(encoded);
        let marker = std::iter::once(encoded(command)).chain(about).collect::<Vec<_>>().join(" ");
        Self { marker, verdict, columns: &[], rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds the table, whose first rows matter most. Columns that no row has a value for are left out.
    pub(crate) fn table(self, columns: &'static [CommentColumn], rows: Vec<Vec<Line>>) -> Self {
        Self { columns, rows, ..self }
    }

    /// Adds remarks, which are folded away.
    pub(crate) fn notes(self, notes: impl IntoIterator<Item = String>) -> Self {
        Self { notes: notes.into_iter().collect(), ..self }
    }

    /// Returns the comment as Markdown, of at most 65,536 characters.
    pub(crate) fn text(&self) -> String {
        let (lines, notes) =
            (self.lines(), self.notes.iter().map(|note| format!("- {}\n", Line::text(note).0)));
        let marker = format!("<!-- perfpipe:{} -->\n", self.marker);
        let mut room = MOST.saturating_sub(FRAME + length(&marker) + length(&self.verdict.0));
        let all = lines.rows.len() + self.notes.len();
        let rows = fitting(lines.rows, &mut room);
        let notes = fitting(notes, &mut room);
        let (shown, folded) = rows.split_at(rows.len().min(SHOWN));
        let mut text = format!("{}\n\n", self.verdict.0);
        if !shown.is_empty() {
            text += &format!("{}{}\n", lines.head, shown.concat());
        }
        let hidden: Vec<String> = [(folded.len(), "more row"), (notes.len(), "note")]
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, thing)| counted(number as u64, thing))
            .collect();
        if !hidden.is_empty() {
            text += &format!("<details>\n<summary>{}</summary>\n\n", hidden.join(", "));
            if !folded.is_empty() {
                text += &format!("{}{}\n", lines.head, folded.concat());
            }
            if !notes.is_empty() {
                text += &format!("{}\n", notes.concat());
            }
            text += "</details>\n\n";
        }
        let left_out = all - rows.len() - notes.len();
        if left_out > 0 {
            let (number, most) = (counted(left_out as u64, "row"), thousands(MOST as u64));
            text += &format!("{number} left out: a comment has at most {most} characters.\n\n");
        }
        text + &marker
    }

    /// Returns the lines of the table, of the columns that have a value.
    fn lines(&self) -> TableLines {
        let has_value =
            |at: &usize| self.rows.iter().any(|row| row.get(*at).is_some_and(|cell| !cell.0.is_empty()));
        let kept: Vec<usize> = (0..self.columns.len()).filter(has_value).collect();
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let columns = || kept.iter().filter_map(|at| self.columns.get(*at));
        let title = |column: &CommentColumn| match column {
            CommentColumn::Text(title) | CommentColumn::Number(title) => *title,
        };
        let rule = |column: &CommentColumn| match column {
            CommentColumn::Text(_) => "---",
            CommentColumn::Number(_) => "---:",
        };
        let head = line(columns().map(title).collect()) + &line(columns().map(rule).collect());
        let row = |row: &Vec<Line>| {
            let cell = |at: &usize| row.get(*at).map(|cell| cell.0.as_str()).filter(|cell| !cell.is_empty());
            line(kept.iter().map(|at| cell(at).unwrap_or("-")).collect())
        };
        TableLines { head, rows: self.rows.iter().map(row).collect() }
    }
}

/// A table as lines of Markdown.
struct TableLines {
    head: String,
    rows: Vec<String>,
}

/// Takes the first lines that there is room for.
fn fitting(lines: impl IntoIterator<Item = String>, room: &mut usize) -> Vec<String> {
    let fits = |line: &String| {
        let left = room.checked_sub(length(line));
        *room = left.unwrap_or(0);
        left.is_some()
    };
    lines.into_iter().take_while(fits).collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Encodes a name so that it is no end of an HTML comment, and different names stay different.
fn encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes().take(TEXT) {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'.' | b'/' | b'#' | b'@' => {
                text.push(byte.into())
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

/// A piece of a line of Markdown, which shows the texts that it is made of as they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Line(String);

impl Line {
    /// Returns a text.
    pub(crate) fn text(text: &str) -> Self {
        Self(escaped(&bounded(text)))
    }

    /// Returns a name or a rule, which is shown as code.
    pub(crate) fn code(text: &str) -> Self {
        let text = bounded(text);
        // Within code, a backtick and, in a table, a bar need rules of their own.
        let is_plain = text.trim().is_empty() || text.contains(['`', '|']);
        Self(if is_plain { escaped(&text) } else { format!("`{text}`") })
    }

    /// Appends a text.
    pub(crate) fn and(self, text: &str) -> Self {
        self.and_line(&Self::text(text))
    }

    /// Appends a name or a rule.
    pub(crate) fn and_code(self, text: &str) -> Self {
        self.and_line(&Self::code(text))
    }

    /// Appends a line.
    pub(crate) fn and_line(self, other: &Self) -> Self {
        Self(self.0 + &other.0)
    }

    /// Prints it in bold.
    pub(crate) fn bold(self) -> Self {
        Self(format!("**{}**", self.0))
    }
}

/// Puts a text on one line of bounded length.
fn bounded(text: &str) -> String {
    let line = one_line(text);
    if length(&line) <= TEXT {
        return line;
    }
    line.chars().take(TEXT - 1).chain(['…']).collect()
}

/// Escapes a text, so that nothing in it is Markdown, HTML, a link, a mention or a reference.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if matches!(
            letter,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '!' | '#' | '$'
        ) {
            out.push('\\');
        }
        out.push(letter);
        let next = letters.peek().copied();
        let ends = |end: &str| out.to_ascii_lowercase().ends_with(end);
        // Services look for these in what is rendered, where the backslash is gone: GitHub for `@name`, `#1`, `GH-1` and
        // addresses, GitLab for names after the others, too.
        let is_broken = match letter {
            '@' | '#' | '!' | '&' | '~' | '$' | '%' => {
                next.is_some_and(|next| next.is_alphanumeric() || next == '"')
            }
            ':' => next == Some('/'),
            '.' => ends("www."),
            '-' => ends("gh-"),
            _ => false,
        };
        if is_broken {
            out.push_str(BREAK);
        }
    }
    out
}

/// The change of a figure from its baseline, as people read it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shift {
    amount: Option<f64>,
    interval: Option<(f64, f64)>,
    unit: &'static str,
    places: usize,
}

impl Shift {
    /// Describes a change in percent with its 99 % interval.
    pub(crate) fn percent(amount: Option<f64>, interval: Option<(f64, f64)>) -> Self {
        Self { amount, interval, unit: "%", places: 1 }
    }

    /// Describes a change of a share, with its 99 % interval: both in percentage points.
    pub(crate) fn points(amount: Option<f64>, interval: Option<(f64, f64)>) -> Self {
        Self { amount, interval, unit: "percentage points", places: 2 }
    }

    /// Returns a sentence such as "p95 is 4.1 % worse (99 %: 2.0 to 6.3 %)", whose first part is bold.
    pub(crate) fn sentence(&self, before: &str, figure: &Line, how: &str) -> Line {
        let Self { amount, interval, unit, places } = *self;
        let begin = Line::text(before).and_line(figure).and(&format!(" {} ", is(&figure.0)));
        let Some(amount) = amount else { return begin.and(how).bold() };
        // What is 4 % less is so by −4 %.
        let turned = |value: f64| if amount < 0.0 { -value } else { value };
        let number = |value: f64| unsigned_zero(decimals(turned(value), places));
        let begin = begin.and(&format!("{} {unit} {how}", number(amount))).bold();
        let Some((low, high)) = interval else { return begin };
        let (low, high) = if amount < 0.0 { (high, low) } else { (low, high) };
        begin.and(&format!(" (99 %: {} to {}{})", number(low), number(high), self.short_unit()))
    }

    /// Returns the unit behind an interval, where it is short enough to be repeated.
    fn short_unit(&self) -> &'static str {
        if self.unit == "%" { " %" } else { "" }
    }

    /// Returns how large the change is, whatever its direction; without end if that is not known.
    pub(crate) fn size(&self) -> f64 {
        self.amount.map_or(f64::INFINITY, f64::abs)
    }

    /// Returns the change alone, such as "+4.1 % (99 %: +2.0 to +6.3 %)"; empty if it is not known.
    pub(crate) fn cell(&self) -> Line {
        let Self { amount, interval, unit, places } = *self;
        let number = |value: f64| signed(value, places);
        let Some(amount) = amount else { return Line::default() };
        let begin = format!("{} {unit}", number(amount));
        Line::text(&match interval {
            Some((low, high)) => {
                format!("{begin} (99 %: {} to {}{})", number(low), number(high), self.short_unit())
            }
            None => begin,
        })
    }
}

/// Returns the verb after the name of a figure.
pub(crate) fn is(figure: &str) -> &'static str {
    if figure.starts_with("failures") { "are" } else { "is" }
}

/// Writes a number with its sign.
fn signed(value: f64, places: usize) -> String {
    let digits = unsigned_zero(decimals(value, places));
    if value > 0.0 && !digits.starts_with('-') { format!("+{digits}") } else { digits }
}

/// Removes the sign of what was rounded to zero.
fn unsigned_zero(digits: String) -> String {
    match digits.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => digits,
    }
}

/// Returns a number with its unit as a cell; empty if it is absent.
pub(crate) fn number_cell(value: Option<f64>, places: usize, unit: &str) -> Line {
    let space = if unit.is_empty() { "" } else { " " };
    value.map_or_else(Line::default, |value| {
        Line::text(&format!("{}{space}{unit}", unsigned_zero(decimals(value, places))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[CommentColumn] =
        &[CommentColumn::Text("run"), CommentColumn::Number("value"), CommentColumn::Text("note")];

    fn rows(number: usize, label: &str) -> Vec<Vec<Line>> {
        (0..number)
            .map(|at| {
                vec![
                    Line::code(&format!("{label}{at}")),
                    number_cell(Some(at as f64), 1, "ms"),
                    Line::default(),
                ]
            })
            .collect()
    }

    fn comment(number: usize, label: &str) -> Comment {
        Comment::new("check", ["2048"], Line::text("all is well").bold()).table(COLUMNS, rows(number, label))
    }

    #[test]
    fn verdict_comes_first_and_the_marker_last() {
        assert_eq!(
            comment(2, "go").text(),
            "**all is well**\n\n| run | value |\n| --- | ---: |\n| `go0` | 0.0 ms |\n| `go1` | 1.0 ms |\n\n\
             <!-- perfpipe:check 2048 -->\n"
        );
    }

    #[test]
    fn rows_after_the_fifth_and_notes_are_folded() {
        let text = comment(7, "go").notes(["see #7".to_owned()]).text();
        let (shown, folded) =
            text.split_once("<details>\n<summary>2 more rows, 1 note</summary>\n\n| run").unwrap();
        assert!(shown.contains("`go4`") && !shown.contains("`go5`"), "{text}");
        assert!(folded.contains("`go5`") && folded.contains("- see \\#&#8203;7\n\n</details>\n"), "{text}");
    }

    #[test]
    fn comment_that_is_too_long_lacks_rows_and_says_so() {
        let text = comment(5_000, &"配".repeat(100)).text();
        assert!(length(&text) <= MOST && length(&text) > MOST - 2 * FRAME, "{}", length(&text));
        let (rows, end) = text.split_once("</details>\n\n").unwrap();
        let left_out = thousands(5_000 - rows.matches(" ms |").count() as u64);
        let expected = format!("{left_out} rows left out: a comment has at most 65,536 characters.\n\n<!-- ");
        assert!(end.starts_with(&expected), "{end}");
    }

    #[test]
    fn texts_of_strangers_are_no_markup() {
        for (text, expected) in [
            ("a|b", "a\\|b"),
            ("</details><img src=x>", "\\</details\\>\\<img src=x\\>"),
            ("**x** _y_ `z`", "\\*\\*x\\*\\* \\_y\\_ \\`z\\`"),
            ("thanks @octocat", "thanks @&#8203;octocat"),
            ("fixes #12, a/b#3, GH-4", "fixes \\#&#8203;12, a/b\\#&#8203;3, GH-&#8203;4"),
            ("[x](https://example.org)", "\\[x\\](https:&#8203;//example.org)"),
            ("www.example.org", "www.&#8203;example.org"),
            ("one\ntwo", "one\\\\ntwo"),
            ("p95 is 4.1 % worse, -2.0", "p95 is 4.1 % worse, -2.0"),
        ] {
            assert_eq!(escaped(&bounded(text)), expected);
        }
        assert_eq!(Line::code("p95 of \"@all #1\" < 5").0, "`p95 of \"@all #1\" < 5`");
        assert_eq!(Line::code("a`b|c").0, "a\\`b\\|c");
    }

    #[test]
    fn marker_can_t_be_left() {
        let text = Comment::new("check", ["a --> b", "a--b"], Line::default()).text();
        assert_eq!(text.lines().last(), Some("<!-- perfpipe:check a%20%2D%2D%3E%20b a%2D%2Db -->"));
    }

    #[test]
    fn changes_are_told_in_the_direction_of_the_word() {
        let worse = Shift::percent(Some(-4.12), Some((-6.3, -1.96)));
        let figure = Line::text("throughput");
        assert_eq!(
            worse.sentence("", &figure, "worse").0,
            "**throughput is 4.1 % worse** (99 %: 2.0 to 6.3 %)"
        );
        assert_eq!(worse.cell().0, "-4.1 % (99 %: -6.3 to -2.0 %)");
        let failures = Shift::points(Some(0.5), None).sentence("Failed: ", &Line::text("failures"), "worse");
        assert_eq!(failures.0, "**Failed: failures are 0.50 percentage points worse**");
        assert_eq!(Shift::percent(Some(-0.01), Some((-0.04, 3.0))).cell().0, "0.0 % (99 %: 0.0 to +3.0 %)");
    }

    /// No text, wherever it stands, adds a line, a cell or an end of a comment.
    #[test]
    fn comment_has_the_same_form_whatever_the_texts_are() {
        let pieces = [
            "-",
            "--",
            "->",
            "<!--",
            "-->",
            "</details>",
            "|",
            "`",
            "``",
            "\\",
            "\n",
            "\r",
            "@all",
            "#1",
            "**",
            " ",
            "a",
        ];
        for at in 0..pieces.len().pow(3) {
            let piece = |power: u32| pieces[at / pieces.len().pow(power) % pieces.len()];
            let text = [piece(0), piece(1), piece(2)].concat();
            let row = vec![Line::code(&text), Line::text(&text), Line::text("x").and(&text)];
            let comment = Comment::new("check", [text.as_str()], Line::text("y").and_code(&text))
                .table(COLUMNS, vec![row])
                .notes([text.clone()]);
            let written = comment.text();
            assert_eq!(
                (written.matches("\n<!--").count(), written.matches("-->\n").count()),
                (1, 1),
                "{written}"
            );
            assert_eq!(written.lines().count(), 14, "{written}");
            let row = written.lines().nth(4).unwrap().replace("\\\\", "").replace("\\|", "");
            assert_eq!(row.matches('|').count(), 4, "{written}");
            assert!(!written.contains("\n</details>\n\n</details>"), "{written}");
        }
    }
}
