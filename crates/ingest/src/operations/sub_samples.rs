//! Recognises the labels of sub-samples: parts of other samples, which JMeter writes as separate records.

use std::collections::{BTreeSet, HashMap, VecDeque};

use perfpipe_model::counts::CellKey;
use perfpipe_model::counts::stored_run::StoredRun;
use perfpipe_model::counts::table::CellTable;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::sample::batch::SampleBatch;

/// The number of samples of a parent's label that are remembered, the latest ones in the log.
const REMEMBERED: usize = 1024;

/// Splits the label of a sub-sample into its parent's label and its number. JMeter names the parts of `Page` `Page-0`,
/// `Page-1` and so on.
fn sub_sample_of(label: &str) -> Option<(&str, u32)> {
    let (parent, number) = label.rsplit_once('-')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let as_written = number == "0" || !number.starts_with('0');
    (!parent.is_empty() && is_number && as_written).then_some(())?;
    Some((parent, number.parse().ok()?))
}

/// Returns those of the labels that are named like parts of another one among them.
pub(crate) fn sub_sample_names<'a>(labels: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let labels: BTreeSet<&str> = labels.into_iter().collect();
    let is_named = |label: &&str| sub_sample_of(label).is_some_and(|(parent, _)| labels.contains(parent));
    labels.iter().copied().filter(is_named).collect()
}

/// How many ms a part may reach beyond its parent, since each time is rounded by itself.
const ROUNDING: i64 = 2;

/// The start and end of a sample, in ms since t0, and the injector that sent it.
struct SentSample {
    start_ms: i64,
    end_ms: i64,
    injector: Option<String>,
}

impl SentSample {
    fn of(batch: &SampleBatch, row: usize) -> Option<Self> {
        let start_ms = *batch.t_ms.get(row)?;
        let idle = batch.idle_time.get(row).unwrap_or_default();
        let elapsed = batch.resolution.whole_ms(*batch.elapsed.get(row)?);
        let took = elapsed.saturating_add(i64::from(idle));
        let injector = batch.injector.get(row).map(str::to_owned);
        Some(Self { start_ms, end_ms: start_ms.saturating_add(took), injector })
    }

    fn holds(&self, part: &Self) -> bool {
        self.start_ms <= part.start_ms + ROUNDING
            && part.end_ms <= self.end_ms + ROUNDING
            && self.injector == part.injector
    }
}

/// The numbers of a label's samples within and outside a sample of its parent's label.
#[derive(Default)]
struct Fit {
    within: u64,
    outside: u64,
}

/// Finds the labels of sub-samples among a run's samples.
///
/// JMeter writes the parts of a sample with label X directly after it, labelled `X-0`, `X-1` and so on. A label is
/// regarded as one of sub-samples if it is named like that, the run has the label X, and every sample of it lies within a
/// sample of X: one of the same injector that was written before it, began no later and ended no earlier, but for the rounding
/// of times.
///
/// An independent sampler of such a name is written when it ends, after the samples that ended before it. Few of its
/// samples lie within another one, and only by chance.
pub(crate) struct SubSamples {
    /// The counts by label.
    fits: HashMap<String, Fit>,
    /// The latest samples of each label that may be a parent's.
    parents: HashMap<String, VecDeque<SentSample>>,
}

impl SubSamples {
    /// Prepares the search in a run with these labels.
    pub(crate) fn new<'a>(labels: impl IntoIterator<Item = &'a str>) -> Self {
        let named = sub_sample_names(labels);
        let parents = named.iter().filter_map(|label| sub_sample_of(label));
        Self {
            parents: parents.map(|(parent, _)| (parent.to_owned(), VecDeque::new())).collect(),
            fits: named.into_iter().map(|label| (label.to_owned(), Fit::default())).collect(),
        }
    }

    /// Returns true if no label is named like a sub-sample's.
    pub(crate) fn is_empty(&self) -> bool {
        self.fits.is_empty()
    }

    /// Examines a batch. Batches must come in the order of the log.
    pub(crate) fn add(&mut self, batch: &SampleBatch) {
        for row in 0..batch.len() {
            let label = batch.label.get(row).unwrap_or_default();
            let (is_named, is_parent) = (self.fits.contains_key(label), self.parents.contains_key(label));
            if !is_named && !is_parent {
                continue;
            }
            let Some(sent) = SentSample::of(batch, row) else { continue };
            if is_named {
                self.fit(label, &sent);
            }
            if is_parent && let Some(latest) = self.parents.get_mut(label) {
                if latest.len() == REMEMBERED {
                    latest.pop_front();
                }
                latest.push_back(sent);
            }
        }
    }

    fn fit(&mut self, label: &str, sent: &SentSample) {
        let parents = sub_sample_of(label).and_then(|(parent, _)| self.parents.get(parent));
        let within = parents.is_some_and(|latest| latest.iter().rev().any(|parent| parent.holds(sent)));
        if let Some(fit) = self.fits.get_mut(label) {
            *(if within { &mut fit.within } else { &mut fit.outside }) += 1;
        }
    }

    /// Returns the labels of sub-samples, ascending.
    ///
    /// # Errors
    /// If half or more of a label's samples lie within a parent's, but not all, so that it is undecidable.
    pub(crate) fn labels(self) -> Result<Vec<String>> {
        let mut labels = Vec::new();
        for (label, Fit { within, outside }) in self.fits {
            if outside == 0 && within > 0 {
                labels.push(label);
            } else if within >= outside && within > 0 {
                let problem = format!(
                    "the samples \"{label}\" may or may not be sub-samples: {within} of {} lie within a \
                     sample of the parent's label",
                    within + outside
                );
                return Err(Error::refused(
                    ErrorKind::SubSamplesShared,
                    problem,
                    "Look at the labels one by one, or at all of them.",
                ));
            }
        }
        labels.sort_unstable();
        Ok(labels)
    }
}

/// Removes the records of these labels from a run's counts, failures and totals.
///
/// # Errors
/// If the counts can't be read or don't fit into memory.
pub(crate) fn leave_out(run: &mut StoredRun, labels: &[String]) -> Result<()> {
    let is_out = |label: &str| labels.iter().any(|out| out == label);
    let kept: Vec<String> = run.cells.labels.iter().filter(|label| !is_out(label)).cloned().collect();
    let mut next = 0;
    let places = run.cells.labels.iter().map(|label| {
        let place = (!is_out(label)).then_some(next);
        next += u32::from(place.is_some());
        place
    });
    let places: Vec<Option<u32>> = places.collect();
    // The remaining labels keep their order, so the cells still ascend.
    let cells = run.cells.packed_between(0, u32::MAX).filter_map(|cell| match cell {
        Ok((key, cell)) => {
            let label = places.get(key.label as usize).copied().flatten()?;
            Some(Ok((CellKey { label, ..key }, cell)))
        }
        Err(error) => Some(Err(error)),
    });
    run.cells = CellTable::from_ascending(kept, run.cells.injectors.clone(), cells)?;
    run.errors.retain(|error| !is_out(&error.label));
    for out in run.labels.extract_if(.., |label| is_out(&label.label)) {
        run.info.successes = run.info.successes.saturating_sub(out.successes);
        run.info.failures = run.info.failures.saturating_sub(out.failures);
        run.info.transactions = run.info.transactions.saturating_sub(out.transactions);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches records, given as (label, start, elapsed) in the order of the log.
    fn found(records: &[(&str, i64, i32)]) -> Result<Vec<String>> {
        let mut batch = SampleBatch::default();
        for (label, start, elapsed) in records {
            batch.t_ms.push(*start);
            batch.label.push(label.as_bytes());
            batch.elapsed.push(*elapsed);
            batch.injector.push_null();
        }
        let mut found = SubSamples::new(records.iter().map(|(label, ..)| *label));
        found.add(&batch);
        found.labels()
    }

    #[test]
    fn parts_name_is_its_parents_and_a_number() {
        assert_eq!(sub_sample_of("Page-12"), Some(("Page", 12)));
        assert_eq!(sub_sample_of("Page-0-1"), Some(("Page-0", 1)));
        let others = ["Page-01", "Page-x", "-1"].map(sub_sample_of);
        assert_eq!(others, [None; 3]);
    }

    #[test]
    fn parts_are_written_behind_the_sample_that_holds_them() {
        let records = [
            ("Page", 0, 100),
            ("Page-0", 0, 40),
            ("Page", 5, 90),
            ("Page-1", 40, 60),
            ("Page-0", 5, 50),
            ("Page-0-0", 5, 10),
            ("Page-1", 55, 40),
        ];
        assert_eq!(found(&records).unwrap(), ["Page-0", "Page-0-0", "Page-1"]);
    }

    #[test]
    fn times_of_parts_are_rounded_by_themselves() {
        let records = [("Page", 1, 100), ("Page-0", 0, 40), ("Page-1", 40, 63)];
        assert_eq!(found(&records).unwrap(), ["Page-0", "Page-1"]);
    }

    #[test]
    fn sampler_of_such_a_name_is_none() {
        // One after the other, and beside a longer one that ends later.
        let records = [("Page", 0, 100), ("Page-0", 100, 20), ("Page-0", 150, 20), ("Page", 90, 200)];
        assert!(found(&records).unwrap().is_empty());
        assert!(found(&[("Other-0", 0, 10), ("Page", 0, 10)]).unwrap().is_empty());
    }

    #[test]
    fn sub_samples_that_can_not_be_told_apart_are_refused() {
        let records = [("Page", 0, 100), ("Page-0", 0, 20), ("Page-0", 300, 20)];
        let error = found(&records).unwrap_err().to_string();
        assert!(error.contains("1 of 2 lie within"), "{error}");
    }

    /// Reproducible pseudo-random numbers (xorshift).
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u32) -> u32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            ((self.0 >> 32) % u64::from(end)) as u32
        }
    }

    /// A record: the time of writing, a random number that orders records of the same time, label, start and elapsed.
    type Written = (i64, u32, &'static str, i64, i32);

    fn in_order(mut records: Vec<Written>) -> Vec<(&'static str, i64, i32)> {
        records.sort_by_key(|(end, tie, ..)| (*end, *tie));
        records.into_iter().map(|(_, _, label, start, elapsed)| (label, start, elapsed)).collect()
    }

    /// Returns records of `threads` threads that send requests of two samplers in turn, the second one shorter.
    fn samplers(random: &mut Random, threads: u32, rounds: u32) -> Vec<(&'static str, i64, i32)> {
        let mut records = Vec::new();
        for _ in 0..threads {
            let mut now = i64::from(random.below(50));
            for _ in 0..rounds {
                for (label, longest) in [("Get", 50), ("Get-0", 20)] {
                    let elapsed = 1 + random.below(longest) as i32;
                    let end = now + i64::from(elapsed);
                    records.push((end, random.below(u32::MAX), label, now, elapsed));
                    now = end;
                }
            }
        }
        in_order(records)
    }

    /// Returns records of `threads` threads whose requests have two parts each, written after them. Records of other
    /// threads lie between them.
    fn parts(random: &mut Random, threads: u32, rounds: u32) -> Vec<(&'static str, i64, i32)> {
        let mut records = Vec::new();
        for _ in 0..threads {
            let mut now = i64::from(random.below(50));
            for _ in 0..rounds {
                let (first, second) = (random.below(40) as i32, random.below(40) as i32);
                let (between, end) = (now + i64::from(first), now + i64::from(first + second));
                let tie = random.below(1 << 30);
                records.push((end, tie, "Get", now, first + second));
                records.push((end, tie + 1 + random.below(1 << 20), "Get-0", now, first));
                records.push((end, tie + (1 << 21), "Get-1", between, second));
                now = end;
            }
        }
        in_order(records)
    }

    #[test]
    fn parts_are_found_and_samplers_never_taken_for_them_at_any_rate() {
        for seed in 0..60 {
            let mut random = Random(seed * 0x9e37_79b9 + 1);
            let threads = [1, 5, 50, 400][seed as usize % 4];
            let rounds = 400 / threads + 2;
            // At 400 threads, 20 and more requests end in each millisecond: most fit by chance, but never all.
            let taken = found(&samplers(&mut random, threads, rounds)).unwrap_or_default();
            assert!(taken.is_empty(), "{threads} threads, seed {seed}: {taken:?}");
            let names = found(&parts(&mut random, threads, rounds)).unwrap();
            assert_eq!(names, ["Get-0", "Get-1"], "{threads} threads, seed {seed}");
        }
    }
}
