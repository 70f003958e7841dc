//! Heat map, curve, labels and failures against the samples one by one.

#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod support;

use std::collections::BTreeMap;

use perfpipe_analyze::breakdown::{Details, Heatmap, error_kinds, error_table};
use perfpipe_analyze::table::Value;
use perfpipe_analyze::{Timeline, View};
use perfpipe_ingest::counts::ErrorCount;
use proptest::prelude::*;
use support::{Raw, Sample, mean, raw, same, view};

/// The heat map counted sample by sample.
fn counted(
    raw: &Raw,
    view: &View,
    map: &Heatmap,
    seconds: std::ops::RangeInclusive<u32>,
) -> BTreeMap<(u32, i32), u64> {
    let mut counts = BTreeMap::new();
    let first = *seconds.start();
    for sample in raw.counted(view, seconds) {
        if sample.success || view.include_failures {
            // Without its own ms, the bucket whose edges the time lies between, looked for from the first on.
            let ms = u64::try_from(sample.elapsed.max(0)).unwrap();
            let bucket = || (0..).find(|bucket| Heatmap::edge(bucket + 1) > ms).unwrap().cast_signed();
            let place = if map.exact { sample.elapsed.max(0) } else { bucket() };
            *counts.entry(((sample.second() - first) / map.width, place)).or_default() += 1;
        }
    }
    counts
}

proptest! {
    #[test]
    fn heat_map_holds_every_sample_once(raw in raw(), view in view()) {
        let run = raw.stored();
        let (Ok(details), Ok(timeline)) = (Details::new(&run, &view), Timeline::new(&run, &view)) else {
            return Ok(());
        };
        let seconds = timeline.seconds.first().unwrap().second..=timeline.seconds.last().unwrap().second;
        let map = &details.heatmap;
        let mut found = BTreeMap::new();
        for (at, column) in (0..).zip(&map.columns) {
            prop_assert_eq!(column.second, seconds.start() + at * map.width);
            prop_assert!(column.counts.is_sorted_by(|a, b| a.0 < b.0));
            found.extend(column.counts.iter().map(|(bucket, samples)| ((at, *bucket), *samples)));
        }
        prop_assert_eq!(found, counted(&raw, &view, map, seconds));
        let of_curve = |percent| details.curve.iter().find(|point| point.0 == percent).map(|point| point.1);
        prop_assert_eq!(of_curve(50.0), timeline.summary.p50);
        prop_assert_eq!(of_curve(99.0), timeline.summary.p99);
    }

    #[test]
    fn times_of_successes_and_failures_are_each_in_a_bin(raw in raw(), view in view()) {
        let run = raw.stored();
        let (Ok(details), Ok(timeline)) = (Details::new(&run, &view), Timeline::new(&run, &view)) else {
            return Ok(());
        };
        let seconds = timeline.seconds.first().unwrap().second..=timeline.seconds.last().unwrap().second;
        let counted = raw.counted(&view, seconds);
        for (success, found) in [(true, &details.successes), (false, &details.failures)] {
            let times: Vec<i32> = counted.iter().filter(|s| s.success == success).map(|s| s.elapsed).collect();
            prop_assert_eq!(found.counts.iter().sum::<u64>() + found.beyond, times.len() as u64);
            prop_assert_eq!(found.max, times.iter().max().copied());
        }
    }

    #[test]
    fn waits_and_bytes_over_time_are_those_of_the_samples(raw in raw(), view in view()) {
        let run = raw.stored();
        let (Ok(details), Ok(timeline)) = (Details::new(&run, &view), Timeline::new(&run, &view)) else {
            return Ok(());
        };
        let seconds: Vec<u32> = timeline.seconds.iter().map(|second| second.second).collect();
        let labels = &details.network.labels;
        let shown: Vec<&str> = labels.iter().map(|label| label.label.as_str()).collect();
        let picked: Vec<&str> = details.over_time.labels.iter().map(|label| label.label.as_str()).collect();
        prop_assert_eq!(shown, if picked.len() > 1 { picked } else { Vec::new() });
        for found in std::iter::once(&details.network.all).chain(labels) {
            prop_assert_eq!((found.width, found.elapsed_mean.len()), (1, seconds.len()));
            let of_second = |second: u32| {
                let mut own = Raw::averaged(&view, &raw.counted(&view, second..=second));
                own.retain(|sample| found.label.is_empty() || sample.label == found.label);
                own
            };
            // The label without a name can't be told from all labels here.
            if labels.iter().any(|label| label.label.is_empty()) && found.label.is_empty() {
                continue;
            }
            for (at, second) in seconds.iter().enumerate() {
                let own = of_second(*second);
                let mean = |of: &dyn Fn(&Sample) -> Option<i32>| {
                    mean(&own.iter().filter_map(of).map(f64::from).collect::<Vec<_>>())
                };
                prop_assert!(same(found.elapsed_mean[at], mean(&|sample| Some(sample.elapsed))));
                prop_assert!(same(found.latency_mean[at], mean(&|sample| sample.latency)));
                let connect = found.connect_mean.get(at).copied().flatten();
                let some = details.total.connect_mean.is_some();
                prop_assert!(same(connect, mean(&|sample| Some(sample.connect())).filter(|_| some)));
                let bytes = own.iter().map(|sample| sample.bytes).sum::<i64>();
                prop_assert_eq!(found.bytes.get(at).copied().unwrap_or(0), bytes);
                prop_assert_eq!(found.sent_bytes.get(at).copied().unwrap_or(0), 2 * bytes);
            }
        }
    }

    #[test]
    fn kinds_of_failures_add_up_to_the_table_of_all(
        raw in raw(),
        errors in prop::collection::vec((0..60u32, 0..3usize, 0..3usize, any::<bool>(), 1..9u64), 0..40),
        view in view(),
    ) {
        let mut run = raw.stored();
        run.errors = errors
            .iter()
            .map(|(second, code, message, transaction, count)| ErrorCount {
                second: *second,
                label: support::LABELS[0].into(),
                response_code: ["500", "", "503"][*code].into(),
                message: ["Test failed", "", "500"][*message].into(),
                transaction: *transaction,
                count: *count,
            })
            .collect();
        let (Ok(kinds), Ok(all)) = (error_kinds(&run, &view), error_table(&run, &view)) else { return Ok(()) };
        let mut expected: BTreeMap<(String, String), (u64, u64, u64)> = BTreeMap::new();
        for row in 0..all.len() {
            let text = |column| match all.value(row, column) { Value::Text(text) => text.to_owned(), _ => String::new() };
            let number = |column| match all.value(row, column) { Value::U64(number) => number, _ => 0 };
            if all.value(row, 4) == Value::Bool(true) && !view.transactions {
                continue;
            }
            let second = number(0);
            let kind = expected.entry((text(2), text(3))).or_insert((0, second, second));
            *kind = (kind.0 + number(5), kind.1.min(second), kind.2.max(second));
        }
        prop_assert!(kinds.is_sorted_by(|a, b| a.count >= b.count));
        let found = kinds.into_iter().map(|kind| {
            ((kind.response_code, kind.message), (kind.count, u64::from(kind.first), u64::from(kind.last)))
        });
        prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
    }
}
