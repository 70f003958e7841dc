//! Test that the table of flags in the documentation is that of the command line.

use std::path::Path;

use clap::Command;

use super::Cli;

/// The line before the table.
const MARK: &str = "<!-- flags of all commands -->\n\n";

/// The flags that several commands have, and that mean the same in each.
const FLAGS: [&str; 6] = ["format", "output", "out", "page-format", "table", "from"];

/// Describes a flag of a command: its choices, or the name of its value; empty if the command does not have it.
fn cell(command: &Command, flag: &str) -> String {
    let Some(argument) = command.get_arguments().find(|argument| argument.get_long() == Some(flag)) else {
        return String::new();
    };
    let choices = argument.get_possible_values();
    let choices: Vec<&str> =
        choices.iter().filter(|one| !one.is_hide_set()).map(|one| one.get_name()).collect();
    let values = argument.get_value_names().into_iter().flatten().map(|name| name.as_str());
    if choices.is_empty() { values.collect::<Vec<_>>().join(" ") } else { choices.join(", ") }
}

fn table() -> String {
    let mut text =
        "| command | `--format` | `-o` | `--out` | `--page-format` | `--table` | `--from`, `--to` |\n\
                    |---|---|---|---|---|---|---|\n"
            .to_owned();
    let mut perfpipe = Cli::command();
    perfpipe.build();
    for command in perfpipe.get_subcommands() {
        let cells = FLAGS.map(|flag| cell(command, flag));
        if cells.iter().any(|cell| !cell.is_empty()) {
            text.push_str(&format!("| `{}` | {} |\n", command.get_name(), cells.join(" | ")));
        }
    }
    text
}

#[test]
fn table_of_flags_in_the_documentation_is_that_of_the_commands() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/shell.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, after) = page.split_once(MARK).unwrap();
    let rows = after.lines().take_while(|line| line.starts_with('|'));
    let length: usize = rows.map(|line| line.len() + 1).sum();
    let (shown, rest) = after.split_at(length);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(
            &path,
            format!("{before}{MARK}{}{}{rest}", table(), if length == 0 { "\n" } else { "" }),
        )
        .unwrap();
        return;
    }
    assert_eq!(shown, table(), "UPDATE_GOLDEN=1 writes it");
}

/// One flag, one kind of value: a file, a folder, a second, or formats.
#[test]
fn flags_of_one_name_have_one_kind_of_value_in_all_commands() {
    let mut perfpipe = Cli::command();
    perfpipe.build();
    for command in perfpipe.get_subcommands() {
        for (flag, expected) in [("output", "FILE"), ("out", "DIR"), ("from", "TIME"), ("to", "TIME")] {
            // The store that runs are copied to.
            let cell = cell(command, flag);
            let is_a_copy = command.get_name() == "copy" && flag == "to";
            assert!(
                cell.is_empty() || is_a_copy || cell == expected,
                "{} --{flag}: {cell}",
                command.get_name()
            );
        }
        for flag in ["format", "page-format", "table"] {
            let cell = cell(command, flag);
            let names = ["text", "svg", "csv"];
            assert!(
                cell.is_empty() || names.iter().any(|name| cell.starts_with(name)),
                "{}: {cell}",
                command.get_name()
            );
        }
        let short = command.get_arguments().find(|argument| argument.get_short() == Some('o'));
        assert_eq!(
            short.map(|argument| argument.get_long()),
            short.map(|_| Some("output")),
            "{}",
            command.get_name()
        );
    }
}
