//! `perfpipe completions`: prints the completion script of a shell.

use std::io::Write;

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::args::{NoStoreArgs, StoreArgs};
use crate::input::idle_flags;
use crate::output::Output;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe completions bash > ~/.local/share/bash-completion/completions/perfpipe\n  \
    perfpipe completions zsh > ~/.zfunc/_perfpipe\n  \
    perfpipe completions fish > ~/.config/fish/completions/perfpipe.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell to write the script for
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: Shell,
    #[command(flatten)]
    pub(crate) no_store: NoStoreArgs,
}

/// Prints the completion script of a shell.
pub(crate) fn run(args: &CompletionsArgs, store: &StoreArgs, mut perfpipe: Command) -> Result<()> {
    idle_flags::check_no_store(&args.no_store, store)?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut perfpipe, "perfpipe", &mut script);
    let mut output = Output::open(None)?;
    output.write_all(&script)?;
    output.finish()
}
