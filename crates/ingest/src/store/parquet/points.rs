//! The points of a folder: one file, which is replaced as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::ParquetStore;
use super::folder::POINTS;
use super::folder::manifest::{sync_dir, write_json};
use super::lock::refuse_link;
use crate::error::{Error, Result};
use crate::formats::summaries::point::{Point, PointKey};
use crate::store::repairer::Repairer;

/// The version of the file's form.
const VERSION: u32 = 2;

/// The version that had no checksum.
const UNSEALED: u32 = 1;

/// What the file holds.
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
    /// If the file of points can't be read or written.
    pub fn put_points(&self, points: &[Point]) -> Result<()> {
        let folder = self.home.folder("points of sweeps")?;
        folder.create()?;
        let _gate = folder.gate()?;
        let mut stored = by_key(self.points()?);
        stored.extend(by_key(points.to_vec()));
        self.write_points(stored)
    }

    /// Returns the stored points.
    ///
    /// # Errors
    /// If the file of points can't be read.
    pub fn points(&self) -> Result<Vec<Point>> {
        // A store in a bucket has no points.
        let Some(folder) = self.home.as_folder() else { return Ok(Vec::new()) };
        let path = folder.path().join(POINTS);
        refuse_link(&path)?;
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(&path, error)),
        };
        PointsFile::read(&text).map_err(|why| Error::store(format!("reading {}", path.display()), why))
    }

    /// Removes points; returns how many there were.
    ///
    /// # Errors
    /// If the file of points can't be read or written.
    pub fn drop_points(&self, keys: &BTreeSet<PointKey>) -> Result<usize> {
        if !self.path().join(POINTS).exists() {
            return Ok(0);
        }
        let _gate = self.home.folder("points of sweeps")?.gate()?;
        let mut stored = by_key(self.points()?);
        let before = stored.len();
        stored.retain(|key, _| !keys.contains(key));
        let dropped = before - stored.len();
        if dropped > 0 {
            self.write_points(stored)?;
        }
        Ok(dropped)
    }

    /// Sets the file of points aside.
    pub(crate) fn set_points_aside(&self, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        self.home.folder("points of sweeps")?.file_aside(&self.path().join(POINTS), why, repairer)
    }

    fn write_points(&self, points: BTreeMap<PointKey, Point>) -> Result<()> {
        let (path, points) = (self.path().join(POINTS), points.into_values().collect::<Vec<_>>());
        let file = PointsFile::new(&points)
            .map_err(|error| Error::store(format!("writing {}", path.display()), error))?;
        write_json(&path, &file)?;
        sync_dir(self.path())
    }
}

fn by_key(points: Vec<Point>) -> BTreeMap<PointKey, Point> {
    points.into_iter().map(|point| (point.key.clone(), point)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::summaries::point::Figures;

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
        let told = store.points().unwrap_err().to_string();
        assert!(
            told.contains("points.json") && told.contains("checksum") && told.contains("repair"),
            "{told}"
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
