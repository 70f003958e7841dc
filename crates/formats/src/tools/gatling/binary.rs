//! Gatling's `simulation.log` since version 3.13: binary records, big-endian.
//!
//! ```text
//! 0  run      version, class, start (i64, epoch ms), description, scenarios, assertions
//! 1  request  groups, name, start and end (i32, ms since the run's start), 1 if OK, message
//! 2  user     scenario (i32), 1 if it starts, time
//! 3  group    groups, start, end, response times added up, 1 if OK
//! 4  error    message, time
//! ```
//!
//! A list is its length and its items. A text is its length in bytes (i32) and, unless it is empty, the bytes and the way
//! in which they are written: 0 for Latin-1, 1 for UTF-16. Names and messages are written once, after a new number above 0;
//! later references are that number, negated.

use std::io::Write;

use hashbrown::HashMap;
use sha2::{Digest, Sha256};

use super::text::{ActiveUsers, COLUMNS, GROUP_FAILED};
use crate::tools::format::{Convert, NextBytes};
use crate::tools::format::{Format, TimeBase};
use crate::tools::rejects::RejectCause;
use crate::tools::rows::{ConvertedRows, MS, RequestRow};
use crate::work_count;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;
use perfpipe_model::sample::resolution::Resolution;
use perfpipe_model::sample::shorten::{LABEL_BYTES, shortened};

/// The binary log.
pub(crate) const FORMAT: Format = Format {
    name: "Gatling's log",
    tool: Some("gatling"),
    finest: Resolution::MILLISECOND,
    clock: |_| TimeBase::Epoch,
    columns: COLUMNS,
    recognises: is_run,
    note: |_| None,
    by_workers: false,
    converter: || Box::new(GatlingBinary::default()),
};

/// The most bytes of all names and messages of a log: more is no log.
const MOST_TEXT: usize = 64 << 20;

/// The overhead of a name, in bytes.
const NAME: usize = 64;

/// The most bytes that a record may have.
const MOST_RECORD: usize = 16 << 20;

/// Returns true for the beginning of a run's record, with a version.
fn is_run(head: &[u8]) -> bool {
    match head {
        [0, 0, 0, 0, length @ 3..=30, version @ ..] => {
            let version = version.get(..usize::from(*length)).unwrap_or_default();
            version.first().is_some_and(u8::is_ascii_digit)
                && version.contains(&b'.')
                && version.iter().all(|byte| byte.is_ascii_graphic())
        }
        _ => false,
    }
}

/// Converts the records of one log.
#[derive(Debug, Default)]
struct GatlingBinary {
    version: Vec<u8>,
    /// The run's start, epoch ms.
    start_ms: i64,
    names: NameTable,
    users: ActiveUsers,
    /// The names of a request and its groups, by their numbers, and the label that they make.
    path: Vec<i32>,
    label: Vec<u8>,
    labels: LabelCache,
}

/// Labels of requests outside groups or in a single one, which are looked up instead of written again.
#[derive(Debug, Default)]
struct LabelCache(Vec<((i32, i32), Vec<u8>)>);

impl LabelCache {
    /// The number of labels that are kept.
    const KEPT: usize = 256;

    /// Returns the label of a request of this name in this group, or 0 for none. `write` writes a new one.
    #[inline]
    fn of(&mut self, group: i32, name: i32, write: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        if self.0.is_empty() {
            self.0.resize(Self::KEPT, ((0, 0), Vec::new()));
        }
        let slot = group.wrapping_mul(31).wrapping_add(name) as usize % Self::KEPT;
        let Some((key, label)) = self.0.get_mut(slot) else { return &[] };
        if *key != (group, name) {
            *key = (group, name);
            label.clear();
            write(label);
        }
        label
    }
}

/// Names and messages by their numbers, from 1.
#[derive(Debug, Default)]
struct NameTable {
    /// Those whose numbers follow one another, as Gatling's do.
    listed: Vec<KnownName>,
    others: HashMap<i32, KnownName>,
    /// Their number of bytes.
    bytes: usize,
}

/// A name or a message.
#[derive(Debug, PartialEq, Eq)]
struct KnownName {
    text: Vec<u8>,
    /// The beginning of a hash of the text.
    hash: [u8; 16],
}

impl KnownName {
    /// A long text is shortened here, since records of a few bytes each refer to it again and again.
    fn new(text: Vec<u8>) -> Self {
        let digest = Sha256::digest(&text);
        let hash = digest.first_chunk().copied().unwrap_or_default();
        Self { text: shortened(&text, LABEL_BYTES).map_or(text, String::into_bytes), hash }
    }
}

impl NameTable {
    #[inline]
    fn get(&self, number: i32) -> Option<&KnownName> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.listed.get(index).or_else(|| self.others.get(&number))
    }

    /// Returns the text of a name; an empty one if there is none.
    #[inline]
    fn text(&self, number: i32) -> &[u8] {
        self.get(number).map(|name| name.text.as_slice()).unwrap_or_default()
    }

    /// Adds a name with its number, which is above 0.
    fn add(&mut self, number: i32, text: Vec<u8>) -> Result<(), ReadError> {
        let name = KnownName::new(text);
        match self.get(number) {
            // An incomplete record is read again with more bytes, and its names are too.
            Some(known) if *known == name => return Ok(()),
            Some(_) => return Err(ReadError::Invalid),
            None => {}
        }
        self.bytes = self.bytes.saturating_add(name.text.len() + NAME);
        if self.bytes > MOST_TEXT {
            return Err(ReadError::Invalid);
        }
        if usize::try_from(number) == Ok(self.listed.len() + 1) {
            self.listed.push(name);
        } else {
            self.others.insert(number, name);
        }
        Ok(())
    }

    /// Writes the label of a request or a group from the names of the groups around it and its own: as much as is kept, and
    /// a hash of all names if there is more.
    fn write_label(&self, path: &[i32], label: &mut Vec<u8>) {
        label.clear();
        work_count::count(path.len());
        for number in path {
            let between = if label.is_empty() { b"" } else { BETWEEN };
            let name = self.text(*number);
            if label.len() + between.len() + name.len() > LABEL_BYTES {
                return self.hash_label(path, label);
            }
            label.extend_from_slice(between);
            label.extend_from_slice(name);
        }
        work_count::count(label.len());
    }

    /// Ends a label that is too long.
    #[cold]
    fn hash_label(&self, path: &[i32], label: &mut Vec<u8>) {
        let mut hash = Sha256::new();
        path.iter().filter_map(|number| self.get(*number)).for_each(|name| hash.update(name.hash));
        work_count::count(path.len() + label.len());
        label.extend_from_slice("…".as_bytes());
        for byte in hash.finalize().iter().take(16) {
            // Writing to a vector can't fail.
            let _ = write!(label, "{byte:02x}");
        }
    }
}

/// The separator between the names of groups in a label.
const BETWEEN: &[u8] = b" / ";

/// The reason why no record could be read.
enum ReadError {
    /// It continues after the bytes.
    Incomplete,
    /// It is no record.
    Invalid,
}

impl Convert for GatlingBinary {
    fn convert(
        &mut self,
        input: &[u8],
        follows: NextBytes,
        rows: &mut ConvertedRows,
    ) -> Result<usize, Fault> {
        let mut at = 0;
        while let Some(rest) = input.get(at..).filter(|rest| !rest.is_empty() && !rows.are_enough()) {
            let mut bytes = ByteReader { bytes: rest, at: 0 };
            match self.record(&mut bytes, rows) {
                Ok(()) => {
                    rows.place = (rows.place.0 + 1, rows.place.1 + bytes.at as u64);
                    at += bytes.at;
                }
                Err(ReadError::Incomplete) if follows == NextBytes::More && rest.len() < MOST_RECORD => break,
                Err(ReadError::Incomplete) if follows == NextBytes::Unwanted => return Ok(input.len()),
                Err(ReadError::Incomplete) if follows != NextBytes::More => {
                    rows.reject(RejectCause::Cut, None, rest);
                    return Ok(input.len());
                }
                Err(_) => return Err(self.fault(rows.place.1)),
            }
        }
        Ok(at)
    }
}

impl GatlingBinary {
    fn fault(&self, byte: u64) -> Fault {
        let version = String::from_utf8_lossy(&self.version);
        Fault::new(
            ErrorKind::UnreadableRecord,
            format!(
                "is a log of Gatling {version} in which something else than a record begins at byte {byte}"
            ),
            "Copy it again from where Gatling wrote it. If another version of Gatling writes other records, its log \
             can't be read yet.",
        )
    }

    /// Converts a record.
    fn record(&mut self, bytes: &mut ByteReader<'_>, rows: &mut ConvertedRows) -> Result<(), ReadError> {
        match bytes.byte()? {
            0 => self.run(bytes)?,
            1 => return self.request(bytes, rows),
            2 => {
                bytes.int()?;
                let starts = bytes.flag()?;
                bytes.int()?;
                self.users.change(starts);
            }
            3 => return self.group(bytes, rows),
            4 => {
                self.name(bytes)?;
                bytes.int()?;
            }
            _ => return Err(ReadError::Invalid),
        }
        Ok(())
    }

    fn run(&mut self, bytes: &mut ByteReader<'_>) -> Result<(), ReadError> {
        let version = bytes.text()?;
        bytes.text()?;
        let start_ms = bytes.long()?;
        bytes.text()?;
        for _ in 0..bytes.length()? {
            bytes.text()?;
        }
        for _ in 0..bytes.length()? {
            let length = bytes.length()?;
            bytes.read(length)?;
        }
        (self.version, self.start_ms) = (version, start_ms);
        Ok(())
    }

    fn request(&mut self, bytes: &mut ByteReader<'_>, rows: &mut ConvertedRows) -> Result<(), ReadError> {
        self.read_path(bytes)?;
        let name = self.name(bytes)?;
        let [start, end] = [i64::from(bytes.int()?), i64::from(bytes.int()?)];
        let success = bytes.flag()?;
        let message = self.name(bytes)?;
        let names = &self.names;
        self.path.push(name);
        let label = match *self.path.as_slice() {
            [name] => self.labels.of(0, name, |label| names.write_label(&[name], label)),
            [group, name] => self.labels.of(group, name, |label| names.write_label(&[group, name], label)),
            _ => {
                names.write_label(&self.path, &mut self.label);
                &self.label
            }
        };
        rows.push(&RequestRow {
            start_ms: self.start_ms.saturating_add(start),
            elapsed_ns: (end - start).saturating_mul(MS),
            label,
            success,
            failure_message: names.text(message).trim_ascii(),
            threads: self.users.active(),
            ..RequestRow::default()
        });
        Ok(())
    }

    fn group(&mut self, bytes: &mut ByteReader<'_>, rows: &mut ConvertedRows) -> Result<(), ReadError> {
        self.read_path(bytes)?;
        let (start, _end) = (bytes.int()?, bytes.int()?);
        let elapsed = bytes.int()?;
        let success = bytes.flag()?;
        self.names.write_label(&self.path, &mut self.label);
        rows.push(&RequestRow {
            start_ms: self.start_ms.saturating_add(start.into()),
            elapsed_ns: i64::from(elapsed).saturating_mul(MS),
            label: &self.label,
            success,
            failure_message: if success { b"" } else { GROUP_FAILED },
            threads: self.users.active(),
            is_transaction: true,
            ..RequestRow::default()
        });
        Ok(())
    }

    /// Reads the names of groups.
    fn read_path(&mut self, bytes: &mut ByteReader<'_>) -> Result<(), ReadError> {
        self.path.clear();
        for _ in 0..bytes.length()? {
            let group = self.name(bytes)?;
            self.path.push(group);
        }
        Ok(())
    }

    /// Reads a name or a message. Returns its number.
    #[inline]
    fn name(&mut self, bytes: &mut ByteReader<'_>) -> Result<i32, ReadError> {
        let number = bytes.int()?;
        let known = number.checked_neg().filter(|number| self.names.get(*number).is_some());
        known.map_or_else(|| self.new_name(number, bytes), Ok)
    }

    /// Reads the text of a name with this number.
    #[cold]
    fn new_name(&mut self, number: i32, bytes: &mut ByteReader<'_>) -> Result<i32, ReadError> {
        if number <= 0 {
            return Err(ReadError::Invalid);
        }
        self.names.add(number, bytes.text()?)?;
        Ok(number)
    }
}

/// The bytes of a record, and how many of them were read.
struct ByteReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ByteReader<'a> {
    fn read(&mut self, length: usize) -> Result<&'a [u8], ReadError> {
        let end = self.at.checked_add(length).ok_or(ReadError::Invalid)?;
        let read = self.bytes.get(self.at..end).ok_or(ReadError::Incomplete)?;
        work_count::count(length);
        self.at = end;
        Ok(read)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        self.read(N)?.try_into().map_err(|_| ReadError::Incomplete)
    }

    fn byte(&mut self) -> Result<u8, ReadError> {
        self.number::<1>().map(|[byte]| byte)
    }

    fn flag(&mut self) -> Result<bool, ReadError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(ReadError::Invalid),
        }
    }

    fn int(&mut self) -> Result<i32, ReadError> {
        self.number().map(i32::from_be_bytes)
    }

    fn long(&mut self) -> Result<i64, ReadError> {
        self.number().map(i64::from_be_bytes)
    }

    /// Reads a length, in bytes or items, each of at least one byte.
    fn length(&mut self) -> Result<usize, ReadError> {
        let length = usize::try_from(self.int()?).map_err(|_| ReadError::Invalid)?;
        if length > MOST_RECORD { Err(ReadError::Invalid) } else { Ok(length) }
    }

    /// Reads a text as UTF-8.
    fn text(&mut self) -> Result<Vec<u8>, ReadError> {
        let length = self.length()?;
        if length == 0 {
            return Ok(Vec::new());
        }
        let text = self.read(length)?;
        match self.byte()? {
            0 => Ok(text.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()),
            1 => Ok(utf16(text).into_bytes()),
            _ => Err(ReadError::Invalid),
        }
    }
}

/// Decodes a text that Java keeps as UTF-16, in the byte order of the machine. Gatling's machines are little-endian.
fn utf16(text: &[u8]) -> String {
    let units = text.chunks_exact(2).map(|unit| match unit {
        [low, high] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    });
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
