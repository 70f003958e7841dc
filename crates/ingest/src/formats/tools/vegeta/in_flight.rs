//! The number of requests in flight at the start of each, of a client that numbers them as it sends them.

use std::collections::HashMap;

use crate::formats::steps;

/// The most ends that are remembered once some are forgotten, over all attacks: all requests before
/// those are regarded as ended.
const REMEMBERED: usize = 1 << 20;

/// The most attacks of a log whose requests are counted. No real log has more; for the others, the number in flight is unknown.
const MOST_ATTACKS: usize = 1000;

/// The longest name of an attack, in bytes, whose requests are counted.
const LONGEST_NAME: usize = 4 << 10;

/// Counts the requests in flight of each attack, since each numbers its own.
#[derive(Debug, Default)]
pub(super) struct Attacks {
    by_name: HashMap<String, InFlight>,
    /// The number of ends that are remembered.
    ends: usize,
}

impl Attacks {
    /// Adds a request, given its number from 0, and returns how many were in flight when it began, itself included.
    pub(super) fn add(&mut self, attack: &str, number: i64, start: i64, end: i64) -> Option<i64> {
        if !self.by_name.contains_key(attack) {
            if self.by_name.len() == MOST_ATTACKS || attack.len() > LONGEST_NAME {
                return None;
            }
            self.by_name.insert(attack.to_owned(), InFlight::default());
        }
        let in_flight = self.by_name.get_mut(attack)?.add(number, start, end);
        self.ends += 1;
        if self.ends > 2 * REMEMBERED {
            let each = REMEMBERED / self.by_name.len().max(1);
            self.by_name.values_mut().for_each(|attack| attack.forget(each));
            self.ends = self.by_name.values().map(InFlight::remembered).sum();
        }
        Some(in_flight)
    }
}

/// Counts requests that have begun and not ended.
///
/// Requests come in the order of their ends, each with its number in the order of the starts. So when one comes, all that
/// ended before it began have come: it is exact without looking ahead.
#[derive(Debug, Default)]
struct InFlight {
    /// The ends, in runs that are each ascending, and of which each is more than twice as long as the next. There is one,
    /// unless requests come in another order.
    runs: Vec<Vec<i64>>,
    /// The number of earlier ends, which are forgotten.
    forgotten: usize,
}

impl InFlight {
    fn add(&mut self, number: i64, start: i64, end: i64) -> i64 {
        steps::count(self.runs.len());
        let ended: usize = self.runs.iter().map(|run| run.partition_point(|other| *other <= start)).sum();
        let ended = i64::try_from(self.forgotten + ended).unwrap_or(i64::MAX);
        match self.runs.last_mut().filter(|run| run.last().is_some_and(|last| *last <= end)) {
            Some(run) => run.push(end),
            None => self.runs.push(vec![end]),
        }
        self.merge();
        number.saturating_add(1).saturating_sub(ended).max(1)
    }

    /// Merges the last runs, until each is short compared with the one before it.
    fn merge(&mut self) {
        while let [.., before, last] = self.runs.as_slice()
            && before.len() <= last.len() * 2
        {
            self.merge_last();
        }
    }

    fn merge_last(&mut self) {
        let (Some(last), Some(before)) = (self.runs.pop(), self.runs.last_mut()) else { return };
        steps::count(before.len() + last.len());
        before.extend(last);
        // Sorting two ascending runs takes linear time.
        before.sort();
    }

    /// The number of ends that are remembered.
    fn remembered(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Forgets all but the latest ends, of which it keeps this many.
    fn forget(&mut self, all_but: usize) {
        while self.runs.len() > 1 {
            self.merge_last();
        }
        if let Some(run) = self.runs.first_mut() {
            let early = run.len().saturating_sub(all_but);
            run.drain(..early);
            run.shrink_to(all_but);
            self.forgotten += early;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn number_in_flight_is_that_of_a_count(gaps in prop::collection::vec((1..50_i64, 1..400_i64), 1..80)) {
            let mut start = 0;
            let requests: Vec<(i64, i64, i64)> = (0..).zip(&gaps).map(|(number, (gap, took))| {
                start += gap;
                (number, start, start + took)
            }).collect();
            let mut ended = requests.clone();
            ended.sort_by_key(|(_, _, end)| *end);
            let mut in_flight = InFlight::default();
            for (number, start, end) in ended {
                let expected = requests.iter().filter(|(_, s, e)| *s <= start && *e > start).count();
                prop_assert_eq!(in_flight.add(number, start, end), expected as i64);
            }
        }
    }
}
