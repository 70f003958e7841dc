//! The line `WRKJSON`, which a Lua script has wrk print: exact counts of each latency.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::super::super::point::{Figures, Latencies};

/// The largest plausible latency: wrk records none above its time-out.
const LONGEST_US: u64 = 3_600_000_000;

/// The most counts of a plausible dump.
const MOST_COUNTS: usize = 1 << 20;

#[derive(Deserialize)]
struct LatencyDump {
    duration_us: u64,
    requests: u64,
    timeout: u64,
    counts: Vec<(u64, u64)>,
}

/// Replaces the printed latencies by exact ones, and removes those that wrk invented.
pub(super) fn refine(figures: &mut Figures, text: &str) {
    let dump: LatencyDump = match serde_json::from_str(text) {
        Ok(dump) => dump,
        Err(problem) => return figures.notes.push(format!("the line WRKJSON can't be read: {problem}")),
    };
    let is_large = |(value, count): &(u64, u64)| *value > LONGEST_US || *count > u64::from(u32::MAX);
    if dump.counts.len() > MOST_COUNTS || dump.counts.iter().any(is_large) {
        return figures.notes.push("the line WRKJSON has counts or latencies beyond any of wrk".to_owned());
    }
    figures.duration =
        Some(dump.duration_us as f64 / 1e6).filter(|seconds| *seconds > 0.0).or(figures.duration);
    let latencies: u64 = dump.counts.iter().map(|(_, count)| count).sum();
    let answered = dump.requests.saturating_sub(dump.timeout);
    let counts = match (figures.in_flight.and_then(|c| without_invented(&dump, c)), latencies == answered) {
        (Some(counts), _) => {
            if let Some(invented) = latencies.checked_sub(answered).filter(|invented| *invented > 0) {
                figures
                    .notes
                    .push(format!("{invented} of {latencies} latencies were invented by wrk, and removed"));
            }
            counts
        }
        (None, true) => dump.counts.iter().copied().collect(),
        (None, false) => {
            figures
                .notes
                .push(format!("{latencies} latencies for {answered} answers: wrk invented some of them"));
            dump.counts.iter().copied().collect()
        }
    };
    let counts: Vec<(u64, u64)> = counts.into_iter().collect();
    figures.latencies = Latencies::counted(&counts, 0.001);
}

/// Undoes wrk's correction of coordinated omission, which for each latency of at least twice the expected interval adds
/// ones that are shorter by one interval, two, and so on. `None` if what is left is not one latency an answer.
fn without_invented(dump: &LatencyDump, connections: u32) -> Option<BTreeMap<u64, u64>> {
    let rounds = dump.requests.checked_div(u64::from(connections)).filter(|rounds| *rounds > 0)?;
    let expected = dump.duration_us.checked_div(rounds).filter(|expected| *expected > 0)?;
    let mut counts: BTreeMap<u64, u64> = dump.counts.iter().copied().collect();
    // What was added to shorter latencies that differ from a longer one by whole intervals, and which of them has to be there:
    // by what is left of them when divided by the interval.
    let mut added: HashMap<u64, (u64, Option<u64>)> = HashMap::new();
    // From the longest on down: the counts of shorter ones contain what the longer ones added.
    for (value, count) in counts.iter_mut().rev().take_while(|(value, _)| **value > expected) {
        let (sum, next) = added.entry(value % expected).or_default();
        if next.take().is_some_and(|next| next != *value) {
            return None;
        }
        *count = count.checked_sub(*sum)?;
        if *value >= expected.saturating_mul(2) {
            *sum = sum.checked_add(*count)?;
        }
        *next = Some(value - expected).filter(|next| *sum > 0 && *next > expected);
    }
    if added.values().any(|(_, next)| next.is_some()) {
        return None;
    }
    let left: u64 = counts.values().sum();
    (left == dump.requests.saturating_sub(dump.timeout)).then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::super::super::super::fixtures::only;
    use super::super::super::super::point::LatencySource;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn invented_latencies_are_taken_out() {
        let figures = only("wrk/dump.txt").figures;
        assert_eq!(figures.latencies.source, Some(LatencySource::Exact));
        assert_eq!((figures.requests, figures.successes), (Some(5000), Some(5000)));
        // By the rate as it is printed, with two decimals.
        assert!((figures.little_ms().unwrap() - 9.634_985_6).abs() < 1e-4, "{:?}", figures.little_ms());
        assert!(
            figures.notes.iter().any(|note| note.starts_with("41 of 5041 latencies")),
            "{:?}",
            figures.notes
        );
        // No mean of a closed loop is above c/X.
        assert!(figures.latencies.mean_ms.unwrap() < figures.little_ms().unwrap(), "{figures:?}");
    }

    #[test]
    fn damaged_dumps_are_told() {
        for text in ["{", "{}", r#"{"duration_us":1,"requests":1,"timeout":0,"counts":[[99999999999,1]]}"#] {
            let mut figures = Figures::default();
            refine(&mut figures, text);
            assert_eq!((figures.notes.len(), figures.latencies.source), (1, None), "{text}");
        }
    }

    /// What wrk does, as an oracle.
    fn corrected(mut counts: BTreeMap<u64, u64>, expected: u64) -> BTreeMap<u64, u64> {
        let longest = counts.keys().last().copied().unwrap_or_default();
        for value in expected * 2..=longest {
            let count = counts.get(&value).copied().unwrap_or_default();
            let mut shorter = value - expected;
            while count > 0 && shorter > expected {
                *counts.entry(shorter).or_default() += count;
                shorter -= expected;
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn correction_is_undone_exactly(counts in prop::collection::btree_map(1u64..4000, 1u64..4, 1..30), rounds in 1u64..30) {
            let requests: u64 = counts.values().sum();
            let (connections, duration_us) = ((requests / rounds).max(1), 9000);
            let expected = duration_us / (requests / connections);
            let dump = LatencyDump {
                duration_us, requests, timeout: 0,
                counts: corrected(counts.clone(), expected).into_iter().collect(),
            };
            let mut undone = without_invented(&dump, u32::try_from(connections).unwrap()).unwrap();
            undone.retain(|_, count| *count > 0);
            prop_assert_eq!(undone, counts);
        }
    }
}
