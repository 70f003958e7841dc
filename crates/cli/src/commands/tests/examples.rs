//! Tests that the examples in the help are valid command lines.

use super::{Cli, parse, words};
use crate::commands::shell;

/// The command lines in the examples of a help: everything that begins with `perfpipe`, also after a pipe.
fn examples(command: &clap::Command) -> Vec<String> {
    let text = command.get_after_long_help().or(command.get_after_help());
    let text = text.map(ToString::to_string).unwrap_or_default();
    let of_line = |line: &str| {
        let at = line.find("perfpipe ").filter(|_| line.starts_with("  "))?;
        let line = line.get(at..)?.split("   ").next()?;
        Some(line.split(" > ").next().unwrap_or(line).to_owned())
    };
    text.lines().filter_map(of_line).collect()
}

#[test]
fn command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn each_command_has_examples_and_each_example_is_taken() {
    let mut perfpipe = Cli::command();
    perfpipe.build();
    let mut count = 0;
    for command in std::iter::once(&perfpipe).chain(perfpipe.get_subcommands()) {
        if command.get_name() == "help" {
            continue;
        }
        let all = examples(command);
        let own = |line: &String| words(line).get(1).is_some_and(|word| word == command.get_name());
        assert!(
            command.get_name() == "perfpipe" || all.iter().any(own),
            "{} has no example",
            command.get_name()
        );
        for line in &all {
            if let Err(error) = parse(words(line)) {
                panic!("{line}: {error}");
            }
        }
        count += all.len();
    }
    assert!(count > 40, "only {count} examples were found");
}

/// A newcomer reads the short help: what it has fits a screen.
#[test]
fn short_help_has_at_most_ten_flags_and_they_exist() {
    let mut perfpipe = Cli::command();
    perfpipe.build();
    for command in perfpipe.get_subcommands().filter(|command| command.get_name() != "help") {
        let shown = command
            .get_arguments()
            .filter(|arg| !arg.is_positional() && !arg.is_hide_set() && !arg.is_hide_short_help_set());
        let own = shown.filter(|arg| !["help", "version"].contains(&arg.get_id().as_str())).count();
        assert!(own <= 12 && (command.get_name() != "ingest" || own == 10), "{}: {own}", command.get_name());
        for id in shell::first(command.get_name()).into_iter().flatten() {
            assert!(
                command.get_arguments().any(|arg| arg.get_id() == id),
                "{} has no {id}",
                command.get_name()
            );
        }
        let mut short = command.clone();
        let lines = short.render_help().to_string().lines().count();
        assert!(lines <= 60, "{}: {lines} lines", command.get_name());
    }
}

#[test]
fn example_with_a_flag_that_is_not_there_would_be_found() {
    let broken =
        clap::Command::new("x").after_help("Examples:\n  perfpipe list --bogus > x\n  cat x | perfpipe list");
    let all = examples(&broken);
    assert_eq!(all, ["perfpipe list --bogus", "perfpipe list"]);
    assert!(parse(words(&all[0])).is_err() && parse(words(&all[1])).is_ok());
}

#[test]
fn every_flag_and_argument_has_a_help_in_plain_words() {
    let mut perfpipe = Cli::command();
    perfpipe.build();
    for command in perfpipe.get_subcommands() {
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let name = format!("{} {}", command.get_name(), argument.get_id());
            assert!(help.starts_with(|first: char| first.is_uppercase()), "{name}: {help:?}");
            for riddle in ["How to say", "What is ", "in the place of", "of these"] {
                assert!(!help.contains(riddle), "{name}: {help:?}");
            }
        }
    }
}
