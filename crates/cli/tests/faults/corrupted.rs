//! Real zips with bits flipped, cut, with ranges zeroed, repeated, moved and taken from other zips: an error that
//! says so, or the very run that the whole zip gives; never a panic, a half run, or a wrong figure.

use std::collections::BTreeMap;

use crate::random::Random;
use crate::support::*;
use crate::trial::{TOLD, exports, ingested, samples, start};

/// Variants in a folder, and in a database.
const VARIANTS: [usize; 2] = [1000, 60];

#[test]
#[ignore = "takes minutes"]
fn corrupted_zips_in_a_folder() {
    trial(&Store::embedded(), VARIANTS[0], 3);
}

#[test]
#[ignore = "takes minutes"]
fn corrupted_zips_in_a_database() {
    if let Some(store) = Store::database() {
        trial(&store, VARIANTS[1], 4);
    }
}

/// The zips of logs among the fixtures.
fn zips() -> Vec<(String, Vec<u8>)> {
    let logs = Fixture::all();
    let zips = logs.iter().flat_map(Fixture::logs).filter(|log| log.ends_with(".zip"));
    zips.map(|zip| (zip.clone(), std::fs::read(zip).unwrap())).collect()
}

/// Tries to keep what can be read of a corrupted zip: no panic, and of one that was only cut never more than the whole.
fn salvaged(store: &Store, path: &str, kind: &str, whole: usize, about: &str) {
    let keep = ["--salvage", "--replace", "--max-rejects", "1000000"];
    let Done { code, err: told, .. } = store.run(&[&["ingest", path], &TOLD[..], &keep].concat());
    assert!(matches!(code, Some(0 | 1 | 3)) && !told.contains("panicked"), "{about}: {told}");
    if code == Some(0) {
        let kept = samples(store);
        assert!(kept > 0, "{about}: {told}");
        assert!(kind != "cut" || (kept <= whole && told.contains("partial: ")), "{about}: {told}");
    }
}

fn trial(store: &Store, variants: usize, seed: u64) {
    let zips = zips();
    assert!(zips.len() >= 8);
    let whole: Vec<Vec<String>> = zips.iter().map(|(path, _)| ingested(store, path)).collect();
    let size = |path: &str| {
        ingested(store, path);
        samples(store)
    };
    let sizes: Vec<usize> = zips.iter().map(|(path, _)| size(path)).collect();
    let earlier_log = fixture("crlf.csv").display().to_string();
    let earlier = ingested(store, &earlier_log);
    let mut random = Random::new(seed);
    let mut tally: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for number in 0..variants {
        let at = random.below(zips.len() as u64) as usize;
        let other = &zips[random.below(zips.len() as u64) as usize].1;
        let (kind, bytes) = corrupted(&zips[at].1, other, &mut random);
        let piped = random.below(3) == 0;
        let path = store.file("corrupted.zip", &bytes);
        let about = format!("variant {number}, {kind} of {}, piped: {piped}", zips[at].0);
        let Done { code, err: told, .. } = finish(start(store, &path, piped));
        let about = format!("{about}: {told}");
        assert!(told.len() < 5_000, "{about}");
        assert!(!told.contains("panicked"), "{about}");
        match code {
            Some(0) => {
                // What no checksum covers says nothing of the run. A splice may have made it another zip, whole.
                assert!(whole.contains(&exports(store)), "{about}");
                ingested(store, &earlier_log);
            }
            Some(1 | 3) => {
                assert!(told.starts_with("perfpipe: ") && told.trim_end().lines().count() >= 2, "{about}");
                if number % 10 == 0 {
                    assert!(exports(store) == earlier, "{about}");
                }
            }
            _ => panic!("exit code {code:?}: {about}"),
        }
        if number % 4 == 0 {
            salvaged(store, &path, kind, sizes[at], &about);
            ingested(store, &earlier_log);
        }
        *tally.entry((kind, format!("exit code {}", code.unwrap()))).or_default() += 1;
    }
    assert!(exports(store) == earlier);
    assert_eq!(store.leftovers(), Vec::<String>::new());
    eprintln!("{variants} corrupted zips in {}, no panic, no half run, no lost run:", store.flag[0]);
    tally.iter().for_each(|((kind, code), times)| eprintln!("{times:>6}  {kind}, {code}"));
}

/// A range of at most a quarter of so many bytes.
fn range(length: usize, random: &mut Random) -> std::ops::Range<usize> {
    let from = random.below(length as u64) as usize;
    let most = (length / 4).clamp(1, length - from);
    from..from + 1 + random.below(most as u64) as usize
}

/// A zip that was harmed in one of several ways, and the way.
pub(crate) fn corrupted(zip: &[u8], other: &[u8], random: &mut Random) -> (&'static str, Vec<u8>) {
    let mut bytes = zip.to_vec();
    let length = bytes.len();
    // Half of the flips are where everything is described: in the local header or the directory.
    let anywhere = |random: &mut Random| match random.below(4) {
        0 => random.below(60) as usize,
        1 => length - 1 - random.below(120) as usize,
        _ => random.below(length as u64) as usize,
    };
    let kind = match random.below(7) {
        0 => {
            bytes[anywhere(random)] ^= 1 << random.below(8);
            "one bit flipped"
        }
        1 => {
            for _ in 0..2 + random.below(30) {
                bytes[anywhere(random)] ^= 1 << random.below(8);
            }
            "bits flipped"
        }
        2 => {
            bytes.truncate(anywhere(random));
            "cut"
        }
        3 => {
            let range = range(length, random);
            bytes[range].fill(0);
            "a range zeroed"
        }
        4 => {
            let range = range(length, random);
            bytes.drain(range);
            "a range left out"
        }
        5 => {
            let (piece, to) = (bytes[range(length, random)].to_vec(), anywhere(random));
            bytes.splice(to..to, piece);
            "a range repeated"
        }
        _ => {
            let piece = other[range(other.len(), random)].to_vec();
            let to = anywhere(random);
            bytes.splice(to..(to + piece.len()).min(length), piece);
            "a range of another"
        }
    };
    (kind, bytes)
}
