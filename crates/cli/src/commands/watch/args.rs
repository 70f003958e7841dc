//! The flags of `perfpipe watch`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::{CoresArgs, INJECTORS, LOOKBACK, LogArgs, OutputArgs, span};
use crate::commands::ingest::KeepArgs;
use crate::serve;

#[derive(Debug, Args)]
#[command(mut_arg("injectors", |injectors| injectors.help(INJECTORS)))]
#[command(mut_arg("cpu_lookback", |seconds| seconds.help(LOOKBACK)))]
#[command(after_help = "Examples:\n  \
    perfpipe watch run.jtl\n  \
    perfpipe watch injector-1.jtl injector-2.jtl --framework go --test 2048\n  \
    ssh injector tail -n +1 -F run.jtl | perfpipe watch - --framework go --test 2048\n  \
    perfpipe watch run.jtl --idle-end 30s --serve 127.0.0.1:8091\n  \
    perfpipe watch run.jtl --rules rules.toml --abort-after 30s || touch stop-the-test\n\n\
    A LOG is a file that a running test writes, which need not exist yet, a named pipe, or `-` for standard input. It \
    may be renamed or copied and emptied meanwhile, as logrotate does. Several logs are the injectors of one run.\n\n\
    It ends at Ctrl-C, once all pipes are closed, or after --idle-end. Then the run is stored as `perfpipe ingest` \
    stores the finished log. A second Ctrl-C stores nothing.")]
pub(crate) struct WatchArgs {
    /// Logs of a running test, and at most one CPU export, read at the end
    #[arg(required = true, value_name = "LOG")]
    pub(crate) files: Vec<PathBuf>,
    /// End when nothing was written for this long: 30s, 5m
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub(crate) idle_end: Option<u64>,
    /// TOML file of rules: check the stored run as `perfpipe check` does, and exit with 4 if one fails
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Abort with exit code 4, and store nothing, when a rule can no longer pass, or has failed for this long: 30s
    #[arg(long, value_name = "SPAN", value_parser = span, requires = "rules")]
    pub(crate) abort_after: Option<u64>,
    /// Address of a live page of the test, for browsers of this machine: 127.0.0.1:8091
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = serve::address)]
    pub(crate) serve: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) keep: KeepArgs,
    #[command(flatten)]
    pub(crate) cores: CoresArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl WatchArgs {
    /// How long a rule is broken until it counts as broken for good, if that ends the command.
    pub(crate) fn abort_after(&self) -> Option<Duration> {
        self.abort_after.map(Duration::from_millis)
    }
}
