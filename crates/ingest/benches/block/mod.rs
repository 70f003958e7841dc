//! The block of a log with which the stages of the pipeline are measured.

#[allow(dead_code, reason = "the generator uses all of it")]
#[path = "../../examples/generate/options.rs"]
mod generate;
#[allow(dead_code, unused_imports, reason = "the generator uses all of it")]
#[path = "../../examples/generate/load/mod.rs"]
mod load;

use std::io::Read;
use std::sync::LazyLock;

use clap::Parser;
use perfpipe_ingest::parts::Parts;
use perfpipe_ingest::series::TimeSeries;

/// The option that chooses the log's shape.
pub(crate) const SHAPE: &str = "--shape";

/// Returns the shape of the log that was asked for.
pub(crate) fn shape() -> String {
    std::env::args().skip_while(|word| word != SHAPE).nth(1).unwrap_or_else(|| "one".to_owned())
}

/// A block of about 1 MiB of whole records.
pub(crate) static BLOCK: LazyLock<Vec<u8>> = LazyLock::new(|| {
    // Its header tells the columns.
    let shape = shape();
    let words =
        format!("generate x --rows 200000 --seconds 10 --threads 1000 --failures 0.5 --shape {shape}");
    let plan = generate::Options::try_parse_from(words.split(' ')).unwrap().plan().unwrap();
    let mut log = Vec::new();
    load::write_log(&plan, &mut log).unwrap();
    let end = memchr::memrchr(b'\n', &log[..1 << 20]).unwrap();
    log.truncate(end + 1);
    log
});

/// The block, compressed by deflate as in a zip.
pub(crate) static DEFLATED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut packed = Vec::new();
    flate2::read::DeflateEncoder::new(BLOCK.as_slice(), flate2::Compression::new(5))
        .read_to_end(&mut packed)
        .unwrap();
    packed
});

/// Prepares the stages for the block.
pub(crate) fn parts() -> Parts {
    let readings = (0..600).map(|second| (1_795_000_000 + second, 50.0 + second as f64)).collect();
    Parts::new(&BLOCK, TimeSeries::new(readings)).unwrap()
}
