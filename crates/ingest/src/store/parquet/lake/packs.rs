//! Packs of manifests: those of many runs as one object, so that a list of runs needs few requests. What is in no pack, or
//! in a damaged one, is read one by one.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::bucket::ReadLimits;
use super::{Lake, MANIFEST, MANIFESTS};
use crate::error::{Error, Result};
use crate::store::parquet::folder::manifest::Manifest;

/// The number of manifests in a pack at most, and the largest of them in bytes.
const IN_A_PACK: usize = 1000;
const LARGEST: usize = 64 << 10;

/// How packs are read.
const PACKS: ReadLimits = ReadLimits { at_once: 4, small: 8 << 20, most: 64 << 20 };

/// The size of the largest window of a pack in bytes, as a power of two: what perfpipe writes has 2 MiB.
const WINDOW: u32 = 23;

impl Lake {
    fn packs() -> String {
        format!("{MANIFESTS}/packs")
    }

    /// Writes packs of the manifests of generations. Their name begins with `version`.
    pub(super) fn pack(&self, version: u64, generations: &[String]) -> Result<()> {
        for (number, some) in generations.chunks(IN_A_PACK).enumerate() {
            let names: Vec<String> = some.iter().map(|name| Self::manifest_name(name)).collect();
            let mut lines = Vec::new();
            self.bucket.get_each(&names, MANIFEST, &mut |_, text| {
                // Runs may be gone already, and manifests of earlier versions have several lines.
                lines.extend(text.filter(|text| !text.contains(&b'\n') && text.len() <= LARGEST));
                Ok(())
            })?;
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
            self.bucket.list(&Self::packs())?.into_iter().map(|found| found.name).collect();
        self.bucket.get_each(&names, PACKS, &mut |_, pack| {
            // What follows damage is read one by one.
            let _ = pack.map(|pack| unpack(&pack, each));
            Ok(())
        })
    }
}

/// Passes the manifests of a pack to `each`. No more is unpacked than a pack can have.
fn unpack(pack: &[u8], each: &mut dyn FnMut(Manifest)) -> io::Result<()> {
    let mut unpacked = zstd::stream::read::Decoder::with_buffer(pack)?;
    unpacked.window_log_max(WINDOW)?;
    let mut unpacked = BufReader::new(unpacked);
    let mut line = Vec::new();
    for _ in 0..IN_A_PACK {
        line.clear();
        let length = (&mut unpacked).take(LARGEST as u64 + 1).read_until(b'\n', &mut line)?;
        if length == 0 || (length > LARGEST && !line.ends_with(b"\n")) {
            break;
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        Manifest::of(Path::new("packs"), text).ok().into_iter().for_each(&mut *each);
    }
    Ok(())
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
            lake.bucket.list(&Lake::packs()).unwrap().into_iter().map(|found| found.name).collect();
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
        // What no pack can have is not unpacked: neither one endless manifest nor a million empty ones.
        for lines in [vec![b' '; 50 << 20], b"{}\n".repeat(1 << 20)] {
            let bomb = zstd::stream::encode_all(&*lines, 0).unwrap();
            let mut read = 0;
            unpack(&bomb, &mut |_| read += 1).unwrap();
            assert_eq!(read, 0);
            lake.bucket.put(&packs[0], bomb.into()).unwrap();
            assert_eq!(found().len(), IN_A_PACK);
        }
    }
}
