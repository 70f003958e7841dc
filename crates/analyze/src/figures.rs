//! The figures of a run as bytes: what leagues, trends and comparisons need of it, without its seconds.

use perfpipe_model::RunInfo;
use serde::{Deserialize, Serialize};

use crate::compare::Measured;
use crate::error::{Error, Result};
use crate::timeline::Timeline;
use crate::timeline::duration::RunDuration;
use crate::timeline::summary::Summary;
use crate::timeline::unseen::outstanding::Outstanding;
use crate::view::View;
use crate::view::phases::Phases;

/// All that a [`League`](crate::League), [`Trends`](crate::Trends) or a comparison needs of a run. They are equal to those of
/// the run itself.
///
/// ```
/// use perfpipe_analyze::{League, Measured, RunFigures, Timeline, View};
/// use perfpipe_ingest::counts::{Cell, CellKey, CellTable};
/// use perfpipe_ingest::{RunInfo, RunKey, StoredRun};
///
/// let key = CellKey { second: 0, label: 0, success: true, transaction: false };
/// let cells = [(key, Cell { elapsed: vec![(10, 1), (20, 1)], ..Cell::default() })];
/// let info = RunInfo::new(RunKey::new("spring", "2048"), 0, 400);
/// let run = StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells));
/// let (timeline, view) = (Timeline::new(&run, &View::default())?, View::default());
/// let bytes = RunFigures::bytes(&timeline, &Measured::new(&run, &view)?)?;
/// let figures = RunFigures::parse(&bytes)?;
/// assert_eq!(League::new([&figures.timeline])?, League::new([&timeline])?);
/// assert!(figures.timeline.seconds.is_empty());
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunFigures {
    /// The run without its seconds, and without series.
    pub timeline: Timeline,
    /// Its figures with their noise.
    pub measured: Measured,
}

/// What is written of a timeline.
#[derive(Serialize)]
struct WrittenFigures<'a> {
    info: &'a RunInfo,
    view: &'a View,
    percentiles: &'a [f64],
    duration: RunDuration,
    summary: &'a Summary,
    phases: Phases,
    hold: Option<&'a Summary>,
    outstanding: Option<Outstanding>,
    measured: &'a Measured,
}

#[derive(Deserialize)]
struct ReadFigures {
    info: RunInfo,
    view: View,
    percentiles: Vec<f64>,
    duration: RunDuration,
    summary: Summary,
    phases: Phases,
    hold: Option<Summary>,
    outstanding: Option<Outstanding>,
    measured: Measured,
}

impl RunFigures {
    /// Writes the figures of a run as MessagePack. Only the same version of this crate reads them. When the run was ingested is
    /// left out, so that the same log gives the same bytes.
    ///
    /// # Errors
    /// [`Error::Figures`] if they can't be written.
    pub fn bytes(timeline: &Timeline, measured: &Measured) -> Result<Vec<u8>> {
        let Timeline { info, view, percentiles, duration, summary, phases, hold, outstanding, .. } = timeline;
        let (duration, phases, outstanding, hold) = (*duration, *phases, *outstanding, hold.as_ref());
        let (info, measured) =
            (&Self::info_of(info), &measured.clone().with_info(Self::info_of(measured.info())));
        let written = WrittenFigures {
            info,
            view,
            percentiles,
            duration,
            summary,
            phases,
            hold,
            outstanding,
            measured,
        };
        rmp_serde::to_vec_named(&written).map_err(|error| Error::Figures(error.to_string()))
    }

    /// Returns what the bytes have of a run's metadata: all but the time of its ingest.
    pub fn info_of(info: &RunInfo) -> RunInfo {
        RunInfo { ingested_at: String::new(), ..info.clone() }
    }

    /// Reads what [`RunFigures::bytes`] wrote.
    ///
    /// # Errors
    /// [`Error::Figures`] if it is something else.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let read = rmp_serde::from_slice(bytes).map_err(|error| Error::Figures(error.to_string()))?;
        let ReadFigures { info, view, percentiles, duration, summary, phases, hold, outstanding, measured } =
            read;
        let (seconds, series) = (Vec::new(), Vec::new());
        let timeline = Timeline {
            info,
            view,
            percentiles,
            duration,
            seconds,
            series,
            summary,
            phases,
            hold,
            outstanding,
        };
        Ok(Self { timeline, measured })
    }
}

#[cfg(test)]
mod tests {
    use perfpipe_model::counts::{Cell, CellKey, CellTable};
    use perfpipe_model::run::Resolution;
    use perfpipe_model::{RunKey, StoredRun};
    use proptest::prelude::*;

    use super::*;
    use crate::compare::{Side, compare_sides};
    use crate::league::ranking::League;

    /// A run of some seconds, some of whose requests fail, with a load that climbs and is held.
    fn run(seed: u64, seconds: u32, repeat: u32) -> StoredRun {
        let mut chance = fastrand::Rng::with_seed(seed);
        let mut cells = Vec::new();
        for second in 0..seconds {
            for success in [true, false] {
                let mut elapsed: Vec<(i32, u64)> =
                    (0..chance.i32(1..20)).map(|_| (chance.i32(1..400), chance.u64(1..4))).collect();
                elapsed.sort_unstable();
                elapsed.dedup_by_key(|count| count.0);
                elapsed.truncate(if success { 20 } else { 1 });
                cells.push((
                    CellKey { second, label: 0, success, transaction: false },
                    Cell { elapsed, ..Cell::default() },
                ));
            }
        }
        let end = i64::from(seconds) * 1000 - 1;
        let mut info = RunInfo::new(RunKey::new("go", "t").with_repeat(repeat), 0, end);
        info.last_end_ms = Some(end + chance.i64(0..3000));
        info.resolution = if chance.bool() { Resolution::MICROSECOND } else { Resolution::MILLISECOND };
        info.options.tags.insert("commit".to_owned(), "ü\n".to_owned());
        StoredRun::new(info, CellTable::new(vec!["Get".into()], vec![], cells))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn figures_are_read_as_they_were_written(seed in any::<u64>(), seconds in 1..200u32, others in 1..60u32) {
            let view = View::default();
            let runs = [run(seed, seconds, 1), run(!seed, others, 2)];
            let timelines: Vec<Timeline> = runs.iter().map(|run| Timeline::new(run, &view).unwrap()).collect();
            let measured: Vec<Measured> = runs.iter().map(|run| Measured::new(run, &view).unwrap()).collect();
            let read: Vec<RunFigures> = timelines
                .iter()
                .zip(&measured)
                .map(|(timeline, measured)| RunFigures::parse(&RunFigures::bytes(timeline, measured).unwrap()).unwrap())
                .collect();
            prop_assert_eq!(League::new(read.iter().map(|read| &read.timeline))?, League::new(&timelines)?);
            for (read, timeline) in read.iter().zip(&timelines) {
                let info = RunFigures::info_of(&timeline.info);
                let without_seconds = Timeline { info, seconds: Vec::new(), series: Vec::new(), ..timeline.clone() };
                prop_assert_eq!(&read.timeline, &without_seconds);
            }
            let side = |run: &Measured| Side::of(vec![run.clone()]);
            let compared = |runs: [&Measured; 2]| compare_sides(&side(runs[0]), &[side(runs[1])], &[]);
            prop_assert_eq!(
                compared([&read[0].measured, &read[1].measured]),
                compared([&measured[0], &measured[1]])
            );
        }

        #[test]
        fn other_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(RunFigures::parse(&bytes).is_err());
        }
    }
}
