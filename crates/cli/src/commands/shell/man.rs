//! `perfpipe man`: writes a manual page for each command.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Command};
use clap_mangen::Man;

use crate::args::{NoStoreArgs, StoreArgs};
use crate::input::idle_flags;
use crate::output::written::print_written;
use crate::output::{page_folder, write_file};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe man --out ~/.local/share/man/man1\n  \
    perfpipe man --out man")]
pub(crate) struct ManArgs {
    /// Folder for the pages: perfpipe.1, perfpipe-ingest.1 and so on
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) no_store: NoStoreArgs,
}

/// Writes the manual page of perfpipe and those of its commands.
pub(crate) fn run(args: &ManArgs, store: &StoreArgs, perfpipe: Command) -> Result<()> {
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
