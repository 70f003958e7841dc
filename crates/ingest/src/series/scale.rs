//! Doubts the unit of the readings in a CPU export.

use crate::run::note::{Note, NoteKind};
use crate::run::options::cpu_scale::CpuScale;

/// The tolerance factor: a busy machine may read slightly more than its maximum, since two clocks are involved.
const SLACK: f64 = 1.05;

/// The note that doubts the unit of the readings, if they do not fit it. `told` is the unit if given, `largest` the
/// largest reading as exported, and `cores` the server's number of cores, if known.
pub(crate) fn doubt(told: Option<CpuScale>, cores: Option<u32>, largest: f64) -> Option<Note> {
    let beyond = |limit: f64| largest > limit * SLACK;
    let is_fraction = largest > 0.0 && largest <= 1.0;
    let (kind, text) = match (told, cores) {
        (None | Some(CpuScale::PercentOfMachine { .. }), _) if is_fraction => (
            NoteKind::PerhapsFraction { cores },
            "no CPU reading is above 1: 1 may mean the whole machine".to_owned(),
        ),
        (None, Some(cores)) if cores > 1 && largest > 0.0 && !beyond(100.0) => (
            NoteKind::PerhapsOfMachine { cores },
            format!(
                "no CPU reading is above 100 %, which is read as one of the {cores} cores: 100 % may mean \
                 the whole machine"
            ),
        ),
        (None | Some(CpuScale::PercentOfCore), Some(cores)) if beyond(100.0 * f64::from(cores)) => (
            NoteKind::MoreThanCores,
            format!("a CPU reading is {largest} %, more than {cores} cores can have"),
        ),
        (Some(CpuScale::PercentOfMachine { .. }), _) if beyond(100.0) => (
            NoteKind::PerhapsOfCore,
            format!(
                "a CPU reading is {largest}, although the given scale ends at 100 for the whole machine: 100 \
                 may mean one core"
            ),
        ),
        (Some(CpuScale::Fraction { .. }), _) if beyond(1.0) => (
            NoteKind::PerhapsPercent,
            format!(
                "a CPU reading is {largest}, although the given scale ends at 1 for the whole machine: the \
                 readings may be in percent"
            ),
        ),
        _ => return None,
    };
    Some(Note::new(kind, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_that_fit_another_scale_better_are_doubted() {
        let (core, cores) = (CpuScale::PercentOfCore, 4);
        let (machine, fraction) = (CpuScale::PercentOfMachine { cores }, CpuScale::Fraction { cores });
        let (one, four) =
            (NoteKind::PerhapsFraction { cores: None }, NoteKind::PerhapsFraction { cores: Some(4) });
        for (told, cores, largest, kind) in [
            (None, None, 0.9, one),
            (None, Some(4), 0.9, four),
            (Some(machine), Some(4), 0.9, four),
            (None, Some(4), 100.0, NoteKind::PerhapsOfMachine { cores: 4 }),
            (None, Some(4), 500.0, NoteKind::MoreThanCores),
            (Some(core), Some(4), 500.0, NoteKind::MoreThanCores),
            (Some(machine), Some(4), 180.0, NoteKind::PerhapsOfCore),
            (Some(fraction), Some(4), 73.0, NoteKind::PerhapsPercent),
        ] {
            assert_eq!(doubt(told, cores, largest).unwrap().kind(), kind, "{told:?} {cores:?} {largest}");
        }
        for (told, cores, largest) in [
            (None, None, 0.0),
            (None, None, 73.0),
            (None, Some(1), 73.0),
            (None, Some(4), 101.0 * 4.0),
            (Some(core), None, 0.9),
            (Some(core), Some(4), 73.0),
            (Some(machine), Some(4), 100.3),
            (Some(fraction), Some(4), 1.003),
        ] {
            assert_eq!(doubt(told, cores, largest), None, "{told:?} {cores:?} {largest}");
        }
    }
}
