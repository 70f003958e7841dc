//! The flag for the number of injectors.

use clap::Args;

/// The help of `--injectors` for commands that read a log.
pub(crate) const INJECTORS: &str = "Number of injectors, if the log does not name them [default: 1]";

/// Number of injectors that sent the load.
#[derive(Debug, Args)]
pub(crate) struct InjectorsArgs {
    /// Number of injectors, if the log does not name them [default: as given at ingest, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) injectors: Option<u32>,
}
