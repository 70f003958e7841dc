//! What a shell is given: help, completions and manual pages.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgAction, Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::{NoStoreArgs, StoreArgs};
use crate::input::idle_flags;
use crate::output::print_written;
use crate::output::{Output, page_folder, write_file};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe completions bash > ~/.local/share/bash-completion/completions/perfpipe\n  \
    perfpipe completions zsh > ~/.zfunc/_perfpipe\n  \
    perfpipe completions fish > ~/.config/fish/completions/perfpipe.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell to write the script for
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: Shell,
    #[command(flatten)]
    pub(super) no_store: NoStoreArgs,
}

/// Prints the completion script of a shell.
pub(super) fn print_completions(
    args: &CompletionsArgs,
    store: &StoreArgs,
    mut perfpipe: Command,
) -> Result<()> {
    idle_flags::check_no_store(&args.no_store, store)?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut perfpipe, "perfpipe", &mut script);
    let mut output = Output::open(None)?;
    output.write_all(&script)?;
    output.finish()
}

/// The largest number of examples in a short help.
const EXAMPLES: usize = 4;

/// The flags for the first time, of commands that have many: by their ids.
const FIRST: [(&str, &[&str]); 16] = [
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
    (
        "alternate",
        &[
            "log",
            "framework",
            "test",
            "pairs",
            "stop_early",
            "together",
            "sides",
            "decide",
            "fail_on",
            "store",
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
    (
        "compare",
        &["test", "framework", "tag", "fail_on", "phase", "format", "output", "out", "store", "database"],
    ),
    (
        "trend",
        &["test", "by", "framework", "fail_on", "phase", "format", "output", "out", "store", "database"],
    ),
    (
        "plan",
        &[
            "test",
            "framework",
            "by",
            "change",
            "runs",
            "minutes",
            "pairs",
            "phase",
            "format",
            "store",
            "database",
        ],
    ),
    (
        "capacity",
        &[
            "run",
            "test",
            "framework",
            "slo",
            "by",
            "by_label",
            "label",
            "format",
            "output",
            "store",
            "database",
        ],
    ),
    (
        "drop",
        &[
            "framework",
            "test",
            "repeat",
            "tag",
            "older_than",
            "keep_tagged",
            "dry_run",
            "points",
            "part",
            "yes",
            "store",
            "database",
        ],
    ),
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
pub(super) fn shorten(command: Command) -> Command {
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

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe man --out ~/.local/share/man/man1\n  \
    perfpipe man --out man")]
pub(crate) struct ManArgs {
    /// Folder for the pages: perfpipe.1, perfpipe-ingest.1 and so on
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(super) no_store: NoStoreArgs,
}

/// Writes the manual page of perfpipe and those of its commands.
pub(super) fn print_man_page(args: &ManArgs, store: &StoreArgs, perfpipe: Command) -> Result<()> {
    idle_flags::check_no_store(&args.no_store, store)?;
    page_folder(&args.out)?;
    let mut perfpipe = perfpipe.disable_help_subcommand(true);
    perfpipe.build();
    let commands: Vec<Command> = perfpipe.get_subcommands().cloned().collect();
    let mut written = Vec::new();
    for command in std::iter::once(perfpipe).chain(commands) {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let path = args.out.join(format!("{name}.1"));
        let mut page = Vec::new();
        Man::new(command).title(name.to_uppercase()).render(&mut page)?;
        write_file(&path, &page)?;
        written.push(path);
    }
    print_written(&written);
    Ok(())
}
