//! The names of runs as they are printed: each means the run that it is printed for, wherever it is given.

use std::collections::{BTreeMap, BTreeSet};

use perfpipe_ingest::run::is_numbered;
use perfpipe_ingest::{RunKey, Store};

/// The names of the runs of a store.
///
/// A run is printed as `go_2048#2`, and as `go_2048` if it is the first and the only repeat: that name means all of them.
/// Where the names of two tests would be the same, each is printed as `go/2048`.
#[derive(Debug, Default)]
pub(crate) struct RunNames {
    /// The framework and the test of each name without a repeat, with their repeats.
    tests: BTreeMap<String, BTreeMap<(String, String), BTreeSet<u32>>>,
}

impl RunNames {
    /// Names these runs.
    pub(crate) fn of<'a>(keys: impl IntoIterator<Item = &'a RunKey>) -> Self {
        let mut names = Self::default();
        for key in keys {
            let test = (key.framework.clone(), key.test.clone());
            names.tests.entry(text(key)).or_default().entry(test).or_default().insert(key.repeat);
        }
        names
    }

    /// Names a run that a command has just stored, as the other runs of the store require.
    pub(crate) async fn in_store(store: &Store, key: &RunKey) -> String {
        // That they can't be read is no failure of a command that has done its work.
        let stored = store.keys().await.unwrap_or_default();
        Self::of(stored.iter().chain([key])).name(key)
    }

    /// Returns the name of a run.
    pub(crate) fn name(&self, key: &RunKey) -> String {
        let test = self.test(key);
        let is_only = self.repeats(key).is_none_or(|repeats| repeats.iter().all(|repeat| *repeat == 1));
        let is_bare = key.repeat == 1 && is_only && !is_numbered(&test);
        if is_bare { test } else { format!("{test}#{}", key.repeat) }
    }

    /// Returns the name of all repeats of a run's test.
    pub(crate) fn test(&self, key: &RunKey) -> String {
        let text = text(key);
        let is_shared = self.tests.get(&text).is_some_and(|tests| tests.len() > 1);
        if is_shared { format!("{}/{}", key.framework, key.test) } else { text }
    }

    fn repeats(&self, key: &RunKey) -> Option<&BTreeSet<u32>> {
        self.tests.get(&text(key))?.get(&(key.framework.clone(), key.test.clone()))
    }
}

fn text(key: &RunKey) -> String {
    key.clone().with_repeat(1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_name_means_the_run_and_no_other() {
        let key = |framework: &str, test: &str, repeat| RunKey::new(framework, test).with_repeat(repeat);
        for (keys, names) in [
            (vec![key("go", "t", 1)], vec!["go_t"]),
            (vec![key("go", "t", 1), key("go", "t", 2)], vec!["go_t#1", "go_t#2"]),
            (vec![key("go", "t", 3)], vec!["go_t#3"]),
            (vec![key("a_b", "c", 1), key("a", "b_c", 1)], vec!["a_b/c", "a/b_c"]),
            (vec![key("a_b", "c", 1), key("a", "b_c", 2)], vec!["a_b/c", "a/b_c#2"]),
            (vec![key("go", "t#1", 1), key("go", "t", 1)], vec!["go_t#1#1", "go_t"]),
        ] {
            let printed = RunNames::of(&keys);
            let printed: Vec<String> = keys.iter().map(|key| printed.name(key)).collect();
            assert_eq!(printed, names);
            for (name, key) in printed.iter().zip(&keys) {
                let called: Vec<&RunKey> = keys.iter().filter(|key| key.is_called(name)).collect();
                assert_eq!(called, [key], "{name}");
            }
        }
        assert_eq!(RunNames::default().name(&key("go", "t", 1)), "go_t");
    }
}
