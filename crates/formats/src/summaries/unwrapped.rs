//! The text that a tool printed, without what others put around it: the colours of a terminal, the time or the name of a
//! container before each line, the marks of a quotation, and the two bytes a character of Windows' PowerShell.

use std::borrow::Cow;

use crate::work_count;

/// The fewest lines by which a prefix of each is recognised.
const LEAST: usize = 3;

/// The prefix of each line.
#[derive(Clone, Copy)]
enum LinePrefix {
    /// A time as in RFC 3339, and a blank.
    Time,
    /// The name of a container, blanks, a bar and a blank: `wrk_1  | `.
    Container,
    /// `> `.
    Quote,
}

/// Returns the text of some bytes. Bytes that are no UTF-8, or UTF-16 with its mark, are replaced. Lines stay lines.
pub fn unwrapped(bytes: &[u8]) -> Cow<'_, str> {
    work_count::count(bytes.len());
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)),
        _ if is_utf16(bytes) => Cow::Owned(utf16(bytes, u16::from_le_bytes)),
        _ => String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)),
    };
    let text = if text.contains('\u{1b}') { Cow::Owned(without_colours(&text)) } else { text };
    // Line ends of old systems.
    let is_of_returns = text.contains('\r') && !text.contains('\n');
    let text = if is_of_returns { Cow::Owned(text.replace('\r', "\n")) } else { text };
    match prefix_of(&text) {
        Some(prefix) => {
            Cow::Owned(text.split_inclusive('\n').map(|line| prefix.cut(line).unwrap_or(line)).collect())
        }
        None => text,
    }
}

/// Returns true for a text of two bytes a character: it has their mark, or is of Latin letters, whose second byte is 0.
pub fn is_utf16(bytes: &[u8]) -> bool {
    let begin = bytes.get(..64).unwrap_or(bytes).as_chunks::<2>().0;
    let is_latin =
        |[low, high]: &[u8; 2]| *high == 0 && (low.is_ascii_graphic() || low.is_ascii_whitespace());
    bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || begin.len() >= LEAST && begin.iter().all(is_latin)
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// A text without the sequences that set a terminal's colours: `ESC [`, numbers and a letter.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
        rest = rest.strip_prefix(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(rest);
    }
    plain.push_str(rest);
    plain
}

/// The prefix of nearly all lines that are not blank.
fn prefix_of(text: &str) -> Option<LinePrefix> {
    let filled = || text.lines().filter(|line| !line.trim().is_empty());
    let first = |prefix: &LinePrefix| filled().take(LEAST).any(|line| prefix.cut(line).is_some());
    let prefix = [LinePrefix::Time, LinePrefix::Container, LinePrefix::Quote].into_iter().find(first)?;
    let (mut with, mut all) = (0usize, 0usize);
    for line in filled() {
        all += 1;
        with += usize::from(prefix.cut(line).is_some());
    }
    (all >= LEAST && 10 * with >= 9 * all).then_some(prefix)
}

impl LinePrefix {
    /// Returns a line without this prefix; `None` if it has none.
    fn cut(self, line: &str) -> Option<&str> {
        match self {
            Self::Time => {
                let end = line.find(' ').unwrap_or(line.trim_end().len());
                let (time, rest) = line.split_at_checked(end)?;
                let is_time = time.len() <= 40 && time.as_bytes().get(10) == Some(&b'T');
                is_time.then(|| time.parse::<jiff::Timestamp>().ok())??;
                Some(rest.strip_prefix(' ').unwrap_or(rest))
            }
            Self::Container => {
                let (name, rest) = line.split_once('|')?;
                let bare = name.trim_end();
                let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
                let is_one = !bare.is_empty() && name.len() > bare.len() && bare.chars().all(is_name);
                is_one.then(|| rest.strip_prefix(' ').unwrap_or(rest))
            }
            Self::Quote => {
                let rest = line.strip_prefix('>')?;
                Some(rest.strip_prefix(' ').unwrap_or(rest))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: &str =
        "Running 2s test @ http://h:80/\n  2 threads and 16 connections\n\nRequests/sec: 5 | x\n";

    fn before_each(prefix: &str) -> String {
        PLAIN.lines().map(|line| format!("{prefix}{line}\n")).collect()
    }

    #[test]
    fn what_is_put_around_a_text_is_taken_off() {
        for prefix in ["2024-05-02T10:00:00.1234567Z ", "2024-05-02T10:00:00+02:00 ", "wrk_1  | ", "> "] {
            assert_eq!(unwrapped(before_each(prefix).as_bytes()), PLAIN, "{prefix}");
        }
        let coloured = PLAIN.replace("Running", "\u{1b}[1;32mRunning\u{1b}[0m");
        assert_eq!(unwrapped(coloured.as_bytes()), PLAIN);
        let units: Vec<u16> = PLAIN.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        assert_eq!(unwrapped(&[&b"\xff\xfe"[..], &little].concat()), PLAIN);
        assert_eq!(unwrapped(&[&b"\xfe\xff"[..], &big].concat()), PLAIN);
        assert_eq!(unwrapped(&little), PLAIN, "without its mark");
        assert_eq!(unwrapped(PLAIN.replace('\n', "\r").as_bytes()), PLAIN);
        assert_eq!(unwrapped(b"\xef\xbb\xbfa"), "a");
    }

    #[test]
    fn lines_of_other_texts_stay_as_they_are() {
        for text in [
            PLAIN,
            "a | b\nc | d\n",
            "2026-11-20 19:42:15 x\n",
            "> only\none\nline\n",
            "",
            "\u{1b}",
            "\u{1b}[31",
        ] {
            let expected = if text.starts_with("\u{1b}[") { "" } else { text };
            assert_eq!(unwrapped(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(text in prop::collection::vec(any::<u8>(), 0..60)) {
            unwrapped(&text);
        }
    }
}
