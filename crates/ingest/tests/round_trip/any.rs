//! Runs of any values that a store has to hold.

use std::collections::BTreeMap;

use perfpipe_ingest::counts::{Cell, CellKey, ErrorCount, InjectorLoad, LabelCount, Spread};
use perfpipe_ingest::run::{Damage, DamageKind, LARGEST_CPU_OFFSET, LAST_REPEAT, Reject, SourceFile};
use perfpipe_ingest::sample::Texts;
use perfpipe_ingest::series::TimeSeries;
use perfpipe_ingest::{RunInfo, RunKey, SampleBatch};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use crate::example::Example;

/// When each of them was ingested.
const INGESTED_AT: &str = "2026-11-20T21:48:00.123456Z";

/// What is counted, up to the largest that fits.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![0..9u64, 0..=i64::MAX as u64, Just(i64::MAX as u64)]
}

/// A second, of a run that has it.
fn second() -> impl Strategy<Value = u32> {
    prop_oneof![0..9u32, any::<u32>()]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c]", any::<String>(), Just("two\r\nlines\t\"é\"\u{0}".into())]
}

/// Subnormal numbers and infinities too; of those that are none, no two are equal.
fn real() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{INFINITE, NORMAL, SUBNORMAL, ZERO};
    prop_oneof![NORMAL | SUBNORMAL | ZERO | INFINITE, Just(f64::MIN_POSITIVE / 3.0), Just(f64::MAX)]
}

type Sample = (
    (i64, i32, [bool; 2]),
    (Option<Vec<u8>>, Option<String>, Option<String>),
    ([Option<i64>; 2], [Option<i32>; 4], Option<f64>),
);

fn sample() -> impl Strategy<Value = Sample> {
    let t_ms = prop_oneof![0..5000i64, 0..=i64::from(i32::MAX)];
    let texts = (option::of(vec(any::<u8>(), 0..6)), option::of(text()), option::of(text()));
    let elapsed = prop_oneof![any::<i32>(), Just(i32::MIN), Just(i32::MAX)];
    let large = || option::of(prop_oneof![any::<i64>(), Just(i64::MIN), Just(i64::MAX)]);
    let numbers = ([large(), large()], any::<[Option<i32>; 4]>(), option::of(real()));
    ((t_ms, elapsed, any::<[bool; 2]>()), texts, numbers)
}

fn push(batch: &mut SampleBatch, ((t_ms, elapsed, flags), texts, (large, small, cpu)): Sample) {
    batch.t_ms.push(t_ms);
    batch.elapsed.push(elapsed);
    let columns = [&mut batch.label, &mut batch.response_code, &mut batch.injector];
    let texts = [texts.0, texts.1.map(String::into_bytes), texts.2.map(String::into_bytes)];
    for (column, text) in columns.into_iter().zip(texts) {
        match text {
            Some(text) => column.push(&text),
            None => column.push_null(),
        }
    }
    batch.success.push(flags[0]);
    batch.transaction.push(flags[1]);
    batch.bytes.push(large[0]);
    batch.sent_bytes.push(large[1]);
    batch.all_threads.push(small[0]);
    batch.latency.push(small[1]);
    batch.idle_time.push(small[2]);
    batch.connect.push(small[3]);
    batch.cpu.push(cpu);
}

prop_compose! {
    fn cell()(
        elapsed in btree_map(any::<i32>(), count(), 0..5), n in count(), sums in any::<[i64; 4]>(),
        (min, max) in any::<(i32, i32)>(), before_boundary in count(),
        loads in btree_map(0..3u32, (count(), any::<i64>()), 0..4),
    ) -> Cell {
        let load = |(injector, (samples, threads))| InjectorLoad { injector, samples, threads };
        Cell {
            elapsed: elapsed.into_iter().collect(),
            // Of no samples there is nothing to tell.
            latency: if n == 0 { Spread::default() } else { Spread { n, sum: sums[0], min, max } },
            connect: sums[1],
            bytes: sums[2],
            sent_bytes: sums[3],
            before_boundary,
            injectors: loads.into_iter().map(load).collect(),
        }
    }
}

prop_compose! {
    fn cell_key()(second in second(), label in 0..3u32, success in any::<bool>(), transaction in any::<bool>())
        -> CellKey { CellKey { second, label, success, transaction } }
}

prop_compose! {
    fn error()(second in second(), texts in any::<[String; 3]>(), transaction in any::<bool>(), count in count())
        -> ErrorCount {
        let [label, response_code, message] = texts.map(Into::into);
        ErrorCount { second, label, response_code, message, transaction, count }
    }
}

prop_compose! {
    fn reject()(file in text(), member in option::of(text()), line in any::<u64>(), byte in any::<u64>(),
        reason in text(), record in text(), code in prop::option::of("[a-z-]{1,20}")) -> Reject {
        let mut reject = Reject::new(file, line, byte, reason, record);
        (reject.member, reject.code) = (member, code);
        reject
    }
}

prop_compose! {
    fn damage()(file in text(), member in option::of(text()), problem in text(), read in any::<[u64; 2]>(),
        packed in any::<[Option<u64>; 2]>()) -> Damage {
        let mut damage = Damage::default();
        (damage.file, damage.member, damage.kind, damage.problem) = (file, member, DamageKind::FileCut, problem);
        ([damage.bytes, damage.records], [damage.packed_read, damage.packed_of]) = (read, packed);
        damage
    }
}

prop_compose! {
    fn info()(
        (framework, test) in ("[a-z_./:%é]{1,9}", "[a-z_./:+é]{1,200}"), repeat in prop_oneof![Just(1), 1..=LAST_REPEAT],
        t0 in -62_135_596_800_000..253_400_000_000_000_i64, span in prop_oneof![0..2000i64, 0..=24 * 86_400_000_i64],
        end in any::<i32>(), transactions_end in any::<Option<i32>>(), inferred in any::<bool>(),
        sources in vec((text(), option::of(text()), text(), any::<u64>(), any::<u32>()), 0..3),
        cpu in (-LARGEST_CPU_OFFSET..=LARGEST_CPU_OFFSET, any::<u32>()), options in btree_map(text(), text(), 0..3),
        version in "[ -~]{0,64}", damage in vec(damage(), 0..3),
    ) -> RunInfo {
        let source = |(file, member, kind, bytes, crc32): (String, _, String, _, _)| {
            let mut source = SourceFile::new(file, kind.into(), bytes, crc32);
            source.member = member;
            source
        };
        let last = t0 + span;
        let mut info = RunInfo::new(RunKey::new(framework, test).with_repeat(repeat), t0, last);
        (info.tool_version, info.ingested_at) = (version, INGESTED_AT.into());
        (info.inferred, info.samples_stored) = (inferred, true);
        // Times of requests may be below zero.
        let end_of = |elapsed: i32| last + i64::from(elapsed).max(t0 - last);
        (info.last_end_ms, info.transactions_end_ms) = (Some(end_of(end)), transactions_end.map(end_of));
        (info.cpu_offset, info.cpu_lookback) = cpu;
        (info.options, info.damage) = (options.into(), damage);
        info.sources = sources.into_iter().map(source).collect();
        info
    }
}

/// Labels, and injectors.
fn odd_names() -> Vec<String> {
    ["a", "", "two\r\nlines, \"é\""].map(String::from).to_vec()
}

/// Any run that the folder store has to hold.
pub(crate) fn any_example() -> impl Strategy<Value = Example> {
    let tables = (
        vec(sample(), 0..30),
        btree_map(cell_key(), cell(), 0..8),
        btree_map(any::<i64>(), real(), 0..5),
        vec(error(), 0..5),
        btree_map(text(), [count(), count(), count()], 0..5),
        vec(reject(), 0..4),
    );
    (info(), tables).prop_map(|(info, (samples, cells, cpu, errors, labels, rejects))| {
        let label = |(label, [successes, failures, transactions]): (String, [u64; 3])| LabelCount {
            label,
            successes,
            failures,
            transactions,
        };
        let mut batch = SampleBatch::default();
        samples.into_iter().for_each(|sample| push(&mut batch, sample));
        let within = |second: u32| second % info.seconds;
        let cells: BTreeMap<CellKey, Cell> = cells
            .into_iter()
            .map(|(key, cell)| (CellKey { second: within(key.second), ..key }, cell))
            .collect();
        let errors = errors.into_iter();
        let errors =
            errors.map(|error: ErrorCount| ErrorCount { second: within(error.second), ..error }).collect();
        adding_up(Example {
            info,
            batch,
            labels: odd_names(),
            injectors: odd_names(),
            cells: cells.into_iter().collect(),
            cpu: TimeSeries::new(cpu.into_iter().collect()),
            errors,
            label_counts: labels.into_iter().map(label).collect(),
            rejects,
        })
    })
}

/// The same run, each of its counts changed in one place so that all tell of the same samples.
fn adding_up(mut run: Example) -> Example {
    let of = |success: bool, transaction: bool| {
        let flags = run.batch.success.iter().zip(&run.batch.transaction);
        flags.filter(|flags| *flags == (&success, &transaction)).count() as u64
    };
    let kinds = [(true, false), (false, false), (true, true), (false, true)];
    let [successes, failures, passed, failed] = kinds.map(|(success, transaction)| of(success, transaction));
    (run.info.successes, run.info.failures, run.info.transactions) = (successes, failures, passed + failed);
    run.info.rejects = run.rejects.len() as u64;
    for ((success, transaction), samples) in kinds.into_iter().zip([successes, failures, passed, failed]) {
        let key = CellKey { second: run.info.seconds - 1, label: 2, success, transaction };
        run.cells.retain(|(other, _)| *other != key);
        let mut rest = samples;
        let cells =
            run.cells.iter_mut().filter(|(key, _)| (key.success, key.transaction) == (success, transaction));
        for (_, count) in cells.flat_map(|(_, cell)| &mut cell.elapsed) {
            *count %= rest + 1;
            rest -= *count;
        }
        let cell = Cell { elapsed: vec![(7, rest)], ..Cell::default() };
        run.cells.push((key, cell));
    }
    run.cells.sort_by_key(|(key, _)| *key);
    for (transaction, samples) in [(false, failures), (true, failed)] {
        let mut rest = samples;
        for error in run.errors.iter_mut().filter(|error| error.transaction == transaction) {
            error.count %= rest + 1;
            rest -= error.count;
        }
        let text = || "rest".into();
        let (label, response_code, message) = (text(), text(), text());
        run.errors.push(ErrorCount { second: 0, label, response_code, message, transaction, count: rest });
    }
    run.errors.sort();
    let mut rest = [successes, failures, passed + failed];
    for label in &mut run.label_counts {
        let counts = [&mut label.successes, &mut label.failures, &mut label.transactions];
        for (count, rest) in counts.into_iter().zip(&mut rest) {
            *count %= *rest + 1;
            *rest -= *count;
        }
    }
    let [successes, failures, transactions] = rest;
    run.label_counts.push(LabelCount { label: "\u{10FFFF} rest".into(), successes, failures, transactions });
    run
}

/// A text as Postgres holds it.
fn without_nul(text: &mut String) {
    *text = text.replace('\0', "\u{FFFD}");
}

/// The same run within the bounds of Postgres's types, which hold whatever a run of 24 days can count, and without
/// NUL in its names, which neither a command line nor a zip's member can bring there.
pub(crate) fn within_postgres(mut run: Example) -> Example {
    let info = &mut run.info;
    info.cpu_lookback &= i32::MAX as u32;
    for source in &mut info.sources {
        let mut kind = source.kind.name().to_owned();
        source.member.as_mut().into_iter().chain([&mut source.file, &mut kind]).for_each(without_nul);
        source.kind = kind.into();
    }
    for damage in &mut info.damage {
        damage
            .member
            .as_mut()
            .into_iter()
            .chain([&mut damage.file, &mut damage.problem])
            .for_each(without_nul);
    }
    let options = BTreeMap::from(std::mem::take(&mut info.options)).into_iter();
    let options = options.map(|(flag, text)| (flag.replace('\0', ""), text.replace('\0', "")));
    info.options = options.collect::<BTreeMap<_, _>>().into();
    for (_, cell) in &mut run.cells {
        cell.elapsed.iter_mut().for_each(|(_, count)| *count &= i32::MAX as u64);
    }
    for reject in &mut run.rejects {
        reject.line &= i64::MAX as u64;
        reject.byte &= i64::MAX as u64;
    }
    run
}

/// The same run as it comes back from Postgres: U+FFFD in the place of NUL, and no injector in that of an empty one.
pub(crate) fn out_of_postgres(mut run: Example) -> Example {
    for error in &mut run.errors {
        for text in [&mut error.label, &mut error.response_code, &mut error.message] {
            *text = text.replace('\0', "\u{FFFD}").into();
        }
    }
    let mut injectors = Texts::default();
    for row in 0..run.batch.len() {
        match run.batch.injector.get(row) {
            None | Some("") => injectors.push_null(),
            Some(name) => injectors.push(name.as_bytes()),
        }
    }
    run.batch.injector = injectors;
    run.errors.sort();
    run.label_counts.iter_mut().for_each(|count| without_nul(&mut count.label));
    run.label_counts.sort_by(|a, b| a.label.cmp(&b.label));
    for reject in &mut run.rejects {
        let texts = [&mut reject.file, &mut reject.reason, &mut reject.record];
        reject.member.as_mut().into_iter().chain(texts).for_each(without_nul);
    }
    run
}
