//! Times the stages of the pipeline one by one: `cargo bench -p perfpipe-ingest --features parts --bench parts`.
//!
//! Each stage runs on one block of 1 MiB of a generated log. Results are bytes of log and samples per second.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first thing that is amiss")]

mod block;

use std::io::Read;
use std::sync::LazyLock;

use block::{BLOCK, DEFLATED, parts};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use perfpipe_ingest::store::parquet::SampleExport;
use perfpipe_ingest::store::postgres::SampleEncoder;

fn main() {
    divan::main();
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
