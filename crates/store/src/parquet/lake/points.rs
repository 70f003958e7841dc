//! The points of sweeps in a bucket.
//!
//! ```text
//! URL/points/_delta_log/VERSION.json    which file is current
//! URL/points/NAME.parquet               all points, for other programs
//! URL/points/NAME.json                  the same with a checksum, for perfpipe
//! ```
//!
//! Every change writes all points again, and one commit replaces the file. Of two writers at once, the second begins again
//! from what the first left.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, StringArray};
use bytes::Bytes;

use super::bucket::{ListedObject, Upload, change_perhaps_made};
use super::delta::{AddFile, KEPT, LakeTable, now_ms, unique_id};
use super::tables::{properties, write_batches};
use super::{ATTEMPTS, Lake, crowded};
use crate::Repairer;
use crate::parquet::checksum::{FileSums, SummedFile};
use crate::parquet::schema::{POINTS, batch_of};
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::points::Point;

/// The folder for what is set aside.
const ASIDE: &str = "set-aside";

/// The size in bytes of the largest file of points that is read.
const LARGEST: u64 = 64 << 20;

/// The text of all points, and what error messages call its file.
type PointsText = (PathBuf, Bytes);

/// The points that are to be stored, and their text.
type NewPoints = (Vec<Point>, Vec<u8>);

impl Lake {
    /// Returns the text of the stored points; `None` if none were ever stored.
    pub(crate) fn points(&self) -> Result<Option<PointsText>> {
        self.points_path()?.map(|path| self.points_at(&path)).transpose()
    }

    /// Replaces the points by what `change` makes of them, unless that is nothing. It is asked again if others change them
    /// meanwhile.
    pub(crate) fn change_points(
        &self,
        change: &dyn Fn(Option<PointsText>) -> Result<Option<NewPoints>>,
    ) -> Result<()> {
        self.create()?;
        for _ in 0..ATTEMPTS {
            let seen = self.points_path()?;
            let before = seen.as_deref().map(|path| self.points_at(path)).transpose()?;
            let Some((points, text)) = change(before)? else { return Ok(()) };
            let path = format!("points-{}.parquet", unique_id());
            let (rows, json) = (object_of(&path), object_of(&text_of(&path)));
            let put = self.bucket.put(&json, text.into());
            put.map_err(|error| Error::io(&*self.bucket.shown(&json), error))?;
            let out = Upload::new(self.bucket.clone(), rows.clone());
            let sums = write_points(SummedFile::new(Box::new(out), self.bucket.shown(&rows)), &points)?;
            let add = AddFile::whole_table(&path, sums.bytes());
            let done = self.change(LakeTable::Points, |table| {
                let current: Vec<AddFile> = table.files().cloned().collect();
                let same = current.first().map(|file| &file.path) == seen.as_ref();
                same.then(|| (current, vec![add.clone()]))
            });
            let done = match done {
                Err(error) if error.kind() == ErrorKind::CommitUnknown => match self.points_path() {
                    Ok(now) => now.as_ref() == Some(&path),
                    Err(_) => return Err(change_perhaps_made("the points may be stored", &error)),
                },
                done => done?,
            };
            if done {
                // What can't be removed now, a later change removes.
                let _ = self.sweep_points(&[Some(path), seen]);
                return Ok(());
            }
            self.bucket.delete(&[rows, json])?;
        }
        Err(crowded(LakeTable::Points))
    }

    /// Removes damaged points from the table, and copies them to where no reader looks.
    pub(crate) fn set_points_aside(&self, why: &str, repairer: &mut Repairer<'_>) -> Result<()> {
        let Some(path) = self.points_path()? else { return Ok(()) };
        let what =
            format!("{} are set aside in {}: {why}", self.bucket.shown(&object_of(&path)).display(), ASIDE);
        repairer.change(what, || {
            for name in [path.clone(), text_of(&path)] {
                if let Some(found) = self.bucket.get(&object_of(&name), LARGEST)? {
                    let put = self.bucket.put(&format!("{ASIDE}/{name}"), found);
                    put.map_err(|error| Error::io(&*self.bucket.shown(&name), error))?;
                }
            }
            self.change(LakeTable::Points, |table| {
                let current: Vec<AddFile> = table.files().filter(|file| file.path == path).cloned().collect();
                (!current.is_empty()).then_some((current, Vec::new()))
            })?;
            Ok(())
        })
    }

    fn points_path(&self) -> Result<Option<String>> {
        self.with(LakeTable::Points, |table| Ok(table.files().next().map(|file| file.path.clone())))
    }

    fn points_at(&self, path: &str) -> Result<PointsText> {
        let name = object_of(&text_of(path));
        let shown = self.bucket.shown(&name);
        let missing = || Error::store(format!("reading {}", shown.display()), "the points are gone");
        let text = self.bucket.get(&name, LARGEST)?.ok_or_else(missing)?;
        Ok((shown, text))
    }

    /// Removes files of points that have long left the table, except those of these paths.
    fn sweep_points(&self, kept: &[Option<String>]) -> Result<()> {
        let kept: Vec<&str> = kept.iter().flatten().filter_map(|path| name_of(path)).collect();
        let listed = self.bucket.list(LakeTable::Points.name())?;
        let mut old: Vec<(String, i64)> = self.with(LakeTable::Points, |table| {
            let since = |found: ListedObject| {
                let name = name_of(found.name.strip_prefix(&object_of(""))?)?;
                let gone = table.gone_since(&format!("{name}.parquet")).unwrap_or(i64::MIN);
                let is_current = table.files().any(|file| name_of(&file.path) == Some(name));
                let is_left = !is_current && !kept.contains(&name);
                is_left.then(|| (found.name.clone(), gone.max(found.since_ms)))
            };
            Ok(listed.into_iter().filter_map(since).collect())
        })?;
        old.retain(|(_, since)| *since < now_ms() - KEPT);
        if old.is_empty() {
            return Ok(());
        }
        let before = self.bucket.now_ms()? - KEPT;
        let old: Vec<String> =
            old.into_iter().filter(|(_, since)| *since < before).map(|(name, _)| name).collect();
        self.bucket.delete(&old)
    }
}

/// Returns the name of a file of points without its ending, if it is one that perfpipe gives.
fn name_of(path: &str) -> Option<&str> {
    let name = path.strip_suffix(".parquet").or_else(|| path.strip_suffix(".json"))?;
    let id = name.strip_prefix("points-")?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then_some(name)
}

fn object_of(path: &str) -> String {
    format!("{}/{path}", LakeTable::Points.name())
}

/// Returns the path of the text that belongs to a file.
fn text_of(path: &str) -> String {
    format!("{}.json", path.trim_end_matches(".parquet"))
}

/// Writes points as a table for other programs.
fn write_points(out: SummedFile, points: &[Point]) -> Result<FileSums> {
    let text = |of: fn(&Point) -> Option<&str>| -> ArrayRef {
        Arc::new(points.iter().map(of).collect::<StringArray>())
    };
    let number = |of: fn(&Point) -> Option<u32>| -> ArrayRef {
        let narrow = |point| of(point).map(|number| i32::try_from(number).unwrap_or(i32::MAX));
        Arc::new(points.iter().map(narrow).collect::<Int32Array>())
    };
    let count = |of: fn(&Point) -> Option<u64>| -> ArrayRef {
        let signed = |point| of(point).map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        Arc::new(points.iter().map(signed).collect::<Int64Array>())
    };
    let figure = |of: fn(&Point) -> Option<f64>| -> ArrayRef {
        Arc::new(points.iter().map(of).collect::<Float64Array>())
    };
    let json: Vec<String> = points
        .iter()
        .map(serde_json::to_string)
        .collect::<Result<_, _>>()
        .map_err(|error: serde_json::Error| Error::store("writing points", error))?;
    let rows = batch_of(
        POINTS,
        vec![
            text(|point| Some(&point.key.tool)),
            text(|point| Some(&point.key.framework)),
            text(|point| Some(&point.key.test)),
            number(|point| point.key.concurrency),
            number(|point| point.key.workers),
            number(|point| Some(point.key.repeat)),
            count(|point| point.figures.requests),
            count(|point| point.figures.successes),
            figure(|point| point.figures.throughput()),
            figure(|point| point.figures.answers_per_second),
            text(|point| point.figures.aborted.as_deref()),
            Arc::new(StringArray::from(json)),
        ],
    );
    write_batches(out, properties(), std::iter::once(rows))
}
