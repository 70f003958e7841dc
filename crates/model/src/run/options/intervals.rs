//! How a run was counted that was made from histograms of intervals.

use std::fmt;
use std::str::FromStr;

/// How a run was counted whose log has no requests, but a histogram of their response times for each interval.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::run::Intervals;
///
/// let intervals: Intervals = "digits=3 per-ms=1000 intervals=60 across=0 longest-ms=1000 sums=0".parse()?;
/// assert_eq!(intervals.to_string(), "digits=3 per-ms=1000 intervals=60 across=0 longest-ms=1000 sums=0");
/// assert!(intervals.notes()[0].contains("3 significant digits"));
/// # Ok::<(), std::fmt::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// The least number of significant digits to which response times are rounded.
    pub digits: u8,
    /// The number of the histograms' own units in a ms.
    pub per_ms: u32,
    /// The number of intervals with requests, each label's on its own.
    pub intervals: u64,
    /// The number of them that reach beyond the run's second in which they begin.
    pub across: u64,
    /// The length of the longest, in ms.
    pub longest_ms: u64,
    /// The number of histograms without a tag that were left out, since they are the sum of those with tags.
    pub sums: u64,
}

impl Intervals {
    /// Adds others of the same run.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        Self {
            digits: self.digits.min(other.digits),
            // The coarser unit, for the logs of one run may have several.
            per_ms: self.per_ms.min(other.per_ms),
            intervals: self.intervals.saturating_add(other.intervals),
            across: self.across.saturating_add(other.across),
            longest_ms: self.longest_ms.max(other.longest_ms),
            sums: self.sums.saturating_add(other.sums),
        }
    }

    /// Returns what is not exact in the run, in few words each.
    pub fn caveats(&self) -> Vec<String> {
        let mut caveats = vec![
            format!("times are rounded up to {} digits", self.digits),
            "failures are not in the log".to_owned(),
        ];
        if self.across > 0 {
            caveats
                .push(format!("{} of {} intervals reach beyond their second", self.across, self.intervals));
        }
        caveats
    }

    /// Returns notes on the run, as sentences without their full stops.
    pub fn notes(&self) -> Vec<String> {
        let percent = 100.0 / 10f64.powi(self.digits.into());
        let mut notes = vec![format!(
            "made from histograms of intervals: response times are rounded up, by less than {percent} % ({} significant \
             digits); failures are not in the log, so all requests count as successes; there are no single requests",
            self.digits
        )];
        if self.per_ms > 0 {
            notes.push(format!(
                "the histograms count in {}, as Interval_Max in ms shows",
                unit_name(self.per_ms)
            ));
        }
        if self.across > 0 {
            notes.push(format!(
                "its seconds are not exact: {} of {} intervals, up to {} ms long, reach beyond the second in which they \
                 begin, and all their requests are counted there",
                self.across, self.intervals, self.longest_ms
            ));
        }
        if self.sums > 0 {
            notes.push(format!(
                "{} histograms without a tag are the sums of those with tags, and are left out",
                self.sums
            ));
        }
        notes
    }
}

/// The name of a unit of which so many are a ms.
fn unit_name(per_ms: u32) -> &'static str {
    match per_ms {
        1 => "ms",
        1000 => "µs",
        _ => "ns",
    }
}

/// The names of the figures as they are stored.
const NAMES: [&str; 6] = ["digits", "per-ms", "intervals", "across", "longest-ms", "sums"];

impl fmt::Display for Intervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { digits, per_ms, intervals, across, longest_ms, sums } = *self;
        let figures = [digits.into(), per_ms.into(), intervals, across, longest_ms, sums];
        for (at, (name, figure)) in NAMES.iter().zip(figures).enumerate() {
            let space = if at > 0 { " " } else { "" };
            write!(f, "{space}{name}={figure}")?;
        }
        Ok(())
    }
}

impl FromStr for Intervals {
    type Err = fmt::Error;

    fn from_str(text: &str) -> Result<Self, fmt::Error> {
        let mut parts = text.split(' ').zip(NAMES);
        let mut figure = || {
            let (part, name) = parts.next()?;
            part.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok()
        };
        let mut read = || {
            Some(Self {
                digits: figure()?.try_into().ok()?,
                per_ms: figure()?.try_into().ok()?,
                intervals: figure()?,
                across: figure()?,
                longest_ms: figure()?,
                sums: figure()?,
            })
        };
        read().ok_or(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_several_logs_are_merged_and_told() {
        let one = Intervals { digits: 3, per_ms: 1000, intervals: 2, across: 0, longest_ms: 1000, sums: 1 };
        let all = one.merged(Intervals { digits: 2, across: 1, longest_ms: 1003, sums: 0, ..one });
        let expected = Intervals { digits: 2, intervals: 4, across: 1, longest_ms: 1003, ..one };
        assert_eq!((all, all.to_string().parse()), (expected, Ok(expected)));
        let notes = all.notes();
        assert!(notes[0].contains("less than 1 % (2 significant digits)"), "{}", notes[0]);
        assert!(notes[1].contains("µs") && notes[2].contains("1 of 4 intervals, up to 1003 ms"), "{notes:?}");
        assert_eq!((notes.len(), one.notes().len()), (4, 3));
        assert_eq!((all.caveats().len(), one.caveats().len()), (3, 2));
        for wrong in ["", "digits=3", "digits=3 per-ms=1 intervals=1 across=x longest-ms=1 sums=0"] {
            assert!(wrong.parse::<Intervals>().is_err(), "{wrong}");
        }
    }
}
