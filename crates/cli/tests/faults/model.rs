//! What two stores must hold after operations that may have run side by side: a model without files or servers.

use std::collections::{BTreeMap, BTreeSet};

/// Framework, by its number, and repeat.
pub(crate) type Key = (usize, u32);

/// What a run was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Content {
    /// Which log.
    pub(crate) log: usize,
    /// Which CPU export.
    pub(crate) cpu: Option<usize>,
    /// Whether samples were kept.
    pub(crate) samples: bool,
}

/// The runs of a store, and of the one that runs are copied to.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stores {
    pub(crate) main: BTreeMap<Key, Content>,
    pub(crate) other: BTreeMap<Key, Content>,
}

/// How runs are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    /// All repeats of a framework.
    All(usize),
    /// One of them.
    One(Key),
}

impl Name {
    /// The runs that it means.
    pub(crate) fn runs(self, stores: &Stores) -> Vec<Key> {
        let is_meant = |key: &&Key| match self {
            Self::All(framework) => key.0 == framework,
            Self::One(one) => **key == one,
        };
        stores.main.keys().filter(is_meant).copied().collect()
    }

    /// Whether a command that changes these runs asks first.
    fn asks(self, runs: &[Key]) -> bool {
        matches!(self, Self::All(_)) && !matches!(runs, [(_, 1)])
    }
}

/// What is done to runs that are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    Attach(usize),
    Copy,
    Drop,
    /// To the other framework, whatever run has that name.
    Rename,
}

/// What a command does to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Op {
    Ingest(Key, Content),
    Append(usize, Content),
    /// Runs by their name, with or without a confirmation.
    Named(Deed, Name, bool),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ended {
    Done,
    Failed,
    /// There was nobody to ask whether several runs are meant.
    Asked,
    Killed,
}

/// What a command does at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Ingest(Key, Content),
    Append(usize, Content),
    Attach(Key, usize),
    Copy(Key),
    Drop(Key),
    /// Stores a run under another key, too.
    Double(Key, Key),
}

impl Step {
    /// What the stores may hold afterwards; nothing, where it can't be done. `beside` so many others it may find as many
    /// of the lowest free repeats taken.
    fn after(self, before: &Stores, beside: usize) -> Vec<Stores> {
        let with = |change: &dyn Fn(&mut Stores)| {
            let mut after = before.clone();
            change(&mut after);
            vec![after]
        };
        let found = |key: Key| before.main.get(&key).copied();
        match self {
            Self::Ingest(key, content) => with(&|stores| _ = stores.main.insert(key, content)),
            Self::Append(framework, content) => {
                let free = (1..).filter(|repeat| !before.main.contains_key(&(framework, *repeat)));
                let insert = |repeat| with(&|stores| _ = stores.main.insert((framework, repeat), content));
                free.take(beside + 1).flat_map(insert).collect()
            }
            Self::Attach(key, cpu) => found(key).map_or_else(Vec::new, |content| {
                let content = Content { cpu: Some(cpu), ..content };
                with(&|stores| _ = stores.main.insert(key, content))
            }),
            Self::Copy(key) => found(key)
                .map_or_else(Vec::new, |content| with(&|stores| _ = stores.other.insert(key, content))),
            Self::Drop(key) => {
                found(key).map_or_else(Vec::new, |_| with(&|stores| _ = stores.main.remove(&key)))
            }
            Self::Double(key, new) => found(key)
                .map_or_else(Vec::new, |content| with(&|stores| _ = stores.main.insert(new, content))),
        }
    }
}

/// How far a command is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Stand {
    /// It has not looked yet which runs there are.
    Begun,
    /// It is to copy these, and has not looked yet which others of the other store it would replace.
    Chosen(Vec<(Key, Content)>),
    Left(Vec<Step>),
    Asked,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Work {
    op: Op,
    ended: Ended,
    stand: Stand,
    /// Whether a step failed.
    failed: bool,
}

impl Work {
    /// Whether it may have ended here, as it did.
    fn may_end(&self) -> bool {
        let is_done = matches!(&self.stand, Stand::Left(steps) if steps.is_empty());
        match self.ended {
            Ended::Done => is_done && !self.failed,
            Ended::Failed => !is_done || self.failed,
            Ended::Asked => self.stand == Stand::Asked,
            Ended::Killed => true,
        }
    }

    /// What it finds when it looks which runs there are; nothing, if it fails for that.
    fn look(&self, stores: &Stores) -> Option<Stand> {
        let (deed, name, confirmed) = match self.op {
            Op::Ingest(key, content) => return Some(Stand::Left(vec![Step::Ingest(key, content)])),
            Op::Append(framework, content) => {
                return Some(Stand::Left(vec![Step::Append(framework, content)]));
            }
            Op::Named(deed, name, confirmed) => (deed, name, confirmed),
        };
        let runs = name.runs(stores);
        if runs.is_empty() {
            return None;
        }
        if deed != Deed::Copy && !confirmed && name.asks(&runs) {
            return Some(Stand::Asked);
        }
        if deed == Deed::Copy && !confirmed {
            let content = |key: Key| Some((key, *stores.main.get(&key)?));
            return Some(Stand::Chosen(runs.into_iter().filter_map(content).collect()));
        }
        let steps = |key: Key| match deed {
            Deed::Attach(cpu) => vec![Step::Attach(key, cpu)],
            Deed::Copy => vec![Step::Copy(key)],
            Deed::Drop => vec![Step::Drop(key)],
            Deed::Rename => vec![Step::Double(key, (1 - key.0, key.1)), Step::Drop(key)],
        };
        Some(Stand::Left(runs.into_iter().flat_map(steps).collect()))
    }

    /// What it and the stores may be after a moment more.
    fn after(&self, stores: &Stores, beside: usize) -> Vec<(Self, Stores)> {
        match &self.stand {
            Stand::Begun => {
                let stand = self.look(stores);
                stand.into_iter().map(|stand| (Self { stand, ..self.clone() }, stores.clone())).collect()
            }
            Stand::Chosen(chosen) => {
                // Of the same files, it is no other run.
                let is_other = |(key, from): &&(Key, Content)| {
                    stores.other.get(key).is_some_and(|there| (there.log, there.cpu) != (from.log, from.cpu))
                };
                let stand = match chosen.iter().filter(is_other).count() {
                    0 | 1 => Stand::Left(chosen.iter().map(|(key, _)| Step::Copy(*key)).collect()),
                    _ => Stand::Asked,
                };
                vec![(Self { stand, ..self.clone() }, stores.clone())]
            }
            Stand::Asked => Vec::new(),
            Stand::Left(steps) => {
                let Some((step, rest)) = steps.split_first() else { return Vec::new() };
                let left = |failed| Self { stand: Stand::Left(rest.to_vec()), failed, ..self.clone() };
                let done = step.after(stores, beside).into_iter().map(|after| (left(self.failed), after));
                // A run that can't be copied does not keep the others from it.
                let skipped = (self.ended == Ended::Failed).then(|| (left(true), stores.clone()));
                done.chain(skipped).collect()
            }
        }
    }
}

/// What the stores may hold after commands that ran side by side: each has done its work run by run, each at once at some
/// moment, or as much of it as it had when it failed or was killed.
pub(crate) fn outcomes(before: &Stores, ops: &[(Op, Ended)]) -> BTreeSet<Stores> {
    let begun =
        |(op, ended): &(Op, Ended)| Work { op: *op, ended: *ended, stand: Stand::Begun, failed: false };
    let mut seen = BTreeSet::new();
    let mut next = vec![(before.clone(), ops.iter().map(begun).collect::<Vec<Work>>())];
    let mut found = BTreeSet::new();
    while let Some((stores, works)) = next.pop() {
        if works.iter().all(Work::may_end) {
            found.insert(stores.clone());
        }
        for (at, work) in works.iter().enumerate() {
            for (work, stores) in work.after(&stores, ops.len() - 1) {
                let mut works = works.clone();
                works[at] = work;
                if seen.insert((stores.clone(), works.clone())) {
                    next.push((stores, works));
                }
            }
        }
    }
    found
}

#[test]
fn names_mean_all_repeats_and_changes_of_several_are_asked_for() {
    let content = Content { log: 0, cpu: None, samples: true };
    let mut before = Stores::default();
    before.main.extend([((0, 1), content), ((0, 2), content)]);
    let after = |op, ended| outcomes(&before, &[(op, ended)]);
    let drop = |name, confirmed| Op::Named(Deed::Drop, name, confirmed);
    let runs =
        |found: BTreeSet<Stores>| -> Vec<usize> { found.iter().map(|stores| stores.main.len()).collect() };
    assert_eq!(runs(after(drop(Name::All(0), false), Ended::Asked)), [2]);
    assert!(after(drop(Name::All(0), false), Ended::Done).is_empty());
    assert_eq!(runs(after(drop(Name::All(0), true), Ended::Done)), [0]);
    assert_eq!(runs(after(drop(Name::One((0, 2)), false), Ended::Done)), [1]);
    assert!(after(drop(Name::One((0, 3)), false), Ended::Done).is_empty());
    let killed = after(Op::Named(Deed::Rename, Name::All(0), true), Ended::Killed);
    assert_eq!(runs(killed).into_iter().max(), Some(3), "a run may be there by both names");
}
