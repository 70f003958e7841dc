//! Tests of the command line and what becomes of it: options, views, styles of pages, and the examples in the help.

mod examples;
mod flag_table;
mod flags;
mod options;

use super::{Cli, Command, parse};

/// Splits a line into words as a shell does.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for character in line.chars() {
        match (quote, character) {
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == character => quote = None,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Parses a line, given without `perfpipe`.
fn command(line: &str) -> Command {
    parse(words(&format!("perfpipe {line}"))).unwrap_or_else(|error| panic!("{line}: {error}")).command
}

/// The kind of error for a line that is refused.
fn refused(line: &str) -> clap::error::ErrorKind {
    match parse(words(&format!("perfpipe {line}"))) {
        Ok(cli) => panic!("{line} is taken as {cli:?}"),
        Err(error) => {
            assert_eq!(error.exit_code(), 2, "{line}");
            error.kind()
        }
    }
}
