//! Drawing on the whole of a terminal, by the control sequences that all have.

use std::io::{self, Write};

use perfpipe_analyze::format::one_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The heights of a column, from least to greatest.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The terminal's other screen, without the cursor. What was on the first one is shown again once this is dropped.
pub(super) struct Frame(());

impl Frame {
    pub(super) fn begin() -> io::Result<Self> {
        let frame = Self(());
        write!(io::stdout(), "\x1b[?1049h\x1b[?25l\x1b[2J")?;
        io::stdout().flush()?;
        Ok(frame)
    }

    /// Draws lines over those that were drawn before, as much of them as there is room for. Whatever stands in them, they
    /// do not act on the terminal.
    pub(super) fn draw(&mut self, lines: &[String], width: usize, height: usize) -> io::Result<()> {
        let mut text = String::from("\x1b[H");
        for (at, line) in lines.iter().take(height).enumerate() {
            if at > 0 {
                text.push_str("\r\n");
            }
            text.push_str(&clipped(&one_line(line), width));
            // To the end of the line, as it was drawn before.
            text.push_str("\x1b[K");
        }
        text.push_str("\x1b[J");
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let mut out = io::stdout().lock();
        let _ = write!(out, "\x1b[?25h\x1b[?1049l");
        let _ = out.flush();
    }
}

/// Returns a text of at most this many columns. Some characters take two of them.
fn clipped(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |character: &char| {
        taken += character.width().unwrap_or_default();
        taken < width
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Returns values as columns, at most `room` of them: each is the mean of as many values. A column without a value is blank.
pub(super) fn spark(values: &[Option<f64>], room: usize) -> String {
    let each = values.len().div_ceil(room.max(1)).max(1);
    let mean = |part: &[Option<f64>]| {
        let known: Vec<f64> = part.iter().copied().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let means: Vec<Option<f64>> = values.chunks(each).map(mean).collect();
    let most = means.iter().copied().flatten().fold(0.0, f64::max);
    let column = |mean: &Option<f64>| match mean {
        None => ' ',
        Some(mean) => height(*mean, most),
    };
    means.iter().map(column).collect()
}

/// Returns the column of a value, of which the greatest is `most`.
fn height(value: f64, most: f64) -> char {
    let share = if most > 0.0 { value / most } else { 0.0 };
    let at = (share * (HEIGHTS.len() - 1) as f64).round() as usize;
    HEIGHTS.get(at).copied().unwrap_or('█')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_means_and_absent_values_are_blank() {
        let some = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(spark(&some(&[0.0, 7.0, 3.5]), 10), "▁█▅");
        assert_eq!(spark(&[Some(2.0), None, Some(4.0)], 3), "▅ █");
        assert_eq!(spark(&some(&[1.0, 3.0, 4.0, 4.0]), 2), "▅█");
        assert_eq!(spark(&some(&[0.0, 0.0]), 2), "▁▁");
        assert_eq!(spark(&[], 2), "");
    }

    #[test]
    fn text_that_is_too_long_is_cut() {
        assert_eq!(clipped("abcdef", 6), "abcdef");
        assert_eq!(clipped("abcdef", 4), "abc…");
        assert_eq!(clipped("測試測試", 8), "測試測試");
        assert_eq!(clipped("測試測試", 6), "測試…");
        assert_eq!(clipped("測試測試", 5), "測試…");
        assert_eq!(clipped("測試", 1), "…");
    }
}
