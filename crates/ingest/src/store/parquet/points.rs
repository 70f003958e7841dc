//! The points of a folder: one file, which is replaced as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use super::ParquetStore;
use super::folder::POINTS;
use super::folder::manifest::{sync_dir, write_json};
use super::lock::refuse_link;
use crate::error::{Error, Result};
use crate::formats::summaries::point::{Point, PointKey};

/// The version of the file's form.
const VERSION: u32 = 1;

/// What the file holds.
#[derive(Serialize, Deserialize)]
struct PointsFile {
    version: u32,
    points: Vec<Point>,
}

impl ParquetStore {
    /// Stores points, all or none of them. Each replaces an earlier one of its key.
    ///
    /// # Errors
    /// If the file of points can't be read or written.
    pub fn put_points(&self, points: &[Point]) -> Result<()> {
        self.folder.create()?;
        let _gate = self.folder.gate()?;
        let mut stored = by_key(self.points()?);
        stored.extend(by_key(points.to_vec()));
        self.write_points(stored)
    }

    /// Returns the stored points.
    ///
    /// # Errors
    /// If the file of points can't be read.
    pub fn points(&self) -> Result<Vec<Point>> {
        let path = self.path().join(POINTS);
        refuse_link(&path)?;
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io(&path, error)),
        };
        let unreadable = |why: String| Error::store(format!("reading {}", path.display()), why);
        let file: PointsFile =
            serde_json::from_slice(&text).map_err(|problem| unreadable(problem.to_string()))?;
        match file.version {
            VERSION => Ok(file.points),
            other => Err(unreadable(format!("it has the form {other}, and this perfpipe knows {VERSION}"))),
        }
    }

    /// Removes points; returns how many there were.
    ///
    /// # Errors
    /// If the file of points can't be read or written.
    pub fn drop_points(&self, keys: &BTreeSet<PointKey>) -> Result<usize> {
        if !self.path().join(POINTS).exists() {
            return Ok(0);
        }
        let _gate = self.folder.gate()?;
        let mut stored = by_key(self.points()?);
        let before = stored.len();
        stored.retain(|key, _| !keys.contains(key));
        let dropped = before - stored.len();
        if dropped > 0 {
            self.write_points(stored)?;
        }
        Ok(dropped)
    }

    fn write_points(&self, points: BTreeMap<PointKey, Point>) -> Result<()> {
        let file = PointsFile { version: VERSION, points: points.into_values().collect() };
        write_json(&self.path().join(POINTS), &file)?;
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
}
