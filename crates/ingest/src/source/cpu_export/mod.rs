//! CPU exports: recognised, then read into a `CpuSeries` by way of csv-async.

mod feed;
mod form;
mod readings;
mod row;

use csv_async::{AsyncReaderBuilder, ByteRecord};

use super::SourceOptions;
use super::file::Stored;
use super::log::source_file;
use super::opened::Opened;
use super::unpack::checked::{Checked, Digested, Expected};
use super::unpack::metered::PackedCount;
use crate::error::{Error, Place, Result};
use crate::formats::date::DateForm;
use crate::run::damage::Damage;
use crate::run::fault::{Fault, explain};
use crate::run::info::SourceFile;
use crate::run::spool::Spool;
use crate::series::cpu::CpuSeries;

use self::feed::{Fed, feed};
pub(crate) use self::form::CpuForm;
use self::readings::Readings;
use self::row::RowReader;

/// Bytes of the buffer by which an export is taken out of a pipe.
const COPY_BUFFER: usize = 64 << 10;

/// A CPU export that was recognised.
pub struct CpuSource {
    place: Place,
    origin: Origin,
    form: CpuForm,
}

enum Origin {
    Stored(Stored),
    /// Kept aside, and why it ended early, if damage is why.
    Spooled(Spool, Option<Fault>),
}

/// What came of a CPU export.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuExport {
    /// The readings.
    pub series: CpuSeries,
    /// The file's name, size and checksum.
    pub file: SourceFile,
    /// What the user should know, as sentences.
    pub notes: Vec<String>,
    /// What is wrong with it, where it was read as far as it could be.
    pub damage: Option<Damage>,
    /// How it is written.
    pub(crate) facts: CpuFacts,
}

/// How a CPU export is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CpuFacts {
    /// What it is, in words.
    pub(crate) form: &'static str,
    /// How its first time is written, where that is a date.
    pub(crate) date: Option<DateForm>,
    /// Readings by item (of PerfMon, by label), where it names them.
    pub(crate) items: Vec<(String, u64)>,
}

impl CpuSource {
    pub(crate) fn stored(stored: Stored, form: CpuForm) -> Self {
        Self { place: stored.place(), origin: Origin::Stored(stored), form }
    }

    /// Takes an export out of a pipe: `head`, which has been read already, and what follows it.
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
        Ok(Self { place, origin: Origin::Spooled(spool, cut), form })
    }

    /// The file, and the member where it is in a zip.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Reads the readings. Memory is bounded: an export of more than 256 MiB or 4 million readings is
    /// refused. Rows without a value are passed over, and a note counts them.
    ///
    /// # Errors
    /// When the file is damaged, a row can't be read (the error names its line), or the export holds
    /// several items and none was chosen; and outside of a tokio runtime.
    pub async fn read(self, options: &SourceOptions) -> Result<CpuExport> {
        let (place, form) = (self.place.clone(), self.form.clone());
        let (opened, cut) = self.open()?;
        let (input, fed) = feed(opened, cut).map_err(|e| explain(place.clone(), e))?;
        let mut readings = Readings::default();
        let parsed = parse(input, &place, &form, options, &mut readings).await;
        // What is wrong with the file comes before what its text, cut short by that, looks like.
        let Fed { digest, cut } = match fed.await {
            Ok(fed) => fed.map_err(|e| explain(place.clone(), e))?,
            Err(e) => return Err(Error::store("reading the CPU export", e)),
        };
        // Damage may garble the last rows that could be read.
        parsed.or_else(|error| if cut.is_some() { Ok(()) } else { Err(error) })?;
        let facts = CpuFacts { form: form.name(), date: readings.date.clone(), items: readings.items() };
        let (series, notes) = readings.finish(&place, options)?;
        let damage = cut.map(|fault| Damage {
            records: series.readings().len() as u64,
            ..Damage::new(&place, &fault, digest.bytes())
        });
        Ok(CpuExport { series, file: source_file(&place, "cpu", &digest), notes, damage, facts })
    }

    /// Its text, and why that ends early, where this is known beforehand.
    fn open(self) -> Result<(Opened, Option<Fault>)> {
        match self.origin {
            Origin::Stored(stored) => {
                let opened = stored.open(PackedCount::default()).map_err(|e| explain(self.place, e))?;
                Ok((opened, None))
            }
            Origin::Spooled(spool, cut) => {
                let text = Checked::new(spool.into_reader()?, Expected::Unknown);
                Ok((Opened::new(text, false), cut))
            }
        }
    }
}

async fn parse(
    input: tokio::io::DuplexStream,
    place: &Place,
    form: &CpuForm,
    options: &SourceOptions,
    readings: &mut Readings,
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
    readings.empty_values = reader.empty_values;
    readings.date = reader.date;
    Ok(())
}
