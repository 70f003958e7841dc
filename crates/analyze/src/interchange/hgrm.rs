//! The percentiles of a run in HdrHistogram's text format, for tools that read `.hgrm` files.

use std::fmt::Write;

use perfpipe_model::StoredRun;

use crate::error::Result;
use crate::stats::histogram::Histogram;
use crate::timeline::selection::Selection;
use crate::view::View;

/// The number of lines for each halving of the distance to 100 %.
const TICKS: f64 = 5.0;

/// Returns the distribution of elapsed in the text format of HdrHistogram's `outputPercentileDistribution`: value (ms),
/// percentile (0 to 1), samples up to the value, and 1 / (1 − percentile), with five lines for each halving of the
/// distance to 100 %.
///
/// A line's value is the smallest that at least this share of the samples does not exceed, as in HdrHistogram: an
/// observed value, not one between two as in `percentile_cont`. It is exact: no value is rounded into a bucket. The
/// samples are successes, or all requests if the view includes failures. With [`View::corrected`] they are the
/// corrected values, as the last line says.
///
/// # Errors
/// The same errors as [`crate::Timeline::new`].
pub fn percentile_distribution(run: &StoredRun, view: &View) -> Result<String> {
    let selection = Selection::new(run, view)?;
    let mut elapsed = Histogram::in_unit(run.info.resolution);
    for cell in selection.averaged_cells() {
        elapsed.add_counts(&cell?.1.elapsed);
    }
    let Some(interval) = view.corrected else { return Ok(distribution(&elapsed)) };
    let corrected = distribution(&elapsed.corrected(interval)?);
    Ok(format!("{corrected}#[Corrected for coordinated omission, expected interval = {interval} ms]\n"))
}

fn distribution(elapsed: &Histogram) -> String {
    let mut text =
        format!("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let total = elapsed.samples();
    let (mut upto, mut level) = (0_u64, 0.0_f64);
    for (value, samples) in elapsed.counts() {
        upto += samples;
        // The last value always has the line of 100 %.
        while upto as f64 / total as f64 * 100.0 >= level {
            let share = level / 100.0;
            // Writing to a String can't fail.
            let rest = 1.0 / (1.0 - share);
            let _ = writeln!(text, "{:>12.3} {share:>14.12} {upto:>10} {rest:>14.2}", elapsed.ms(value));
            level += 100.0 / (TICKS * halvings(level));
            if upto == total {
                break;
            }
        }
    }
    if let Some(max) = elapsed.max() {
        let _ = writeln!(text, "{:>12.3} {:>14.12} {total:>10}", max, 1.0);
    }
    let _ = writeln!(
        text,
        "#[Mean    = {:>12.3}, StdDeviation   = {:>12.3}]\n#[Max     = {:>12.3}, Total count    = {total:>12}]\n\
         #[Buckets = {:>12}, SubBuckets     = {:>12}]",
        elapsed.mean().unwrap_or(0.0),
        elapsed.deviation().unwrap_or(0.0),
        elapsed.max().unwrap_or(0.0),
        1,
        elapsed.counts().count(),
    );
    text
}

/// Returns 2 to the power of one more than the number of times that the distance to 100 % was halved.
fn halvings(level: f64) -> f64 {
    ((100.0 / (100.0 - level)).log2().floor() + 1.0).exp2()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The numbers in the lines of data.
    fn lines(text: &str) -> Vec<Vec<f64>> {
        let data = text.lines().skip(2).take_while(|line| !line.starts_with('#'));
        data.map(|line| line.split_whitespace().map(|number| number.parse().unwrap()).collect()).collect()
    }

    /// The levels advance by a tenth up to a half, a twentieth up to three quarters, and so on.
    #[test]
    fn hgrm_has_the_form_and_the_levels_of_hdrhistogram() {
        let elapsed: Histogram = [1, 2, 2, 3, 50].into_iter().collect();
        let text = distribution(&elapsed);
        assert_eq!(
            text,
            "       Value     Percentile TotalCount 1/(1-Percentile)

       1.000 0.000000000000          1           1.00
       1.000 0.100000000000          1           1.11
       1.000 0.200000000000          1           1.25
       2.000 0.300000000000          3           1.43
       2.000 0.400000000000          3           1.67
       2.000 0.500000000000          3           2.00
       2.000 0.550000000000          3           2.22
       2.000 0.600000000000          3           2.50
       3.000 0.650000000000          4           2.86
       3.000 0.700000000000          4           3.33
       3.000 0.750000000000          4           4.00
       3.000 0.775000000000          4           4.44
       3.000 0.800000000000          4           5.00
      50.000 0.825000000000          5           5.71
      50.000 1.000000000000          5
#[Mean    =       11.600, StdDeviation   =       19.210]
#[Max     =       50.000, Total count    =            5]
#[Buckets =            1, SubBuckets     =            4]
"
        );
        assert_eq!(distribution(&Histogram::new()).lines().count(), 5);
    }

    proptest! {
        #[test]
        fn each_line_is_the_least_value_that_so_many_do_not_exceed(
            mut values in prop::collection::vec(0..5000i32, 1..200),
        ) {
            let lines = lines(&distribution(&values.iter().copied().collect()));
            values.sort_unstable();
            prop_assert_eq!(lines.first().map(|line| line[1]), Some(0.0));
            prop_assert_eq!(lines.last().map(|line| (line[0] as i32, line[1], line[2] as usize)), Some((values[values.len() - 1], 1.0, values.len())));
            for line in lines {
                let upto = |value: i32| values.iter().filter(|other| **other <= value).count();
                prop_assert_eq!(line[2] as usize, upto(line[0] as i32));
                let enough = |count: usize| count as f64 / values.len() as f64 >= line[1];
                prop_assert!(enough(upto(line[0] as i32)));
                let before = upto(line[0] as i32 - 1);
                prop_assert!(before == 0 || !enough(before) || (before as f64 / values.len() as f64 - line[1]).abs() < 1e-9);
            }
        }
    }
}
