//! What an ingest would store of a packed run, which `perfpipe export --what counts` wrote.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use clap::Parser;
use perfpipe_analyze::format::thousands;
use perfpipe_analyze::table::Format;
use perfpipe_ingest::RunInfo;
use perfpipe_ingest::store::parquet::PackedRun;
use serde::Serialize;

use super::InspectArgs;
use super::log::moment;
use super::text::{TextRows, short};
use crate::commands::ingest::flags_of_packed;
use crate::output::Output;

/// The command line of an inspection.
#[derive(Debug, Parser)]
struct InspectLine {
    #[command(flatten)]
    args: InspectArgs,
}

/// The run, for programs.
#[derive(Serialize)]
struct PackedDocument<'a> {
    schema: &'static str,
    run: &'a RunInfo,
}

/// Shows a packed run, and fails as an ingest would.
pub(super) fn run(args: &InspectArgs, file: &Path) -> Result<()> {
    // What describes a log is refused, as an ingest refuses it.
    let mut plain = InspectLine::try_parse_from([Path::new("inspect"), Path::new("--"), file])?.args;
    plain.asked = args.asked;
    plain.output.clone_from(&args.output);
    plain.no_store.clone_from(&args.no_store);
    if format!("{plain:?}") != format!("{args:?}") {
        return Err(flags_of_packed(file).into());
    }
    let packed = PackedRun::open(file)?;
    let info = packed.info();
    let mut output = Output::open(args.output.output.as_deref())?;
    match args.format() {
        Format::Json => {
            let document = PackedDocument { schema: "perfpipe-packed/1", run: info };
            serde_json::to_writer_pretty(&mut output, &document)?;
            writeln!(output)?;
        }
        _ => {
            let mut rows = TextRows::default();
            rows.title("a run of another store");
            rows.row("key", &short(&info.key.to_string()));
            rows.row("t0", &format!("{} ({})", moment(info.t0_ms), info.t0_ms));
            rows.row("records", &thousands(info.records()));
            rows.row("ingest", "stores it as it is, with counts only");
            output.write_all(rows.text().as_bytes())?;
        }
    }
    output.finish()
}
