//! The number of requests in flight at the start of each, of a client that numbers them as it sends them.

use std::collections::VecDeque;

/// The most ends that are remembered: of those before, all requests are taken for ended.
const REMEMBERED: usize = 1 << 20;

/// Counts requests that have begun and not ended.
///
/// Requests come in the order of their ends, each with its number in the order of the starts. So when one comes, all that
/// ended before it began have come: it is exact without looking ahead.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// The ends, ascending.
    ends: VecDeque<i64>,
    /// The number of earlier ends, which are forgotten.
    forgotten: usize,
}

impl InFlight {
    /// Adds a request, given its number from 0, and returns how many were in flight when it began, itself included.
    pub(super) fn add(&mut self, number: i64, start: i64, end: i64) -> i64 {
        let ended = self.forgotten + self.ends.partition_point(|other| *other <= start);
        let place = self.ends.iter().rposition(|other| *other <= end).map_or(0, |at| at + 1);
        self.ends.insert(place, end);
        if self.ends.len() > REMEMBERED {
            self.ends.pop_front();
            self.forgotten += 1;
        }
        number.saturating_add(1).saturating_sub(i64::try_from(ended).unwrap_or(i64::MAX)).max(1)
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
