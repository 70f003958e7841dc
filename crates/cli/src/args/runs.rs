//! Which runs are meant.

use clap::Args;
use perfpipe_ingest::LAST_REPEAT;

/// Which run is meant.
#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    /// The system under test
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: String,
    /// The test
    #[arg(long, value_name = "NAME")]
    pub(crate) test: String,
    /// Which repeat of the test, from 1 [default: the only one]
    #[arg(long, value_name = "N", value_parser = repeat())]
    pub(crate) repeat: Option<u32>,
}

/// Which runs of a test are meant.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The test whose runs are meant
    #[arg(long, value_name = "NAME")]
    pub(crate) test: String,
    /// Only this framework; may be given several times [default: all of the test]
    #[arg(long, value_name = "NAME")]
    pub(crate) framework: Vec<String>,
    /// Only this repeat; may be given several times [default: all of the test]
    #[arg(long, value_name = "N", value_parser = repeat())]
    pub(crate) repeat: Vec<u32>,
}

/// The numbers that a repeat may have.
pub(crate) fn repeat() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(LAST_REPEAT))
}
