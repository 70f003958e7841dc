//! The requests of an interval, counted by response time: what some tools log instead of requests. As a field of a line,
//! they are numbers with spaces between.

use std::io::Write;

use super::number::parse_i64;
use perfpipe_model::run::options::intervals::Intervals;
use perfpipe_model::sample::resolution::Resolution;

/// The name of its column.
pub const COLUMN: &str = "Histogram";

/// A histogram.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The significant digits of its times.
    pub digits: u8,
    /// The number of its own units in a ms.
    pub per_ms: u32,
    /// The number of histograms of the same interval that are left out, since they are the sum of this and others.
    pub sums: u32,
    /// The number of requests of each response time, in the unit of the run: ascending, never with 0 requests.
    pub counts: Vec<(i32, u64)>,
}

impl Histogram {
    /// The number of requests.
    pub fn requests(&self) -> u64 {
        self.counts.iter().fold(0, |sum, (_, requests)| sum.saturating_add(*requests))
    }

    /// The properties of its interval, which begins `t_ms` after the run and lasts `length` units.
    pub fn interval(&self, t_ms: i64, length: i32, unit: Resolution) -> Intervals {
        let length_ms = unit.whole_ms(length);
        Intervals {
            intervals: 1,
            across: u64::from(t_ms.rem_euclid(1000).saturating_add(length_ms) > 1000),
            longest_ms: length_ms.unsigned_abs(),
            digits: self.digits,
            per_ms: self.per_ms,
            sums: self.sums.into(),
        }
    }

    /// Writes it as a field.
    pub fn write(&self, into: &mut Vec<u8>) {
        // Writing to a vector can't fail.
        let _ = write!(into, "{} {} {}", self.digits, self.per_ms, self.sums);
        for (time, requests) in &self.counts {
            let _ = write!(into, " {time} {requests}");
        }
    }

    /// Reads it from a field.
    pub fn read(field: &[u8]) -> Option<Self> {
        let mut numbers = field.split(|byte| *byte == b' ').map(parse_i64);
        let mut number = || numbers.next().flatten();
        let (digits, per_ms, sums) = (number()?, number()?, number()?);
        let mut counts: Vec<(i32, u64)> = Vec::new();
        while let Some(time) = numbers.next() {
            let (time, requests) = (time?.try_into().ok()?, numbers.next()??.try_into().ok()?);
            if requests == 0 || counts.last().is_some_and(|(before, _)| *before >= time) {
                return None;
            }
            counts.push((time, requests));
        }
        let head = Self {
            digits: digits.try_into().ok()?,
            per_ms: per_ms.try_into().ok()?,
            sums: sums.try_into().ok()?,
            counts: Vec::new(),
        };
        (!counts.is_empty()).then_some(Self { counts, ..head })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_written_is_read_again(
            digits in 0..6_u8, per_ms: u32, sums: u32,
            counts in prop::collection::btree_map(any::<i32>(), 1..i64::MAX as u64, 1..20),
        ) {
            let histogram = Histogram { digits, per_ms, sums, counts: counts.into_iter().collect() };
            let mut field = Vec::new();
            histogram.write(&mut field);
            prop_assert_eq!(Histogram::read(&field), Some(histogram));
        }
    }

    #[test]
    fn fields_that_are_none_are_refused() {
        for wrong in [
            "",
            "3",
            "3 1000 0",
            "3 1000 0 7",
            "3 1000 0 7 0",
            "3 1000 0 7 1 7 1",
            "3 1000 0 x 1",
            "-1 1 0 1 1",
        ] {
            assert_eq!(Histogram::read(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn interval_lies_across_seconds_if_it_ends_behind_that_of_its_begin() {
        let histogram = Histogram::default();
        for (t_ms, length_us, across) in
            [(0, 1_000_000, 0), (2000, 999_999, 0), (1, 1_000_000, 1), (500, 500_000, 0)]
        {
            let found = histogram.interval(t_ms, length_us, Resolution::MICROSECOND);
            assert_eq!((found.across, found.intervals), (across, 1), "{t_ms} {length_us}");
        }
    }
}
