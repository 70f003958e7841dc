//! Writes the log to a zip, a plain file or standard output.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::load::{Plan, Tally, write_log};

/// The compression level, at which 15 bytes of log take about one; higher ones are too slow.
const LEVEL: i64 = 5;
/// The maximum size of a record in bytes, by which is decided whether a member may exceed 4 GiB.
const RECORD: f64 = 400.0;

/// Writes the log of a plan to the file that `out` names.
pub(crate) fn write(plan: &Plan, out: &Path) -> io::Result<Tally> {
    if out.as_os_str() == "-" {
        return write_log(plan, &mut io::stdout().lock());
    }
    let mut file = File::create(out)?;
    match out.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("zip") => write_zip(plan, out, file),
        _ => write_log(plan, &mut file),
    }
}

/// Writes a zip with one member of a fixed date, so that the same plan gives the same bytes.
fn write_zip(plan: &Plan, out: &Path, file: File) -> io::Result<Tally> {
    let seconds = plan.duration as f64 / 1000.0;
    let records = (plan.records as f64).min(seconds * plan.rate * 4.0);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(LEVEL))
        .last_modified_time(DateTime::default())
        .large_file(records * RECORD > f64::from(u32::MAX));
    let mut zip = ZipWriter::new(BufWriter::new(file));
    zip.start_file(member(out), options)?;
    let tally = write_log(plan, &mut zip)?;
    zip.finish()?.flush()?;
    Ok(tally)
}

/// Returns the name of the zip's member: `run.csv` for both `run.zip` and `run.csv.zip`.
fn member(out: &Path) -> String {
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    if stem.ends_with(".csv") || stem.ends_with(".jtl") { stem.into_owned() } else { format!("{stem}.csv") }
}
