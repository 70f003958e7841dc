//! Properties that must hold for any bytes: one function per target, which panics if its property does not hold.
//!
//! They are called by the fuzz targets in `fuzz/`, and by tests with the files in `fuzz/corpus`. Not part of the API;
//! may change at any time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a property that does not hold is reported by panicking"
)]

mod cpu;
mod inputs;
mod keys;
mod parse;

pub use perfpipe_formats::fuzz::dates::dates;
pub use perfpipe_formats::fuzz::{records, summaries, tools};
pub use perfpipe_model::fuzz::cells;
pub use perfpipe_store::parquet::fuzz::{manifest, operations, packed, tables};
pub use perfpipe_store::postgres::fuzz::{copy, passfile, rows, settings};

pub use self::cpu::cpu;
pub use self::inputs::inputs;
pub use self::keys::keys;
pub use self::parse::parse;

/// A property that panics if it does not hold.
pub type Target = fn(&[u8]);

/// The targets by name. Their programs and the folders in `fuzz/corpus` have the same names.
pub const TARGETS: [(&str, Target); 17] = [
    ("cells", cells),
    ("copy", copy),
    ("cpu", cpu),
    ("dates", dates),
    ("inputs", inputs),
    ("keys", keys),
    ("manifest", manifest),
    ("operations", operations),
    ("packed", packed),
    ("parse", parse),
    ("passfile", passfile),
    ("records", records),
    ("rows", rows),
    ("settings", settings),
    ("summaries", summaries),
    ("tables", tables),
    ("tools", tools),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    fn names(folder: &Path) -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn top() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
    }

    #[test]
    fn whatever_the_corpus_keeps_holds() {
        let mut failed = Vec::new();
        for (name, target) in TARGETS {
            let folder = top().join("corpus").join(name);
            for file in names(&folder) {
                let bytes = std::fs::read(folder.join(&file)).unwrap();
                if std::panic::catch_unwind(|| target(&bytes)).is_err() {
                    failed.push(format!("{name}/{file}"));
                }
            }
            assert!(names(&folder).len() > 3, "{name}");
        }
        assert_eq!(failed, Vec::<String>::new(), "what panicked is reported above");
    }

    /// Returns a file of a target's corpus.
    fn kept(name: &str, which: Index) -> Vec<u8> {
        let folder = top().join("corpus").join(name);
        let files: Vec<String> = names(&folder).into_iter().collect();
        std::fs::read(folder.join(which.get(&files))).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1200) })]

        #[test]
        fn changed_corpus_holds_too(
            target in 0..TARGETS.len(), which in any::<[Index; 2]>(), at in any::<[Index; 4]>(), byte in any::<u8>(),
        ) {
            let (name, target) = TARGETS[target];
            let mut bytes = kept(name, which[0]);
            let other = kept(name, which[1]);
            target(&bytes[..at[0].index(bytes.len() + 1)]);
            let spliced = [&bytes[..at[1].index(bytes.len() + 1)], &other[at[2].index(other.len() + 1)..]];
            target(&spliced.concat());
            let place = at[3].index(bytes.len() + 1);
            bytes.get_mut(place).into_iter().for_each(|changed| *changed = byte);
            target(&bytes);
        }
    }

    #[test]
    fn every_target_has_a_program_and_a_corpus() {
        let expected: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let folder = top().join("fuzz_targets");
        let programs = names(&folder).into_iter().flat_map(|group| names(&folder.join(group)));
        let programs: BTreeSet<String> =
            programs.map(|name| name.strip_suffix(".rs").unwrap().to_owned()).collect();
        assert_eq!(programs, expected);
        assert_eq!(names(&top().join("corpus")), expected);
    }
}
