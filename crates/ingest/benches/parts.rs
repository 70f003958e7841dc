//! The stages of the pipeline one by one: `cargo bench -p perfpipe-ingest --features parts --bench parts`.
//!
//! Each is run on one block of 1 MiB of a generated log and told in bytes of log and in samples a second.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first thing that is amiss")]

#[allow(dead_code, reason = "the generator uses all of it")]
#[path = "../examples/generate/options.rs"]
mod generate;
#[allow(dead_code, unused_imports, reason = "the generator uses all of it")]
#[path = "../examples/generate/load/mod.rs"]
mod load;

use std::io::Read;
use std::sync::LazyLock;

use clap::Parser;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use perfpipe_ingest::CpuSeries;
use perfpipe_ingest::parts::Parts;
use perfpipe_ingest::store::parquet::SampleExport;
use perfpipe_ingest::store::postgres::SampleEncoder;

fn main() {
    divan::main();
}

/// A block of about 1 MiB of whole records.
static BLOCK: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let words = "generate x --rows 200000 --seconds 10 --threads 1000 --failures 0.5 --no-header";
    let plan = generate::Options::try_parse_from(words.split(' ')).unwrap().plan().unwrap();
    let mut log = Vec::new();
    load::write_log(&plan, &mut log).unwrap();
    let end = memchr::memrchr(b'\n', &log[..1 << 20]).unwrap();
    log.truncate(end + 1);
    log
});

/// The same block, deflated as in a zip.
static DEFLATED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut packed = Vec::new();
    flate2::read::DeflateEncoder::new(BLOCK.as_slice(), flate2::Compression::new(5))
        .read_to_end(&mut packed)
        .unwrap();
    packed
});

fn parts() -> Parts {
    let readings = (0..600).map(|second| (1_795_000_000 + second, 50.0 + second as f64)).collect();
    Parts::new(&BLOCK, CpuSeries::new(readings)).unwrap()
}

fn counted<'a, 'b>(bencher: Bencher<'a, 'b>) -> Bencher<'a, 'b> {
    bencher
        .counter(BytesCount::new(BLOCK.len()))
        .counter(ItemsCount::new(memchr::memchr_iter(b'\n', &BLOCK).count()))
}

#[divan::bench]
fn inflate(bencher: Bencher<'_, '_>) {
    let mut out = vec![0; BLOCK.len()];
    LazyLock::force(&DEFLATED);
    counted(bencher).bench_local(|| {
        flate2::read::DeflateDecoder::new(DEFLATED.as_slice()).read_exact(&mut out).unwrap();
    });
}

#[divan::bench]
fn scan(bencher: Bencher<'_, '_>) {
    let parts = parts();
    counted(bencher).bench_local(|| parts.scan(&BLOCK));
}

#[divan::bench]
fn split(bencher: Bencher<'_, '_>) {
    let parts = parts();
    counted(bencher).bench_local(|| parts.split(&BLOCK));
}

#[divan::bench]
fn split_by_simd_csv(bencher: Bencher<'_, '_>) {
    counted(bencher).bench_local(|| {
        let mut reader = simd_csv::ZeroCopyReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(BLOCK.as_slice());
        let mut fields = 0;
        while let Some(record) = reader.read_byte_record().unwrap() {
            fields += record.iter().count();
        }
        fields
    });
}

#[divan::bench]
fn split_by_csv(bencher: Bencher<'_, '_>) {
    counted(bencher).bench_local(|| {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(BLOCK.as_slice());
        let mut record = csv::ByteRecord::new();
        let mut fields = 0;
        while reader.read_byte_record(&mut record).unwrap() {
            fields += record.len();
        }
        fields
    });
}

#[divan::bench]
fn parse_and_join(bencher: Bencher<'_, '_>) {
    let mut parts = parts();
    counted(bencher).bench_local(|| parts.parse(&BLOCK).len());
}

#[divan::bench]
fn count(bencher: Bencher<'_, '_>) {
    let mut parts = parts();
    parts.parse(&BLOCK);
    counted(bencher).bench_local(|| parts.count());
}

#[divan::bench]
fn encode_parquet(bencher: Bencher<'_, '_>) {
    let mut parts = parts();
    let batch = parts.parse(&BLOCK).clone();
    let mut file = SampleExport::new(std::io::sink()).unwrap();
    counted(bencher).bench_local(|| file.write(&batch).unwrap());
}

#[divan::bench]
fn encode_copy(bencher: Bencher<'_, '_>) {
    let mut parts = parts();
    parts.parse(&BLOCK);
    let mut encoder = SampleEncoder::new(true);
    counted(bencher).bench_local(|| parts.encode_copy(&mut encoder).unwrap());
}
