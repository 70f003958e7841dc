//! What the times of a run leave out, and how sure they are: requests that failed after long, requests that were never
//! logged, and percentiles of few requests.

pub(crate) mod long_failures;
pub(crate) mod outstanding;

use super::Timeline;
use crate::stats::percentile::column_name;
use crate::stats::student::few_beyond;

/// The percentiles that every summary has, in percent.
const USUAL: [f64; 3] = [50.0, 95.0, 99.0];

impl Timeline {
    /// Returns remarks on the times of the summary, as sentences without their full stops: which requests they leave out,
    /// and which of p50, p95 and p99 have too few requests beyond them to be sure.
    pub fn remarks(&self) -> Vec<String> {
        let long = self.summary.long_failures(99.0).map(|found| found.remark());
        let outstanding = self.outstanding.map(|found| found.remark());
        long.into_iter().chain(outstanding).chain(few_remark(self.averaged())).collect()
    }

    /// Returns the number of requests that averages and percentiles are over.
    pub(crate) fn averaged(&self) -> u64 {
        if self.view.include_failures { self.summary.requests() } else { self.summary.successes }
    }
}

/// Returns the remark on those of the usual percentiles that have too few requests beyond them.
pub(crate) fn few_remark(requests: u64) -> Option<String> {
    let few = USUAL.iter().filter(|percent| few_beyond(**percent, requests).is_some());
    let names: Vec<String> = few.map(|percent| column_name(*percent)).collect();
    let (last, others) = names.split_last()?;
    Some(match others {
        [] => format!("{last} is uncertain: fewer than 5 of {requests} requests are beyond it"),
        others => format!(
            "{} and {last} are uncertain: fewer than 5 of {requests} requests are beyond each",
            others.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_few_requests_are_named() {
        assert_eq!(few_remark(0), None);
        assert_eq!(few_remark(1000), None);
        assert_eq!(
            few_remark(400).as_deref(),
            Some("p99 is uncertain: fewer than 5 of 400 requests are beyond it")
        );
        assert_eq!(
            few_remark(5).as_deref(),
            Some("p50, p95 and p99 are uncertain: fewer than 5 of 5 requests are beyond each")
        );
    }
}
