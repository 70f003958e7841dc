//! The flags of `perfpipe copy`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ConfirmArgs, RunsArgs};

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.help("Runs to copy, as `perfpipe list` names them: go_2048 [default: all]")))]
#[command(mut_arg("yes", |yes| yes.help("Replace several runs without asking").requires("replace")))]
#[command(after_help = "Examples:\n  \
    perfpipe copy --to-database postgres://user@host/load\n  \
    perfpipe copy --test 2048 --to laptop\n  \
    perfpipe copy go_2048 spring_2048 --database postgres://user@host/load --to laptop\n\n\
    Points of load tools' summaries are copied too, all or those of --test; not where runs are named, or chosen by tags. \
    More than one other run is replaced only after a confirmation.")]
pub(crate) struct CopyArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Folder of the embedded store to copy to, or of a bucket, as of --store
    #[arg(long, value_name = "DIR", conflicts_with = "to_database", required_unless_present = "to_database")]
    pub(crate) to: Option<PathBuf>,
    /// Postgres database to copy to
    #[arg(long, value_name = "URL")]
    pub(crate) to_database: Option<String>,
    /// Replace runs and points of the same key there, whatever files they were made from
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) confirm: ConfirmArgs,
}
