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

/// What a command does to them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Op {
    Ingest(Key, Content),
    Append(usize, Content),
    Attach(Key, usize),
    Copy(Key),
    Drop(Key),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    Failed,
    Killed,
}

impl Op {
    /// What the stores may hold once it has done its work; nothing, where it can't. `beside` so many others it may find
    /// as many of the lowest free repeats taken.
    fn after(self, before: &Stores, beside: usize) -> Vec<Stores> {
        let with = |change: &dyn Fn(&mut Stores)| {
            let mut after = before.clone();
            change(&mut after);
            after
        };
        match self {
            Self::Ingest(key, content) => vec![with(&|stores| _ = stores.main.insert(key, content))],
            Self::Append(framework, content) => {
                let free = (1..).filter(|repeat| !before.main.contains_key(&(framework, *repeat)));
                let insert = |repeat| with(&|stores| _ = stores.main.insert((framework, repeat), content));
                free.take(beside + 1).map(insert).collect()
            }
            Self::Attach(key, cpu) => match before.main.get(&key) {
                Some(content) => {
                    let content = Content { cpu: Some(cpu), ..*content };
                    vec![with(&|stores| _ = stores.main.insert(key, content))]
                }
                None => Vec::new(),
            },
            Self::Copy(key) => match before.main.get(&key) {
                Some(content) => vec![with(&|stores| _ = stores.other.insert(key, *content))],
                None => Vec::new(),
            },
            Self::Drop(key) if before.main.contains_key(&key) => {
                vec![with(&|stores| _ = stores.main.remove(&key))]
            }
            Self::Drop(_) => Vec::new(),
        }
    }
}

/// What the stores may hold after commands that ran side by side: each has done its work at once, at some moment, or
/// nothing at all.
pub(crate) fn outcomes(before: &Stores, ops: &[(Op, Ended)]) -> BTreeSet<Stores> {
    let at_work: Vec<(Op, Ended)> =
        ops.iter().copied().filter(|(_, ended)| *ended != Ended::Failed).collect();
    let mut found = BTreeSet::new();
    extend(before, &at_work, ops.len() - 1, &mut found);
    found
}

fn extend(before: &Stores, left: &[(Op, Ended)], beside: usize, found: &mut BTreeSet<Stores>) {
    if left.iter().all(|(_, ended)| *ended == Ended::Killed) {
        found.insert(before.clone());
    }
    for (at, (op, _)) in left.iter().enumerate() {
        let rest = [&left[..at], &left[at + 1..]].concat();
        for after in op.after(before, beside) {
            extend(&after, &rest, beside, found);
        }
    }
}
