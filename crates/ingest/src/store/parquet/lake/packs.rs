//! Packs of manifests: those of many runs as one object, so that a list of runs needs few requests. What is in no pack, or
//! in a damaged one, is read one by one.

use std::path::Path;

use super::{Lake, MANIFESTS};
use crate::error::{Error, Result};
use crate::store::parquet::folder::manifest::Manifest;

/// The number of manifests in a pack at most.
const IN_A_PACK: usize = 1000;

/// The number of packs that are held in memory.
const AT_ONCE: usize = 32;

impl Lake {
    fn packs() -> String {
        format!("{MANIFESTS}/packs")
    }

    /// Writes packs of the manifests of generations. Their name begins with `version`.
    pub(super) fn pack(&self, version: u64, generations: &[String]) -> Result<()> {
        for (number, some) in generations.chunks(IN_A_PACK).enumerate() {
            let names: Vec<String> = some.iter().map(|name| Self::manifest_name(name)).collect();
            // Runs may be gone already, and manifests of earlier versions have several lines.
            let texts = self.bucket.get_all(&names)?.into_iter().flatten();
            let lines: Vec<_> = texts.filter(|text| !text.contains(&b'\n')).collect();
            let name = format!("{}/{version:020}-{number:06}.jsonl.zst", Self::packs());
            let path = self.bucket.shown(&name);
            let packed = zstd::stream::encode_all(lines.join(&b'\n').as_slice(), 0);
            let put = packed.and_then(|packed| self.bucket.put(&name, packed.into()));
            put.map_err(|error| Error::io(&*path, error))?;
        }
        Ok(())
    }

    /// Passes all manifests in packs to `each`, also those of runs that are gone.
    pub(super) fn packed(&self, each: &mut dyn FnMut(Manifest)) -> Result<()> {
        let names: Vec<String> =
            self.bucket.list(&Self::packs())?.into_iter().map(|(name, _)| name).collect();
        for some in names.chunks(AT_ONCE) {
            for pack in self.bucket.get_all(some)?.into_iter().flatten() {
                let Ok(lines) = zstd::stream::decode_all(&*pack) else { continue };
                let manifests = lines.split(|byte| *byte == b'\n');
                manifests.filter_map(|text| Manifest::of(Path::new("packs"), text).ok()).for_each(&mut *each);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::run::info::RunInfo;
    use crate::run::key::RunKey;

    #[test]
    fn packs_have_all_manifests_but_those_that_take_several_lines() {
        let folder = tempfile::tempdir().unwrap();
        let lake = Lake::open(&format!("file://{}", folder.path().display()), &[]).unwrap();
        let generations: Vec<String> = (0..2 * IN_A_PACK + 1).map(|run| format!("run-{run}")).collect();
        // The last one is gone.
        for (run, generation) in generations.iter().enumerate().take(2 * IN_A_PACK) {
            let info = RunInfo::new(RunKey::new("go", format!("t{run}")), 0, 0);
            let manifest = Manifest { generation: generation.clone(), files: BTreeMap::new(), info };
            let mut text = manifest.sealed(Path::new("x")).unwrap();
            text.extend_from_slice(if run == 7 { b"\n" } else { b"" });
            lake.bucket.put(&Lake::manifest_name(generation), text.into()).unwrap();
        }
        lake.pack(3, &generations).unwrap();
        let mut packs: Vec<String> =
            lake.bucket.list(&Lake::packs()).unwrap().into_iter().map(|(name, _)| name).collect();
        packs.sort();
        assert_eq!(packs.len(), 3);
        let found = || {
            let mut found = BTreeSet::new();
            lake.packed(&mut |manifest| assert!(found.insert(manifest.generation))).unwrap();
            found
        };
        let expected: BTreeSet<String> =
            generations.iter().take(2 * IN_A_PACK).filter(|name| *name != "run-7").cloned().collect();
        assert_eq!(found(), expected);
        lake.bucket.put(&packs[0], b"x".as_slice().into()).unwrap();
        assert_eq!(found().len(), IN_A_PACK);
    }
}
