//! Decides by the beginnings of the logs of a run whether their blocks are counted together.

use hashbrown::HashSet;

use crate::counts::counter::step::{Span, near};
use crate::formats::jtl::parsed::Parsed;
use crate::formats::tools::rows::form::Form;

/// With this many samples of a label in a second, or more, counting blocks together gains less than their smaller size
/// costs.
const MANY: usize = 32;

/// With fewer samples in a block, these are so long that counting them is not what takes time.
const FEW: usize = 64;

/// What the last block that was looked at tells of the beginning of its log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beginning {
    span: Span,
    samples: usize,
    /// The number of pairs of a second and a label.
    cells: usize,
    /// True if the records are parsed as they are in the log, and not converted while it is read.
    light: bool,
}

impl Beginning {
    /// `None` of a block without requests.
    pub(super) fn of(parsed: &Parsed) -> Option<Self> {
        let batch = &parsed.batch;
        if !parsed.histograms.is_empty() {
            return None;
        }
        let seconds = batch.t_ms.iter().map(|ms| ms.div_euclid(1000));
        let cells: HashSet<(i64, u32)> = seconds.zip(batch.label.codes().iter().copied()).collect();
        let span = parsed.earliest_ms.zip(parsed.latest_ms)?;
        let light = parsed.form == Form::Own;
        Some(Self { span, samples: batch.t_ms.len(), cells: cells.len(), light })
    }
}

/// Returns true if most logs begin at about the same time, and have few samples of a label in a second, but many in a block.
pub(crate) fn belong_together(beginnings: &[Beginning]) -> bool {
    let spans: Vec<Option<Span>> = beginnings.iter().map(|beginning| Some(beginning.span)).collect();
    let near = near(&spans);
    let (mut logs, mut samples, mut cells) = (0, 0, 0);
    for (beginning, _) in beginnings.iter().zip(near).filter(|(_, near)| *near) {
        (logs, samples, cells) = (logs + 1, samples + beginning.samples, cells + beginning.cells);
    }
    2 * logs > beginnings.len() && (FEW * logs..MANY * cells).contains(&samples)
}

/// Returns true if the records of all logs are parsed as they are.
pub(crate) fn are_light(beginnings: &[Beginning]) -> bool {
    !beginnings.is_empty() && beginnings.iter().all(|beginning| beginning.light)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning(second: i64, samples: usize, cells: usize) -> Beginning {
        Beginning { span: (second * 1000, second * 1000 + 9000), samples, cells, light: true }
    }

    #[test]
    fn logs_of_the_same_time_with_few_samples_in_a_second_belong_together() {
        let [few, many] = [beginning(0, 300, 100), beginning(5, 9000, 100)];
        let other = beginning(5000, 300, 100);
        assert!(belong_together(&[few, few]));
        assert!(belong_together(&[few, few, other]));
        assert!(!belong_together(&[few, few, other, other]));
        assert!(!belong_together(&[few, many]));
        let long = beginning(0, 30, 30);
        assert!(!belong_together(&[long, long]));
        assert!(!belong_together(&[few]) && !belong_together(&[]));
    }

    #[test]
    fn seconds_and_labels_are_paired() {
        let mut parsed = Parsed::default();
        for (ms, label) in [(0, "a"), (999, "a"), (999, "b"), (1000, "a")] {
            parsed.batch.t_ms.push(ms);
            parsed.batch.label.push(label.as_bytes());
        }
        assert!(Beginning::of(&parsed).is_none(), "no time was accepted");
        (parsed.earliest_ms, parsed.latest_ms) = (Some(0), Some(1000));
        let Beginning { span, samples, cells, light } = Beginning::of(&parsed).unwrap();
        assert_eq!((span, samples, cells, light), ((0, 1000), 4, 3, true));
        let other = Beginning { light: false, ..beginning(0, 1, 1) };
        assert!(
            are_light(&[beginning(0, 1, 1)]) && !are_light(&[beginning(0, 1, 1), other]) && !are_light(&[])
        );
    }
}
