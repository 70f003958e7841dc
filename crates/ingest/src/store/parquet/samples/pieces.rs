//! The samples of a run in several files, which are written side by side.

use std::collections::BTreeMap;

use super::super::checksum::{FileSums, SummedFile};
use super::super::notes::FileNotes;
use super::super::place::RunPlace;
use super::super::tables::SAMPLES;
use super::Times;
use super::encode::SampleColumns;
use super::file::{EndedFile, SampleFile};
use crate::error::{Error, Result};

/// The file name of a piece.
pub(in super::super) fn file_name(piece: usize) -> String {
    match piece {
        0 => SAMPLES.to_owned(),
        later => format!("samples_{:03}.parquet", later + 1),
    }
}

/// Returns the piece that a file with this name holds; `None` if it holds no samples.
pub(in super::super) fn piece_of(name: &str) -> Option<usize> {
    if name == SAMPLES {
        return Some(0);
    }
    let number = name.strip_prefix("samples_")?.strip_suffix(".parquet")?;
    number.parse::<usize>().ok()?.checked_sub(1)
}

/// How times are written in a file without samples.
fn times(place: &RunPlace) -> Times {
    if place.is_shared() { Times::Shared } else { Times::Ms }
}

/// The files of a run's samples. The first one exists from the beginning, the others from their first samples on.
pub(in super::super) struct SamplePieces {
    place: RunPlace,
    open: BTreeMap<usize, SampleFile<SummedFile>>,
    ended: BTreeMap<usize, EndedFile>,
}

impl SamplePieces {
    pub(in super::super) fn create(place: &RunPlace) -> Result<Self> {
        let first = SampleFile::begin(place.create(SAMPLES)?, times(place));
        let open = BTreeMap::from([(0, first)]);
        Ok(Self { place: place.clone(), open, ended: BTreeMap::new() })
    }

    /// Appends rows to a piece.
    pub(in super::super) fn append(&mut self, piece: usize, rows: SampleColumns) -> Result<()> {
        let files = self.open.len();
        if let Some(file) = self.open.get_mut(&piece) {
            return file.append(rows, files);
        }
        let mut file = SampleFile::begin(self.place.create(&file_name(piece))?, times(&self.place));
        file.append(rows, files + 1)?;
        self.open.insert(piece, file);
        Ok(())
    }

    /// Ends a piece.
    pub(in super::super) fn end(&mut self, piece: usize) -> Result<()> {
        if let Some(file) = self.open.remove(&piece) {
            self.ended.insert(piece, file.close()?);
        }
        Ok(())
    }

    /// Ends the files with this metadata and makes them durable. Returns their names and checksums. They must hold
    /// `expected` samples.
    pub(in super::super) fn close(
        mut self,
        expected: u64,
        notes: &FileNotes,
    ) -> Result<Vec<(String, FileSums)>> {
        while let Some((piece, file)) = self.open.pop_first() {
            self.ended.insert(piece, file.close()?);
        }
        let stored: u64 = self.ended.values().map(|file| file.rows).sum();
        if stored != expected {
            return Err(Error::store(
                "checking the samples",
                format!("{stored} were stored of {expected}; nothing was kept"),
            ));
        }
        self.drop_empty()?;
        let finish = |(piece, file): (usize, EndedFile)| Ok((file_name(piece), file.finish(notes.clone())?));
        self.ended.into_iter().map(finish).collect()
    }

    /// Removes the first file if it is empty and others are not: without samples it does not tell their unit.
    fn drop_empty(&mut self) -> Result<()> {
        let is_empty = self.ended.get(&0).is_some_and(|file| file.rows == 0);
        if is_empty && self.ended.len() > 1 {
            self.ended.remove(&0);
            self.place.remove(&file_name(0))?;
        }
        Ok(())
    }
}
