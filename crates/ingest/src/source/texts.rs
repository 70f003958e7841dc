//! The texts in a file, whatever they are, for those who read other things than logs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::file::{FilePart, StoredText};
use super::unpack::codec::{Container, MAGIC};
use super::unpack::metered::{PackedCount, read_up_to};
use super::zip::directory::members;
use perfpipe_model::error::{Place, Result};
use perfpipe_model::run::damage::explain;

/// A text in a regular file: the file itself, unpacked, or a member of a zip.
///
/// ```
/// use perfpipe_ingest::source::Text;
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("run.txt");
/// std::fs::write(&file, "Running 10s test")?;
/// let texts = Text::of_file(&file)?;
/// assert_eq!(texts[0].read(7)?, b"Running");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Text(StoredText);

impl Text {
    /// Returns the texts of a file: plain, gzipped, packed by Zstandard, or the members of a zip.
    ///
    /// # Errors
    /// If the file can't be read, or is a damaged zip.
    pub fn of_file(path: &Path) -> Result<Vec<Self>> {
        let failed = |error| explain(Place::file(path), error);
        let mut magic = [0; MAGIC];
        let length =
            File::open(path).and_then(|mut file| read_up_to(&mut file, &mut magic)).map_err(failed)?;
        let parts = match Container::of(magic.get(..length).unwrap_or_default()) {
            Container::Zip => members(path).map_err(failed)?.into_iter().map(FilePart::Member).collect(),
            container => vec![FilePart::Whole(container)],
        };
        parts.into_iter().map(|part| StoredText::new(path, part, false).map(Self).map_err(failed)).collect()
    }

    /// Returns the file, and the member if it is in a zip.
    pub fn place(&self) -> Place {
        self.0.place()
    }

    /// Reads the text from its begin, up to this many bytes, unpacked. A text that is read to its end is checked.
    ///
    /// # Errors
    /// If the file can't be read, or is damaged.
    pub fn read(&self, most: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_by(|text| text.take(most).read_to_end(&mut bytes))?;
        Ok(bytes)
    }

    /// Gives the text to a function, unpacked. A text that is read to its end is checked.
    ///
    /// # Errors
    /// If the file can't be read, or is damaged.
    pub fn read_by<T>(&self, read: impl FnOnce(&mut dyn BufRead) -> io::Result<T>) -> Result<T> {
        let failed = |error| explain(self.place(), error);
        let mut opened = self.0.open(PackedCount::default()).map_err(failed)?;
        read(&mut BufReader::new(opened.reader())).map_err(failed)
    }
}
