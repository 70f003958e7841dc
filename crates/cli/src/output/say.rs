//! What a command says on standard error: notes, warnings, and messages that are always printed.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest number of characters shown of a sentence.
const SENTENCE: usize = 1500;

/// True if notes and progress are not to be printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints no more notes and no progress from now on.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Returns true if notes and progress are not to be printed.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a note to standard error, on one line, unless notes are not wanted (`--quiet`).
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        print_message(text);
    }
}

/// Prints to standard error that something may be wrong, on one line: what, and what to do.
pub(crate) fn warn(text: &str) {
    print_message(&format!("warning: {text}"));
}

/// Prints a message to standard error, on one line, whether notes are wanted or not.
pub(crate) fn print_message(text: &str) {
    // If standard error is closed, nobody reads the message.
    let _ = writeln!(io::stderr(), "{}", sentence(text));
}

/// Makes a sentence safe for terminals, whatever names it contains: without control characters, and with its middle cut
/// out if it is very long.
pub(crate) fn sentence(text: &str) -> String {
    let line = perfpipe_analyze::format::one_line(text);
    let length = line.chars().count();
    if length <= SENTENCE {
        return line;
    }
    let begin: String = line.chars().take(SENTENCE / 2).collect();
    let end: String = line.chars().skip(length - SENTENCE / 2).collect();
    format!("{begin} … {end}")
}

#[cfg(test)]
mod tests {
    use super::{SENTENCE, sentence};

    #[test]
    fn sentence_is_one_line_of_bounded_length() {
        assert_eq!(sentence("a\nb \u{1b}[31m"), r"a\nb \u{1b}[31m");
        let long = format!("run {} is not there", "x".repeat(10_000));
        let shown = sentence(&long);
        assert!(shown.chars().count() < SENTENCE + 10, "{shown}");
        assert!(shown.starts_with("run x") && shown.ends_with("x is not there"), "{shown}");
    }
}
