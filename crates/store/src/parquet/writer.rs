//! Writes a run into the embedded store. Until it is committed, no reader sees it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::checksum::{FileNotes, FileSums, SummedFile, file_notes};
use super::home::{RunDraft, StoreHome};
#[cfg(feature = "lake")]
use super::lake::{write_rejects, write_tags};
use super::place::RunPlace;
use super::samples::{SampleColumns, SampleEncoder, SamplePieces, file_name};
use super::seconds::{self, CellContext};
use super::tables;
use crate::consistency::{self, CountedCells, CountedFailures, SampleTotals, check_samples_stored};
use crate::parallel::{Job, side_by_side};
use crate::sink::{FinishedRun, RunWriter, Stage};
use perfpipe_model::error::{ErrorKind, Result};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::run::rejects::RejectSpool;

/// A run that is being written.
pub struct ParquetWriter {
    // Fields are dropped in this order: the files must be closed before their folder is removed.
    samples: Option<SamplePieces>,
    draft: RunDraft,
    /// The samples that were written.
    received: SampleTotals,
    /// Files of samples that were written elsewhere.
    linked: BTreeMap<String, FileSums>,
}

impl ParquetWriter {
    pub(super) fn begin(home: &StoreHome, key: Option<&RunKey>, keep_samples: bool) -> Result<Self> {
        Self::of(home.begin(key)?, keep_samples)
    }

    pub(super) fn of(draft: RunDraft, keep_samples: bool) -> Result<Self> {
        let samples = keep_samples.then(|| SamplePieces::create(&draft.place())).transpose()?;
        Ok(Self { samples, draft, received: SampleTotals::default(), linked: BTreeMap::new() })
    }

    /// Begins a run whose samples are those of these files, in their order: of each, where it is, its name and its sums.
    pub(super) fn begin_linked(
        home: &StoreHome,
        key: &RunKey,
        files: &[(RunPlace, String, FileSums)],
    ) -> Result<Self> {
        let mut writer = Self::begin(home, Some(key), false)?;
        let place = writer.draft.place();
        for (piece, (from, file, sums)) in files.iter().enumerate() {
            let name = file_name(piece);
            place.link(&name, from, file, sums)?;
            writer.linked.insert(name, sums.clone());
        }
        Ok(writer)
    }
}

impl RunWriter for ParquetWriter {
    type Encoder = SampleEncoder;

    fn encoder(&self) -> Result<SampleEncoder> {
        Ok(SampleEncoder::new(self.samples.is_some()))
    }

    fn scratch(&self) -> Option<PathBuf> {
        self.draft.scratch()
    }

    async fn write(&mut self, rows: SampleColumns) -> Result<()> {
        self.write_piece(0, rows).await
    }

    fn takes_pieces(&self) -> bool {
        true
    }

    async fn write_piece(&mut self, piece: usize, rows: SampleColumns) -> Result<()> {
        self.received.merge(rows.counted());
        self.samples.as_mut().map_or(Ok(()), |samples| samples.append(piece, rows))
    }

    async fn end_piece(&mut self, piece: usize) -> Result<()> {
        self.samples.as_mut().map_or(Ok(()), |samples| samples.end(piece))
    }

    async fn claim_next(&mut self, key: RunKey) -> Result<RunKey> {
        self.draft.claim_next(key)
    }

    async fn commit(self, run: FinishedRun<'_>) -> Result<()> {
        consistency::check_finished(&run)?;
        let Self { samples, draft, received, linked } = self;
        check_samples_stored(run.info, samples.is_some() || !linked.is_empty())?;
        if samples.is_some() {
            consistency::check_samples_written(run.info, received)?;
        }
        let place = &draft.place();
        let notes = &file_notes(run.info);
        let to = (place, notes);
        let mut cells = CountedCells::new(run.cells, run.info, (run.labels, run.injectors));
        let mut errors = CountedFailures::new(run.errors, run.info);
        let expected = run.info.requests() + run.info.transactions;
        let mut tables: Vec<Job<'_, Vec<(String, FileSums)>>> = vec![
            table(to, tables::SECONDS, {
                let common =
                    CellContext { unit: run.info.resolution, labels: run.labels, injectors: run.injectors };
                let cells = &mut cells;
                move |out| seconds::write_seconds(out, common, cells)
            }),
            table(to, tables::CPU, |out| tables::write_cpu(out, run.cpu)),
            table(to, tables::ERRORS, |out| tables::write_errors(out, &mut errors)),
            table(to, tables::LABELS, |out| tables::write_labels(out, run.label_counts)),
            rejects(to, run.rejects),
        ];
        if !run.series.is_empty() {
            tables.push(table(to, tables::SERIES, |out| tables::write_series(out, run.series)));
        }
        #[cfg(feature = "lake")]
        if place.is_shared() && !run.info.options.tags.is_empty() {
            tables.push(table(to, tables::TAGS, |out| write_tags(out, &run.info.options.tags)));
        }
        if let Some((row, names)) = run.part {
            tables.push(table(to, tables::PART, move |out| tables::write_document(out, row)));
            tables.push(table(to, tables::NAMES, move |out| tables::write_document(out, names)));
        }
        if let Some(samples) = samples {
            // The samples come first: the largest file is the likeliest to fill the disk, and the error should name it.
            tables.insert(0, (tables::SAMPLES, Box::new(move || samples.close(expected, notes))));
        }
        let written = side_by_side(tables)?.into_iter().flat_map(|(_, files)| files);
        let files = linked.into_iter().chain(written).collect();
        cells.check(errors.transactions())?;
        run.stage.set(Stage::Asked);
        let published = draft.publish(files, run.info, run.replace);
        match &published {
            Ok(()) => run.stage.set(Stage::Stored),
            Err(error) if error.kind() == ErrorKind::NotDurable => run.stage.set(Stage::Stored),
            Err(_) if !place.is_shared() => run.stage.set(Stage::Before),
            // Only the bucket knows.
            Err(_) => {}
        }
        published
    }
}

/// The job of writing the rejected records.
fn rejects<'a>(
    to: (&'a RunPlace, &'a FileNotes),
    rejects: &'a mut RejectSpool,
) -> Job<'a, Vec<(String, FileSums)>> {
    match to.0 {
        RunPlace::Folder(_) => table(to, tables::REJECTS, |out| tables::write_rejects(out, rejects)),
        #[cfg(feature = "lake")]
        RunPlace::Bucket(_) => table(to, tables::REJECT_TABLE, |out| write_rejects(out, rejects)),
    }
}

/// The job of writing one file with these notes.
fn table<'a>(
    (place, notes): (&'a RunPlace, &'a FileNotes),
    name: &'static str,
    write: impl FnOnce(SummedFile) -> Result<FileSums> + Send + 'a,
) -> Job<'a, Vec<(String, FileSums)>> {
    (name, Box::new(move || Ok(vec![(name.to_owned(), write(place.create(name)?.noted(notes.clone()))?)])))
}
