//! The short help of `-h`: of commands with many flags those for the first time; `--help` has all.

use clap::{ArgAction, Command};

/// The largest number of examples in a short help.
const EXAMPLES: usize = 4;

/// The flags for the first time, of commands that have many: by their ids.
const FIRST: [(&str, &[&str]); 12] = [
    (
        "ingest",
        &[
            "framework",
            "test",
            "append_repeat",
            "frameworks",
            "name",
            "dry_run",
            "out",
            "time_zone",
            "store",
            "database",
        ],
    ),
    (
        "watch",
        &[
            "framework",
            "test",
            "append_repeat",
            "idle_end",
            "rules",
            "abort_after",
            "serve",
            "store",
            "database",
        ],
    ),
    ("diagnose", &["framework", "test", "repeat", "cores", "phase", "format", "output", "store", "database"]),
    (
        "attach-cpu",
        &["cpu_from", "cpu_scale", "cores", "cpu_offset", "time_zone", "replace", "store", "database"],
    ),
    ("attach-series", &["series", "unit", "framework", "test", "repeat", "time_zone", "store", "database"]),
    ("inspect", &["framework", "test", "name", "time_zone", "format", "output"]),
    (
        "report",
        &["test", "framework", "phase", "format", "output", "out", "table", "order_by", "store", "database"],
    ),
    ("compare", &["test", "framework", "tag", "phase", "format", "output", "out", "store", "database"]),
    ("trend", &["test", "by", "framework", "phase", "format", "output", "out", "store", "database"]),
    ("sweep", &["test", "framework", "by", "at", "name", "format", "output", "out", "store", "database"]),
    ("check", &["test", "rules", "baseline", "phase", "format", "junit", "github", "store", "database"]),
    (
        "export",
        &["what", "format", "output", "percentiles", "label", "phase", "from", "to", "store", "database"],
    ),
];

/// Returns the flags of a command for the first time; `None` if all of them are.
pub(crate) fn first(command: &str) -> Option<&'static [&'static str]> {
    FIRST.iter().find(|(name, _)| *name == command).map(|(_, first)| *first)
}

/// Gives a command its short help: the first flags, and a few examples.
pub(crate) fn shorten(command: Command) -> Command {
    let Some(first) = first(command.get_name()) else { return command };
    let command = command.mut_args(|arg| {
        let is_shown = arg.is_positional() || first.contains(&arg.get_id().as_str());
        arg.hide_short_help(!is_shown)
    });
    let long = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let lines: Vec<&str> = long.lines().take_while(|line| !line.is_empty()).take(EXAMPLES + 1).collect();
    let short =
        format!("{}\n\n`perfpipe {} --help` explains all flags.", lines.join("\n"), command.get_name());
    command.after_help(short).after_long_help(long)
}

/// Hides flags of all commands from the short helps.
pub(crate) fn hide(perfpipe: Command, hidden: &[&str]) -> Command {
    perfpipe.mut_args(|arg| {
        let is_flag = !matches!(arg.get_action(), ArgAction::Help | ArgAction::Version);
        if is_flag && hidden.contains(&arg.get_id().as_str()) { arg.hide_short_help(true) } else { arg }
    })
}
