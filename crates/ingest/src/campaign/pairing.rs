//! Pairs CPU exports with logs: by name, otherwise by time.

use std::path::{Path, PathBuf};

use crate::source::log::{last_part, stem};

/// The properties of a log that matter for pairing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PairedLog {
    /// The folder of the file.
    pub(crate) folder: PathBuf,
    /// The bare name of the file.
    pub(crate) name: String,
    /// The epoch second in which the log begins, if known.
    pub(crate) begins: Option<i64>,
}

/// The properties of a CPU export that matter for pairing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PairedExport {
    /// The folder of the file.
    pub(crate) folder: PathBuf,
    /// The bare names of the logs that it may be named after.
    pub(crate) names: Vec<String>,
    /// The extent of its readings, on the log's clock; `None` if it can't be read.
    pub(crate) readings: Option<ReadingsSpan>,
}

/// The extent of a CPU export's readings, on the log's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ReadingsSpan {
    /// The number of readings.
    pub(crate) count: u64,
    /// The epoch second of the first reading.
    pub(crate) first: i64,
    /// The last epoch second that has a reading: the second of the last one plus the look-back.
    pub(crate) last: i64,
}

impl ReadingsSpan {
    /// Returns true if the second lies within the readings.
    fn contain(&self, second: i64) -> bool {
        self.count > 0 && (self.first..=self.last).contains(&second)
    }

    /// Returns true if all readings are older than this second.
    fn end_before(&self, second: i64) -> bool {
        self.count == 0 || self.last < second
    }

    /// The time from the first to the last second, in seconds.
    fn length(&self) -> u128 {
        self.last.abs_diff(self.first).into()
    }

    /// The number of their seconds from this one on.
    fn seconds_from(&self, second: i64) -> u64 {
        self.last.abs_diff(second.max(self.first)) + 1
    }

    /// Returns true if they are at least half as dense as the readings of `other`.
    fn are_as_dense_as(&self, other: &Self) -> bool {
        let (ours, theirs) = (u128::from(self.count), u128::from(other.count));
        2 * ours * (other.length() + 1) >= theirs * (self.length() + 1)
    }
}

/// How a CPU export was found to belong to a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Paired {
    /// Both are in one zip.
    File,
    /// The export has the name of the log.
    Name,
    /// The log begins within its readings.
    Time,
    /// There is none: the readings of the run's time are asked for.
    Asked,
}

impl Paired {
    /// The name of the kind: `file`, `name`, `time` or `asked`.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Name => "name",
            Self::Time => "time",
            Self::Asked => "asked",
        }
    }
}

/// The result of pairing a log; exports are given by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PairingChoice {
    /// No export belongs to the log.
    None,
    /// This export belongs to the log. The list contains all exports with the log's name that end before it begins.
    One(usize, Paired, Vec<usize>),
    /// Several exports could belong to the log.
    Several(Vec<usize>),
}

/// Chooses the CPU export of each log:
///
/// 1. An export with the log's name. Exports in the log's folder precede those in others. Exports whose readings end
///    before the log begins count only if there is nothing better.
/// 2. Otherwise an export with the name of no log, if the log begins within its readings.
///
/// If there are several, the one that covers clearly more is chosen: from the log's beginning on, at least twice as
/// many seconds as any other. Only exports at least half as dense as the densest are considered.
pub(crate) fn pair(logs: &[PairedLog], exports: &[PairedExport]) -> Vec<PairingChoice> {
    let nameless: Vec<usize> = numbers(exports, |export| !logs.iter().any(|log| is_named_after(export, log)));
    logs.iter().map(|log| choose(log, exports, &nameless)).collect()
}

fn is_named_after(export: &PairedExport, log: &PairedLog) -> bool {
    export.names.contains(&log.name)
}

/// The indexes of the exports that match.
fn numbers(exports: &[PairedExport], wanted: impl Fn(&PairedExport) -> bool) -> Vec<usize> {
    exports.iter().enumerate().filter(|(_, export)| wanted(export)).map(|(number, _)| number).collect()
}

fn choose(log: &PairedLog, exports: &[PairedExport], nameless: &[usize]) -> PairingChoice {
    let near = numbers(exports, |export| is_named_after(export, log) && export.folder == log.folder);
    let named = match near.is_empty() {
        true => numbers(exports, |export| is_named_after(export, log)),
        false => near,
    };
    let readings = |number: &usize| exports.get(*number).and_then(|export| export.readings);
    let (old, named): (Vec<_>, Vec<_>) = named.into_iter().partition(|number| {
        log.begins.zip(readings(number)).is_some_and(|(begins, readings)| readings.end_before(begins))
    });
    let at_hand = nameless.iter().copied().filter(|number| {
        log.begins.zip(readings(number)).is_some_and(|(begins, readings)| readings.contain(begins))
    });
    let (candidates, paired) =
        if !named.is_empty() { (named, Paired::Name) } else { (at_hand.collect(), Paired::Time) };
    match (candidates.as_slice(), old.as_slice()) {
        ([], []) => PairingChoice::None,
        ([], [only]) => PairingChoice::One(*only, Paired::Name, old),
        ([], _) => PairingChoice::Several(old),
        ([only], _) => PairingChoice::One(*only, paired, old),
        _ => match clearly_best(&candidates, readings, log.begins) {
            Some(best) => PairingChoice::One(best, paired, old),
            None => PairingChoice::Several(candidates),
        },
    }
}

/// The export that covers clearly more than the others, if all of them can be read.
fn clearly_best(
    candidates: &[usize],
    readings: impl Fn(&usize) -> Option<ReadingsSpan>,
    begins: Option<i64>,
) -> Option<usize> {
    let begins = begins?;
    let all: Vec<(usize, ReadingsSpan)> =
        candidates.iter().map(|number| Some((*number, readings(number)?))).collect::<Option<_>>()?;
    let mut dense: Vec<(u64, usize)> = all
        .iter()
        .filter(|(_, one)| all.iter().all(|(_, other)| one.are_as_dense_as(other)))
        .map(|(number, readings)| (readings.seconds_from(begins), *number))
        .collect();
    dense.sort_unstable();
    match dense.as_slice() {
        [.., (next, _), (furthest, best)] => (*furthest / 2 >= *next).then_some(*best),
        [(_, only)] => Some(*only),
        [] => None,
    }
}

/// The suffixes that the name of a CPU export may add to the name of its log.
const MARKS: [&str; 3] = [".cpu", "-cpu", "_cpu"];

/// The file's name in lower case, without folders and the extensions of packed and CSV files.
pub(crate) fn bare(file: &Path) -> String {
    stem(last_part(&file.to_string_lossy())).to_lowercase()
}

/// The bare name of the log to which a CPU export belongs, if its bare name has one of the suffixes.
pub(crate) fn log_of(bare: &str) -> Option<&str> {
    let log = MARKS.iter().find_map(|mark| bare.strip_suffix(mark))?;
    Some(stem(log)).filter(|log| !log.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log(name: &str, begins: i64) -> PairedLog {
        PairedLog { folder: PathBuf::new(), name: name.into(), begins: Some(begins) }
    }

    /// An export with one reading per second.
    fn export(name: &str, first: i64, last: i64) -> PairedExport {
        let count = u64::try_from(last - first + 1).unwrap();
        let readings = Some(ReadingsSpan { count, first, last });
        PairedExport { folder: PathBuf::new(), names: vec![name.into()], readings }
    }

    fn one(number: usize, paired: Paired) -> PairingChoice {
        PairingChoice::One(number, paired, Vec::new())
    }

    #[test]
    fn name_speaks_before_the_time() {
        let exports = [export("a", 100, 200), export("night", 0, 10_000), export("b", 300, 400)];
        let logs = [log("a", 110), log("b", 299), log("c", 500), log("d", 20_000)];
        let expected =
            [one(0, Paired::Name), one(2, Paired::Name), one(1, Paired::Time), PairingChoice::None];
        assert_eq!(pair(&logs, &exports), expected);
    }

    #[test]
    fn export_of_another_logs_name_is_none_by_time() {
        let exports = [export("a", 100, 200)];
        assert_eq!(
            pair(&[log("a", 100), log("b", 150)], &exports),
            [one(0, Paired::Name), PairingChoice::None]
        );
        assert_eq!(pair(&[log("b", 150)], &exports), [one(0, Paired::Time)]);
    }

    #[test]
    fn namesake_of_another_time_gives_way_to_one_that_overlaps() {
        let (old, night) = (export("a", 0, 50), export("night", 0, 1000));
        let paired = pair(&[log("a", 110)], &[old.clone(), night]);
        assert_eq!(paired, [PairingChoice::One(1, Paired::Time, vec![0])]);
        assert_eq!(pair(&[log("a", 110)], &[old]), [PairingChoice::One(0, Paired::Name, vec![0])]);
    }

    #[test]
    fn same_folder_comes_first() {
        let there = PairedExport { folder: "there".into(), ..export("a", 0, 900) };
        assert_eq!(pair(&[log("a", 10)], &[there.clone(), export("a", 0, 90)]), [one(1, Paired::Name)]);
        assert_eq!(pair(&[log("a", 10)], &[there]), [one(0, Paired::Name)]);
    }

    #[test]
    fn export_that_covers_clearly_more_is_chosen() {
        let logs = [log("x", 100)];
        let (tail, own, night) = (export("t", 0, 110), export("o", 90, 400), export("n", 0, 10_000));
        assert_eq!(pair(&logs, &[tail.clone(), own.clone()]), [one(1, Paired::Time)]);
        assert_eq!(pair(&logs, &[tail, own.clone(), night.clone()]), [one(2, Paired::Time)]);
        assert_eq!(pair(&logs, &[night.clone(), night.clone()]), [PairingChoice::Several(vec![0, 1])]);
        // An export with one reading per minute is not better, however far it reaches.
        let sparse = ReadingsSpan { count: 166, first: 0, last: 10_000 };
        let sparse = PairedExport { readings: Some(sparse), ..night };
        assert_eq!(pair(&logs, &[sparse, own]), [one(1, Paired::Time)]);
    }

    #[test]
    fn unreadable_export_is_known_by_its_name_alone() {
        let broken = |name: &str| PairedExport { readings: None, ..export(name, 0, 0) };
        assert_eq!(pair(&[log("a", 10)], &[broken("a")]), [one(0, Paired::Name)]);
        assert_eq!(pair(&[log("a", 10)], &[broken("b")]), [PairingChoice::None]);
        assert_eq!(
            pair(&[log("a", 10)], &[broken("a"), export("a", 0, 90)]),
            [PairingChoice::Several(vec![0, 1])]
        );
        let unknown = PairedLog { begins: None, ..log("a", 0) };
        assert_eq!(pair(&[unknown], &[export("a", 0, 90), export("n", 0, 90)]), [one(0, Paired::Name)]);
    }

    /// Pairs rule by rule and second by second, to check [`pair`].
    fn slow(logs: &[PairedLog], exports: &[PairedExport]) -> Vec<PairingChoice> {
        let named = |number: usize, log: &PairedLog| exports[number].names.contains(&log.name);
        let seconds = |number: usize| -> Vec<i64> {
            let readings = exports[number].readings.unwrap_or_default();
            (readings.first..=readings.last).filter(|_| readings.count > 0).collect()
        };
        let all = 0..exports.len();
        let choose = |log: &PairedLog| {
            let mut names: Vec<usize> = all.clone().filter(|number| named(*number, log)).collect();
            if names.iter().any(|number| exports[*number].folder == log.folder) {
                names.retain(|number| exports[*number].folder == log.folder);
            }
            let is_old = |number: &usize| match (log.begins, exports[*number].readings) {
                (Some(begins), Some(_)) => !seconds(*number).iter().any(|second| *second >= begins),
                _ => false,
            };
            let old: Vec<usize> = names.iter().copied().filter(is_old).collect();
            let mut found: Vec<usize> = names.iter().copied().filter(|number| !is_old(number)).collect();
            let mut paired = Paired::Name;
            if found.is_empty() {
                let free = all.clone().filter(|number| !logs.iter().any(|log| named(*number, log)));
                let begins = |number: &usize| log.begins.is_some_and(|at| seconds(*number).contains(&at));
                found = free.filter(begins).collect();
                paired = Paired::Time;
            }
            if found.is_empty() {
                paired = Paired::Name;
                found = old.clone();
                if found.len() > 1 {
                    return PairingChoice::Several(found);
                }
            }
            if found.len() > 1 {
                let density = |number: usize| {
                    let readings = exports[number].readings?;
                    Some(readings.count as f64 / seconds(number).len() as f64)
                };
                let densities: Option<Vec<f64>> = found.iter().map(|number| density(*number)).collect();
                let (Some(densities), Some(begins)) = (densities, log.begins) else {
                    return PairingChoice::Several(found);
                };
                let densest = densities.iter().copied().fold(0.0, f64::max);
                let dense = found.iter().filter(|number| 2.0 * density(**number).unwrap() >= densest);
                let reach = |number: usize| seconds(number).iter().filter(|at| **at >= begins).count();
                let dense: Vec<usize> = dense.copied().collect();
                let best = dense.iter().copied().find(|best| {
                    dense.iter().all(|other| other == best || reach(*best) >= 2 * reach(*other))
                });
                return match best {
                    Some(best) => PairingChoice::One(best, paired, old),
                    None => PairingChoice::Several(found),
                };
            }
            match found.as_slice() {
                [only] => PairingChoice::One(*only, paired, old),
                _ => PairingChoice::None,
            }
        };
        logs.iter().map(choose).collect()
    }

    fn folders() -> impl Strategy<Value = PathBuf> {
        prop_oneof![Just(PathBuf::from("x")), Just(PathBuf::from("y"))]
    }

    fn logs() -> impl Strategy<Value = Vec<PairedLog>> {
        let log = (folders(), "[a-c]", proptest::option::weighted(0.9, 0i64..64));
        let log = log.prop_map(|(folder, name, begins)| PairedLog { folder, name, begins });
        proptest::collection::vec(log, 0..5)
    }

    fn exports() -> impl Strategy<Value = Vec<PairedExport>> {
        // Powers of two, so that the slow version computes densities without rounding.
        let readings = (0u32..7, 0i64..64, 0u32..5).prop_map(|(long, first, spacing)| {
            let length = 1_i64 << long;
            let count = u64::try_from(length >> spacing).unwrap();
            ReadingsSpan { count, first, last: first + length - 1 }
        });
        let names = proptest::collection::vec("[a-f]", 1..3);
        let export = (folders(), names, proptest::option::weighted(0.9, readings));
        let export = export.prop_map(|(folder, names, readings)| PairedExport { folder, names, readings });
        proptest::collection::vec(export, 0..6)
    }

    /// A choice with the exports themselves instead of their indexes, sorted.
    fn described(choice: &PairingChoice, exports: &[PairedExport]) -> String {
        let sorted = |numbers: &[usize]| {
            let mut names: Vec<String> = numbers.iter().map(|at| format!("{:?}", exports[*at])).collect();
            names.sort();
            names
        };
        match choice {
            PairingChoice::None => String::new(),
            PairingChoice::One(one, paired, old) => {
                format!("{:?} {paired:?} {:?}", exports[*one], sorted(old))
            }
            PairingChoice::Several(all) => format!("{:?}", sorted(all)),
        }
    }

    proptest! {
        #[test]
        fn is_what_the_rules_say_in_any_order(
            logs in logs(), exports in exports(), turn in 0usize..6, other in 0usize..6, flip: bool,
        ) {
            let paired = pair(&logs, &exports);
            prop_assert_eq!(&paired, &slow(&logs, &exports));
            let mut listed = exports.clone();
            if !listed.is_empty() {
                let (turn, other) = (turn % listed.len(), other % listed.len());
                listed.rotate_left(turn);
                listed.swap(0, other);
            }
            let mut asked = logs.clone();
            if flip {
                asked.reverse();
            }
            let mut again: Vec<String> =
                pair(&asked, &listed).iter().map(|choice| described(choice, &listed)).collect();
            if flip {
                again.reverse();
            }
            let before: Vec<String> = paired.iter().map(|choice| described(choice, &exports)).collect();
            prop_assert_eq!(before, again);
        }
    }

    #[test]
    fn cpu_export_is_named_after_its_log() {
        for name in [
            "Results-2048-8181.cpu.csv.zip",
            "results-2048-8181.CPU.csv",
            "Results-2048-8181-cpu.csv.gz",
            "x/Results-2048-8181.csv.cpu.txt",
            "Results-2048-8181_cpu",
        ] {
            let export = bare(Path::new(name));
            assert_eq!(log_of(&export), Some(&*bare(Path::new("/y/Results-2048-8181.csv.zip"))), "{name}");
        }
        for name in ["Results-2048-8181.csv", "cpu.csv", ".cpu.csv"] {
            assert_eq!(log_of(&bare(Path::new(name))), None, "{name}");
        }
    }
}
