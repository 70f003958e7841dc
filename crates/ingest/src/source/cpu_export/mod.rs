//! Reads CPU exports into a `TimeSeries`: columns by csv-async, answers of monitoring tools whole.

mod feed;
#[cfg(feature = "fetch")]
pub(crate) mod fetch;
mod form;
mod monitor;
mod readings;
mod row;
pub(crate) mod series;
mod table;

use csv_async::{AsyncReaderBuilder, ByteRecord};
use futures_util::future::BoxFuture;

use self::feed::{Fed, feed};
pub(crate) use self::form::{CpuForm, CsvForm};
pub(crate) use self::monitor::Monitor;
use self::monitor::{WholeText, of_machine};
use self::readings::ReadingsBySeries;
use self::row::RowReader;
pub(crate) use self::table::recognise_table;
use super::SourceOptions;
use super::file::StoredText;
use super::log::source_file;
use super::opened::Opened;
use super::unpack::checked::{Checked, Digested, Expected};
use super::unpack::metered::PackedCount;
use perfpipe_formats::date::DateForm;
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::damage::{Damage, Fault, explain};
use perfpipe_model::run::info::{SourceFile, SourceKind};
use perfpipe_model::run::note::Note;
use perfpipe_model::run::options::CpuScale;
use perfpipe_model::run::rejects::Spool;
use perfpipe_model::series::cpu::TimeSeries;

/// The size of the buffer by which an export is copied out of a pipe, in bytes.
const COPY_BUFFER: usize = 64 << 10;

/// A recognised CPU export.
pub struct CpuSource {
    place: Place,
    origin: ExportOrigin,
    form: CpuForm,
}

enum ExportOrigin {
    Stored(StoredText),
    /// A temporary copy, and the damage that ended it early, if any.
    Spooled(Spool, Option<Fault>),
}

/// Result of reading a CPU export.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CpuExport {
    /// The readings.
    pub series: TimeSeries,
    /// The file's name, size and checksum.
    pub file: SourceFile,
    /// Notes for the user, as sentences.
    pub notes: Vec<Note>,
    /// The unit of the readings in the file, if it was given or is in the file. Those of `series` are in percent of one
    /// core.
    pub scale: Option<CpuScale>,
    /// The damage, if the export was salvaged.
    pub damage: Option<Damage>,
    /// The readings of each host by its name, if several were asked to be kept separately; `series` is then their sum.
    pub parts: Vec<(String, TimeSeries)>,
    /// The form in which it is written.
    pub(crate) facts: CpuFacts,
}

/// The form in which a CPU export is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CpuFacts {
    /// The description of its columns, as it appears in messages.
    pub(crate) form: &'static str,
    /// The date format of its first time, if that is a date.
    pub(crate) date: Option<DateForm>,
    /// The number of readings by item (in PerfMon logs by label), if the export names items.
    pub(crate) items: Vec<(String, u64)>,
}

impl CpuFacts {
    /// Returns true if the export's dates name no zone.
    pub(crate) fn assumes_zone(&self) -> bool {
        self.date.as_ref().is_some_and(|date| !date.names_zone)
    }
}

impl CpuSource {
    pub(crate) fn stored(stored: StoredText, form: CpuForm) -> Self {
        Self { place: stored.place(), origin: ExportOrigin::Stored(stored), form }
    }

    /// Copies an export out of a pipe: `head`, which has been read already, and the rest.
    pub(crate) fn spooled(
        place: Place,
        head: &[u8],
        rest: &mut (impl Digested + ?Sized),
        form: CpuForm,
    ) -> Result<Self> {
        let mut spool = Spool::new("the CPU export");
        spool.push(head)?;
        let mut size = head.len() as u64;
        let mut buffer = vec![0; COPY_BUFFER];
        loop {
            let read = rest.read(&mut buffer).map_err(|e| explain(place.clone(), e))?;
            if read == 0 {
                break;
            }
            size += read as u64;
            feed::limit(size).map_err(|e| explain(place.clone(), e))?;
            spool.push(buffer.get(..read).unwrap_or_default())?;
        }
        let cut = rest.cut().cloned();
        Ok(Self { place, origin: ExportOrigin::Spooled(spool, cut), form })
    }

    /// Returns the file, and the member if it is in a zip.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Reads the readings. Memory is bounded: exports of more than 256 MiB or 4 million readings are refused. Rows
    /// without a value are skipped; a note counts them.
    ///
    /// # Errors
    /// If the file is damaged, if a row can't be read (the error names its line), if the export contains several items and
    /// none was chosen, or outside of a tokio runtime.
    pub fn read(self, options: &SourceOptions) -> BoxFuture<'_, Result<CpuExport>> {
        Box::pin(async move {
            let (place, form) = (self.place.clone(), self.form.clone());
            let (opened, cut) = self.open()?;
            let (readings, Fed { digest, cut }) = match &form {
                CpuForm::Csv(form) => read_columns(opened, cut, &place, form, options).await?,
                CpuForm::Monitor(monitor) => read_whole(opened, cut, &place, *monitor, options).await?,
            };
            let facts = CpuFacts { form: form.name(), date: readings.date.clone(), items: readings.items() };
            let scale = options.cpu_scale.or(readings.scale);
            let (series, notes) = readings.finish(&place, options)?;
            let damage = cut.map(|fault| Damage {
                records: series.readings().len() as u64,
                ..Damage::new(&place, &fault, digest.bytes())
            });
            Ok(CpuExport {
                series,
                file: source_file(&place, SourceKind::Cpu, &digest),
                notes,
                scale,
                damage,
                parts: Vec::new(),
                facts,
            })
        })
    }

    /// Opens the text. The fault is the damage that is known to end it early.
    fn open(self) -> Result<(Opened, Option<Fault>)> {
        match self.origin {
            ExportOrigin::Stored(stored) => {
                let opened = stored.open(PackedCount::default()).map_err(|e| explain(self.place, e))?;
                Ok((opened, None))
            }
            ExportOrigin::Spooled(spool, cut) => {
                let text = Checked::new(spool.into_reader()?, Expected::Unknown);
                Ok((Opened::new(text, false), cut))
            }
        }
    }
}

/// Reads columns as they are unpacked.
async fn read_columns(
    opened: Opened,
    cut: Option<Fault>,
    place: &Place,
    form: &CsvForm,
    options: &SourceOptions,
) -> Result<(ReadingsBySeries, Fed)> {
    let (input, fed) = feed(opened, cut).map_err(|e| explain(place.clone(), e))?;
    let mut readings = ReadingsBySeries::default();
    let parsed = parse(input, place, form, options, &mut readings).await;
    // Report the file's damage rather than a row that the damage cut short.
    let fed = match fed.await {
        Ok(fed) => fed.map_err(|e| explain(place.clone(), e))?,
        Err(e) => return Err(Error::store("reading the CPU export", e)),
    };
    // The last rows before damage may be garbled.
    parsed.or_else(|error| if fed.cut.is_some() { Ok(()) } else { Err(error) })?;
    let is_of_cpu = options.series.is_none() && options.cpu_scale.is_none();
    if form.perfmon_label.is_some() && is_of_cpu {
        readings.scale = Some(of_machine(None, options).map_err(|fault| fault.at(place.clone()))?);
    }
    Ok((readings, fed))
}

/// Reads what a monitoring tool answered or printed.
async fn read_whole(
    mut opened: Opened,
    cut: Option<Fault>,
    place: &Place,
    monitor: Monitor,
    options: &SourceOptions,
) -> Result<(ReadingsBySeries, Fed)> {
    let whole = tokio::task::spawn_blocking(move || WholeText::read(&mut opened, cut)).await;
    let whole = whole.map_err(|e| Error::store("reading the CPU export", e))?;
    let whole = whole.map_err(|e| explain(place.clone(), e))?;
    let found = monitor.read(whole.body(), options).map_err(|fault| match &whole.cut {
        Some(damage) => damage.clone().lost().at(place.clone()),
        None => fault.at(place.clone()),
    })?;
    // The text is large, and not needed any more.
    let WholeText { digest, cut, .. } = whole;
    let mut readings = ReadingsBySeries::default();
    if options.series.is_none() {
        readings.scale = monitor.scale(found.cores, options).map_err(|fault| fault.at(place.clone()))?;
    }
    readings.add_all(found, place, options)?;
    Ok((readings, Fed { digest, cut }))
}

async fn parse(
    input: tokio::io::DuplexStream,
    place: &Place,
    form: &CsvForm,
    options: &SourceOptions,
    readings: &mut ReadingsBySeries,
) -> Result<()> {
    let mut rows = AsyncReaderBuilder::new()
        .delimiter(form.delimiter)
        .has_headers(false)
        .flexible(true)
        .create_reader(input);
    let mut reader = RowReader::new(place, form, options);
    let mut row = ByteRecord::new();
    while rows
        .read_byte_record(&mut row)
        .await
        .map_err(|e| Error::io(place.clone(), std::io::Error::other(e)))?
    {
        if let Some(reading) = reader.read(&row)? {
            readings.add(reading, place, options)?;
        }
    }
    if !reader.parts.is_empty() && readings.is_empty() {
        let parts: Vec<&str> = reader.parts.iter().map(String::as_str).collect();
        return Err(Error::input(
            ErrorKind::CpuSeries,
            place.clone(),
            format!("it has parts of the CPU's use only: {}", parts.join(", ")),
            "Have PerfMon log the metric CPU without a part, or idle; or choose one (SourceOptions::cpu_item).",
        ));
    }
    readings.empty_values = reader.empty_values;
    readings.failed = reader.failed;
    readings.date = reader.date;
    Ok(())
}
