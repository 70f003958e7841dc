//! Notes about a run's files, with the flags that help.

use perfpipe_analyze::format::thousands;
use perfpipe_ingest::inspection::ClockGuess;
use perfpipe_ingest::run::{Note, NoteKind};

use super::say::{note, warn};
use crate::error::with_flags;

/// What is known beside a note when its remedy is looked for.
#[derive(Clone, Copy, Default)]
pub(crate) struct NoteFacts<'a> {
    /// The name of the run.
    pub(crate) run: Option<&'a str>,
    /// A guess at what is wrong with the clocks, if the CPU readings miss the run.
    pub(crate) clock: Option<&'a ClockGuess>,
}

/// Prints a note, or a warning with its remedy; `before` comes first.
pub(crate) fn print(said: &Note, before: &str, facts: NoteFacts<'_>) {
    let text = format!("{before}{}", with_hint(said, facts));
    if said.is_warning() { warn(&text) } else { note(&text) }
}

/// Returns a note with what can be done about it.
pub(crate) fn with_hint(said: &Note, facts: NoteFacts<'_>) -> String {
    let text = with_flags(said.to_string());
    match hint(said.kind(), facts) {
        Some(hint) => format!("{text}; {hint}"),
        None => text,
    }
}

fn hint(kind: NoteKind, facts: NoteFacts<'_>) -> Option<String> {
    let hint = match kind {
        NoteKind::LongLookback => "--cpu-lookback sets another time",
        NoteKind::CpuApart => return Some(of_clocks(facts)),
        NoteKind::PerhapsFraction { cores } => {
            let cores = cores.map_or_else(|| "N".to_owned(), |cores| cores.to_string());
            return Some(format!("if so, give --cpu-scale fraction --cores {cores}"));
        }
        NoteKind::PerhapsOfMachine { cores } => {
            return Some(format!("if so, give --cpu-scale percent-of-machine --cores {cores}"));
        }
        NoteKind::PerhapsOfCore => "if so, give --cpu-scale percent-of-core",
        NoteKind::PerhapsPercent => "if so, give --cpu-scale percent-of-machine or percent-of-core",
        NoteKind::MoreThanCores => "see --cores",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns what to do about CPU readings of another time than the run's.
fn of_clocks(NoteFacts { run, clock }: NoteFacts<'_>) -> String {
    match (clock, run) {
        (Some(guess), _) => format!(
            "the clocks may differ by {}: ingest it again with {}, so that {} seconds have a reading",
            hours(guess.shift.unsigned_abs()),
            flags(guess),
            thousands(guess.covered)
        ),
        (None, Some(run)) => format!(
            "if they are of another run, attach the right ones with `perfpipe attach-cpu {} FILE`; otherwise correct \
             their clock with --cpu-offset or --time-zone",
            shell_word(run)
        ),
        (None, None) => "see --cpu-offset and --time-zone".to_owned(),
    }
}

/// Names the flags that correct a clock, as in `--time-zone +02:00, or --cpu-offset 7200`.
pub(crate) fn flags(guess: &ClockGuess) -> String {
    let zone = guess.time_zone.as_ref().map(|zone| format!("--time-zone {zone}, or ")).unwrap_or_default();
    format!("{zone}--cpu-offset {}", guess.cpu_offset)
}

/// Formats a number of seconds, in hours if it has any.
pub(crate) fn hours(seconds: u64) -> String {
    match (seconds / 3600, seconds % 3600) {
        (1, 0) => "1 hour".to_owned(),
        (hours @ 1.., 0) => format!("{hours} hours"),
        (0, rest) if rest < 60 => format!("{rest} s"),
        (0, rest) => format!("{} min", rest / 60),
        (hours, rest) => format!("{hours} h {} min", rest / 60),
    }
}

/// Returns a name as a word of a shell's command line, in quotes if it needs them: it may come from a log.
pub(crate) fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+,".contains(c);
    match !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_are_told_in_hours() {
        assert_eq!(
            (hours(3600), hours(19_800), hours(900), hours(7200)),
            ("1 hour".into(), "5 h 30 min".into(), "15 min".into(), "2 hours".into())
        );
    }

    #[test]
    fn names_are_quoted_where_a_shell_would_read_more_than_a_name() {
        assert_eq!(shell_word("127.0.0.1:9000_2048"), "127.0.0.1:9000_2048");
        assert_eq!(shell_word("go_2048#2"), "'go_2048#2'");
        assert_eq!(shell_word("a'b $x"), r"'a'\''b $x'");
        assert_eq!((shell_word(""), shell_word("--x")), ("''".into(), "'--x'".into()));
    }
}
