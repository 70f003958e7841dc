//! The points of a store: one file, which is replaced as a whole.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::ParquetStore;
use super::folder::manifest::{sync_dir, write_json};
use super::folder::{POINTS, StoreFolder, not_durable};
use super::home::StoreHome;
use super::lock::read_whole;
use crate::Repairer;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::points::{Point, PointKey};

/// The version of the file's form.
const VERSION: u32 = 2;

/// The version that had no checksum.
const UNSEALED: u32 = 1;

/// The contents of the file.
#[derive(Serialize, Deserialize)]
struct PointsFile {
    version: u32,
    /// CRC-32 (IEEE) of the points' text.
    #[serde(default)]
    crc32: u32,
    points: Box<RawValue>,
}

impl PointsFile {
    fn new(points: &[Point]) -> serde_json::Result<Self> {
        let points = RawValue::from_string(serde_json::to_string_pretty(points)?)?;
        Ok(Self { version: VERSION, crc32: crc32fast::hash(points.get().as_bytes()), points })
    }

    /// Returns the points, or what is wrong with the file.
    fn read(text: &[u8]) -> std::result::Result<Vec<Point>, String> {
        let damaged = |problem: &str| {
            format!(
                "{problem} (the file is damaged: repair the store, which sets it aside, and ingest the summaries again)"
            )
        };
        let file: Self = serde_json::from_slice(text).map_err(|problem| damaged(&problem.to_string()))?;
        match file.version {
            VERSION if crc32fast::hash(file.points.get().as_bytes()) != file.crc32 => {
                Err(damaged("its checksum does not match"))
            }
            VERSION | UNSEALED => {
                serde_json::from_str(file.points.get()).map_err(|problem| damaged(&problem.to_string()))
            }
            other => Err(format!("it has the form {other}, and this perfpipe knows {VERSION}")),
        }
    }
}

impl ParquetStore {
    /// Stores points, all or none of them. Each replaces an earlier one of its key.
    ///
    /// # Errors
    /// If the stored points can't be read or written.
    pub fn put_points(&self, points: &[Point]) -> Result<()> {
        self.change_points(&|stored| {
            stored.extend(by_key(points.to_vec()));
            true
        })
    }

    /// Returns the stored points.
    ///
    /// # Errors
    /// If they can't be read.
    pub fn points(&self) -> Result<Vec<Point>> {
        let text = match &self.home {
            StoreHome::Folder(folder) => text_in(folder)?,
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => lake.points()?.map(|(path, text)| (path, text.into())),
        };
        text.map_or(Ok(Vec::new()), |(path, text)| read(&path, &text))
    }

    /// Removes points; returns how many there were.
    ///
    /// # Errors
    /// If the stored points can't be read or written.
    pub fn drop_points(&self, keys: &BTreeSet<PointKey>) -> Result<usize> {
        let there = self.points()?.iter().filter(|point| keys.contains(&point.key)).count();
        if there == 0 {
            return Ok(0);
        }
        let dropped = Cell::new(0);
        self.change_points(&|stored| {
            let before = stored.len();
            stored.retain(|key, _| !keys.contains(key));
            dropped.set(before - stored.len());
            dropped.get() > 0
        })?;
        Ok(dropped.get())
    }

    /// Changes the stored points, unless `change` says that nothing is changed. In a bucket it may be asked several times.
    fn change_points(&self, change: &dyn Fn(&mut BTreeMap<PointKey, Point>) -> bool) -> Result<()> {
        match &self.home {
            StoreHome::Folder(folder) => {
                folder.create()?;
                let _gate = folder.gate()?;
                let mut stored = by_key(self.points()?);
                if change(&mut stored) { self.write_points(stored) } else { Ok(()) }
            }
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => lake.change_points(&|text| {
                let read = text.map_or(Ok(Vec::new()), |(path, text)| read(&path, &text));
                let mut stored = by_key(read?);
                if !change(&mut stored) {
                    return Ok(None);
                }
                let points: Vec<Point> = stored.into_values().collect();
                let failed = |error| Error::store("writing points", error);
                let file = PointsFile::new(&points).map_err(failed)?;
                let text = serde_json::to_vec(&file).map_err(failed)?;
                Ok(Some((points, text)))
            }),
        }
    }

    /// Sets the file of points aside.
    pub fn set_points_aside(&self, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        match &self.home {
            StoreHome::Folder(folder) => folder.file_aside(&self.path().join(POINTS), why, repairer),
            #[cfg(feature = "lake")]
            StoreHome::Lake(lake) => lake.set_points_aside(why, repairer),
        }
    }

    fn write_points(&self, points: BTreeMap<PointKey, Point>) -> Result<()> {
        let (path, points) = (self.path().join(POINTS), points.into_values().collect::<Vec<_>>());
        let file = PointsFile::new(&points)
            .map_err(|error| Error::store(format!("writing {}", path.display()), error))?;
        write_json(&path, &file)?;
        sync_dir(self.path()).map_err(|error| not_durable("the points are in their place", &error))
    }
}

/// The maximum size of the file of points in bytes: some hundred thousand of them.
const LARGEST: u64 = 64 << 20;

/// Returns the text of the points in a folder, and its file; `None` if there is none.
fn text_in(folder: &StoreFolder) -> Result<Option<(PathBuf, Vec<u8>)>> {
    let path = folder.path().join(POINTS);
    Ok(read_whole(&path, LARGEST)?.map(|text| (path, text)))
}

fn read(path: &Path, text: &[u8]) -> Result<Vec<Point>> {
    PointsFile::read(text).map_err(|why| Error::store(format!("reading {}", path.display()), why))
}

fn by_key(points: Vec<Point>) -> BTreeMap<PointKey, Point> {
    points.into_iter().map(|point| (point.key.clone(), point)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use perfpipe_model::points::Figures;

    fn point(test: &str, requests: u64) -> Point {
        let figures = Figures { requests: Some(requests), duration: Some(0.1), ..Figures::default() };
        Point::new(PointKey::new("wrk", "go", test).with_concurrency(8), figures)
    }

    #[test]
    fn points_are_replaced_by_key_and_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let store = ParquetStore::open(dir.path().join("data")).unwrap();
        assert_eq!(store.points().unwrap(), Vec::new());
        store.put_points(&[point("a", 1), point("b", 2)]).unwrap();
        store.put_points(&[point("b", 3)]).unwrap();
        assert_eq!(store.points().unwrap(), [point("a", 1), point("b", 3)]);
        assert!(store.is_there(), "a store may hold points alone");
        assert_eq!(store.drop_points(&BTreeSet::from([point("a", 1).key, point("c", 1).key])).unwrap(), 1);
        assert_eq!(ParquetStore::open(store.path()).unwrap().points().unwrap(), [point("b", 3)]);
    }

    #[cfg(feature = "lake")]
    #[test]
    fn points_of_many_writers_are_all_kept_in_a_bucket() {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("file://{}", dir.path().join("lake").display());
        let store = || ParquetStore::open_bucket(&url, &[]).unwrap();
        assert_eq!(store().points().unwrap(), Vec::new());
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let store = &store;
                scope.spawn(move || store().put_points(&[point(&format!("t{writer}"), writer)]).unwrap());
            }
        });
        store().put_points(&[point("t1", 7)]).unwrap();
        assert_eq!(
            store().points().unwrap(),
            [point("t0", 0), point("t1", 7), point("t2", 2), point("t3", 3)]
        );
        let keys = BTreeSet::from([point("t0", 0).key, point("none", 0).key]);
        assert_eq!((store().drop_points(&keys).unwrap(), store().drop_points(&keys).unwrap()), (1, 0));
        assert_eq!(store().points().unwrap().len(), 3);
        assert!(store().is_there(), "a store may hold points alone");
        let texts = fs::read_dir(dir.path().join("lake/points")).unwrap().map(|entry| entry.unwrap().path());
        for path in texts.filter(|path| path.extension().is_some_and(|kind| kind == "json")) {
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("t3", "t4")).unwrap();
        }
        assert!(store().points().unwrap_err().to_string().contains("checksum"));
    }

    #[test]
    fn damaged_file_is_told_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let store = ParquetStore::open(dir.path().join("data")).unwrap();
        store.put_points(&[point("a", 1)]).unwrap();
        let path = store.path().join(POINTS);
        for text in ["{", r#"{"version":9,"points":[]}"#] {
            fs::write(&path, text).unwrap();
            assert!(store.points().unwrap_err().to_string().contains("points.json"), "{text}");
            assert!(store.put_points(&[point("b", 1)]).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn any_changed_digit_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let store = ParquetStore::open(dir.path().join("data")).unwrap();
        store.put_points(&[point("a", 1234)]).unwrap();
        let path = store.path().join(POINTS);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("1234", "1235")).unwrap();
        let error = store.points().unwrap_err().to_string();
        assert!(
            error.contains("points.json") && error.contains("checksum") && error.contains("repair"),
            "{error}"
        );
    }

    #[test]
    fn file_of_the_first_form_is_read_and_sealed_by_the_next_write() {
        let dir = tempfile::tempdir().unwrap();
        let store = ParquetStore::open(dir.path().join("data")).unwrap();
        store.put_points(&[point("a", 1)]).unwrap();
        let points = serde_json::to_string(&[point("old", 7)]).unwrap();
        fs::write(store.path().join(POINTS), format!("{{\"version\":1,\"points\":{points}}}")).unwrap();
        assert_eq!(store.points().unwrap(), [point("old", 7)]);
        store.put_points(&[point("new", 8)]).unwrap();
        assert_eq!(store.points().unwrap(), [point("new", 8), point("old", 7)]);
        assert!(fs::read_to_string(store.path().join(POINTS)).unwrap().contains("crc32"));
    }
}
