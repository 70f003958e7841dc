//! Recognised logs: their names, how they are opened, and how they are read to their checked end.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::SourceOptions;
use super::detect::FileContent;
use super::file::{Has, StoredText};
use super::opened::Opened;
use super::pipe::{InputPipe, PipeText};
use super::unpack::checked::{Digest, Digested};
use super::unpack::metered::PackedCount;
use perfpipe_formats::jtl::blocks::LogBytes;
use perfpipe_formats::tools::format::Converter;
use perfpipe_formats::tools::format::Format;
use perfpipe_formats::tools::format::{LogToConvert, NextBytes};
use perfpipe_model::error::{Error, ErrorKind, Place, Result};
use perfpipe_model::run::damage::{Damage, Fault, explain};
use perfpipe_model::run::info::{SourceFile, SourceKind};
use perfpipe_model::sample::resolution::Resolution;

/// A log, or a pipe that contains at least one.
pub struct LogSource {
    place: Place,
    has: Has,
    origin: LogOrigin,
}

enum LogOrigin {
    Stored(StoredText),
    /// `None` once it has been opened.
    Pipe(Option<Box<PipedLogs>>),
}

impl LogSource {
    pub(crate) fn stored(stored: StoredText, has: Has) -> Self {
        Self { place: stored.place(), has, origin: LogOrigin::Stored(stored) }
    }

    pub(crate) fn piped(logs: PipedLogs) -> Self {
        let place = logs.found.as_ref().map_or_else(|| logs.pipe.place(), |piece| piece.place.clone());
        let has = logs.found.as_ref().map(|piece| piece.head.has()).unwrap_or_default();
        Self { place, has, origin: LogOrigin::Pipe(Some(Box::new(logs))) }
    }

    /// Lets a pipe know that the run has its CPU export, so that one after a log is skipped.
    pub(crate) fn cpu_is_given(&mut self) {
        if let LogOrigin::Pipe(Some(logs)) = &mut self.origin {
            logs.cpu_given = true;
        }
    }

    /// Returns the log's place, and false if its times are since the begin of its tool.
    pub(crate) fn clock(&self) -> (&Place, bool) {
        (&self.place, self.has.clock)
    }

    /// Returns false if the log has no single requests.
    pub(crate) fn has_requests(&self) -> bool {
        self.has.requests
    }

    /// Returns the file, and the member if it is in a zip.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the log's own name without folders: the member's in a zip, otherwise the file's. Standard input is `-`.
    pub fn file_name(&self) -> String {
        own_name(&self.place)
    }

    /// Returns the names of the file and the member without folders and without the extensions of packed and CSV files.
    /// A pipe has no name, nor has a member that was packed from one.
    pub fn stems(&self) -> Vec<String> {
        let file = self.place.file.to_string_lossy();
        let names = [Some(file.as_ref()), self.place.member.as_deref()];
        let said = names.into_iter().flatten().map(last_part).filter(|name| !matches!(*name, "" | "-"));
        said.map(|name| stem(name).to_owned()).collect()
    }

    /// Returns true if the log can be opened more than once. Standard input and named pipes can't.
    pub fn can_restart(&self) -> bool {
        matches!(self.origin, LogOrigin::Stored(_))
    }

    /// Returns the same log, to be read by another reader; `None` if it can be opened only once.
    pub(crate) fn again(&self) -> Option<Self> {
        match &self.origin {
            LogOrigin::Stored(stored) => Some(Self::stored(stored.clone(), self.has)),
            LogOrigin::Pipe(_) => None,
        }
    }

    /// Returns the packed size in bytes, if it is known before reading.
    pub fn packed_size(&self) -> Option<u64> {
        match &self.origin {
            LogOrigin::Stored(stored) => Some(stored.packed_size()),
            LogOrigin::Pipe(_) => None,
        }
    }

    /// Returns the unpacked size in bytes, estimated from the packed size if it is not stated. 0 for a pipe.
    pub(crate) fn about_unpacked(&self) -> u64 {
        match &self.origin {
            LogOrigin::Stored(stored) => stored.about_unpacked(),
            LogOrigin::Pipe(_) => 0,
        }
    }

    /// Returns true if the content has this size in bytes and this CRC-32. `None` if it is known only after reading it.
    pub(crate) fn holds(&self, bytes: u64, crc32: u32) -> Option<bool> {
        match &self.origin {
            LogOrigin::Stored(stored) => stored.holds(bytes, crc32),
            LogOrigin::Pipe(_) => None,
        }
    }

    /// Returns how the log is packed, such as `plain`, `gzip`, `zstd` or `zip, deflate`. A zip from a pipe is `zip`.
    pub fn packing(&self) -> String {
        match &self.origin {
            LogOrigin::Stored(stored) => stored.packing(),
            LogOrigin::Pipe(logs) => {
                logs.as_ref().map_or_else(String::new, |logs| logs.pipe.container.name().to_owned())
            }
        }
    }

    /// Returns the unpacked size in bytes, if it is known before reading: for files that are not packed, and for zips
    /// that state it.
    pub fn unpacked_size(&self) -> Option<u64> {
        match &self.origin {
            LogOrigin::Stored(stored) => stored.unpacked_size(),
            LogOrigin::Pipe(_) => None,
        }
    }

    /// Returns up to `bytes` of the log's end, if they can be read without what is before them.
    pub(crate) fn tail(&self, bytes: u64) -> Result<Option<Vec<u8>>> {
        match &self.origin {
            LogOrigin::Stored(stored) => stored.tail(bytes).map_err(|e| explain(self.place.clone(), e)),
            LogOrigin::Pipe(_) => Ok(None),
        }
    }

    /// Opens the log at its start.
    ///
    /// # Errors
    /// If the file can't be opened, or it is a pipe that has been opened before.
    pub fn open(&mut self) -> Result<LogStream> {
        self.open_counted(Arc::default())
    }

    /// Opens the log as [`open`](Self::open) does. Packed bytes are added to `packed` as they are read.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_counted(&mut self, packed: Arc<AtomicU64>) -> Result<LogStream> {
        let source = match &mut self.origin {
            LogOrigin::Stored(stored) => {
                let opened = stored.open(PackedCount::to(packed));
                let opened = opened.map_err(|e| explain(self.place.clone(), e))?;
                StreamSource::Stored { opened, stored: Box::new(stored.clone()), taken: false }
            }
            LogOrigin::Pipe(logs) => {
                let logs = logs.take().ok_or_else(|| {
                    Error::input(
                        ErrorKind::ReadOnce,
                        self.place.clone(),
                        "it can be read only once",
                        "Give it as a file.",
                    )
                })?;
                logs.pipe.progress.connect(packed);
                StreamSource::Pipe(logs)
            }
        };
        Ok(LogStream { source, notes: Vec::new(), damage: Vec::new() })
    }
}

/// A pipe in which a log was found.
pub(crate) struct PipedLogs {
    pub(crate) pipe: InputPipe,
    /// The next log, if it has been recognised already.
    pub(crate) found: Option<PipeText>,
    /// True if the run's CPU export is known.
    pub(crate) cpu_given: bool,
    /// The options of the user.
    pub(crate) options: SourceOptions,
    /// What was skipped since the log that was found first.
    pub(crate) others: Vec<(Place, Fault)>,
}

impl PipedLogs {
    fn next(&mut self, notes: &mut Vec<String>, damage: &mut Vec<Damage>) -> Result<Option<PipeText>> {
        if let Some(found) = self.found.take() {
            return Ok(Some(found));
        }
        while let Some(piece) = self.pipe.next(&self.options)? {
            match piece.content {
                FileContent::Log => return Ok(Some(piece)),
                FileContent::Other(fault) => {
                    damage.extend(piece.head.cut.map(|fault| Damage::new(&piece.place, &fault, 0)));
                    self.others.push((piece.place, fault));
                }
                FileContent::Cpu(_) if self.cpu_given => notes.push(format!(
                    "{} is a second CPU export: left out, since another one was given",
                    piece.place
                )),
                FileContent::Cpu(_) => return Err(late_cpu(piece.place)),
            }
        }
        let place = self.pipe.place();
        notes.extend(left_out(&place, &std::mem::take(&mut self.others)));
        damage.extend(self.pipe.take_damage().map(|fault| Damage::new(&place, &fault, 0)));
        Ok(None)
    }
}

fn late_cpu(place: Place) -> Error {
    Error::input(
        ErrorKind::CpuBehindLog,
        place,
        "a CPU export comes after the log in a zip from a pipe, but is needed before the log",
        "Extract the CPU export and give it beside -, or give the zip as a file.",
    )
}

/// The most members of a file that are described one by one where they are skipped.
const DESCRIBED: usize = 3;

/// Returns the notes on members of `file` that were skipped: one for all that are of another kind, if they are many.
pub(crate) fn left_out(file: &Place, members: &[(Place, Fault)]) -> Vec<String> {
    let (harmed, others): (Vec<_>, Vec<_>) = members.iter().partition(|(_, fault)| fault.harm);
    let (summed, single) =
        if others.len() > DESCRIBED { (others, harmed) } else { (Vec::new(), members.iter().collect()) };
    let name = |(place, _): &&(Place, Fault)| place.member.clone().unwrap_or_else(|| place.to_string());
    let first: Vec<String> = summed.iter().take(DESCRIBED).map(name).collect();
    let note = (!summed.is_empty()).then(|| {
        let (count, more) = (summed.len(), summed.len() - first.len());
        format!(
            "{file}: {count} members are neither logs nor CPU exports, left out: {}, and {more} more",
            first.join(", ")
        )
    });
    single.into_iter().map(|(place, fault)| format!("{place} {fault}: left out")).chain(note).collect()
}

/// Returns the note on bytes that were appended to a log after its recognition.
fn left_behind(stored: &StoredText, bytes: u64) -> String {
    format!(
        "{} grew by {bytes} bytes while it was read: its first {} bytes are stored; ingest it again once its \
         test has ended",
        stored.place(),
        stored.packed_size()
    )
}

/// The logs of one source, one after another.
pub struct LogStream {
    source: StreamSource,
    notes: Vec<String>,
    damage: Vec<Damage>,
}

enum StreamSource {
    Stored { opened: Opened, stored: Box<StoredText>, taken: bool },
    Pipe(Box<PipedLogs>),
}

impl LogStream {
    /// Skips the rest of the current log and returns the next one. `None` is the checked end: only then is a zip from a
    /// pipe known to be complete.
    ///
    /// # Errors
    /// If the input can't be read or is damaged, or if a CPU export follows a log in a pipe.
    pub fn next_log(&mut self) -> Result<Option<LogReader<'_>>> {
        let damage = &mut self.damage;
        match &mut self.source {
            StreamSource::Stored { stored, taken: true, .. } => {
                let grown = stored.grown().map_err(|e| explain(stored.place(), e))?;
                self.notes.extend((grown > 0).then(|| left_behind(stored, grown)));
                Ok(None)
            }
            StreamSource::Stored { opened, stored, taken } => {
                *taken = true;
                let input = Box::new(opened.reader());
                Ok(Some(LogReader::new(stored.place(), Vec::new(), input, damage)))
            }
            StreamSource::Pipe(logs) => {
                let Some(piece) = logs.next(&mut self.notes, damage)? else { return Ok(None) };
                let input = Box::new(logs.pipe.reader());
                Ok(Some(LogReader::new(piece.place, piece.head.bytes, input, damage)))
            }
        }
    }

    /// Takes the notes for the user since the last call, as sentences.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Takes the damage that was salvaged since the last call. Damage to a log is known once that log is finished,
    /// damage to the directory of a piped zip at the end. Always empty without [`SourceOptions::salvage`].
    ///
    /// [`SourceOptions::salvage`]: crate::source::SourceOptions::salvage
    pub fn take_damage(&mut self) -> Vec<Damage> {
        std::mem::take(&mut self.damage)
    }
}

/// A reader of the unpacked bytes of one log. Reads go straight into the caller's buffer, so make it large.
pub struct LogReader<'a> {
    place: Place,
    head: io::Cursor<Vec<u8>>,
    input: Box<dyn Digested + 'a>,
    /// The number of bytes that may still be read, if the log is limited.
    left: Option<u64>,
    /// True if the log goes on after the limit.
    more: bool,
    /// True if the log is still being written.
    grows: bool,
    failed: bool,
    /// Converts the log, if it is not JMeter's CSV.
    converter: Option<Box<Converter>>,
    /// The load tool that wrote the log, if it is not JMeter.
    tool: Option<&'static str>,
    /// The list to which damage is added.
    damage: &'a mut Vec<Damage>,
}

impl<'a> LogReader<'a> {
    pub(crate) fn new(
        place: Place,
        head: Vec<u8>,
        input: Box<dyn Digested + 'a>,
        damage: &'a mut Vec<Damage>,
    ) -> Self {
        Self {
            place,
            head: io::Cursor::new(head),
            input,
            left: None,
            more: false,
            grows: false,
            failed: false,
            converter: None,
            tool: None,
            damage,
        }
    }

    /// Says that the log is still being written, so that nothing may be there yet.
    pub(crate) fn growing(self) -> Self {
        Self { grows: true, ..self }
    }

    /// Limits the reader to this many bytes.
    pub(crate) fn limited(self, bytes: Option<u64>) -> Self {
        Self { left: bytes, ..self }
    }

    /// From here on gives the lines that the log is converted to. `head` was read already. `begin` is as for
    /// [`Converter::new`].
    pub(crate) fn convert(
        &mut self,
        format: &Format,
        resolution: Resolution,
        begin: Option<i64>,
        head: Vec<u8>,
    ) {
        self.tool = format.tool;
        self.converter = Some(Box::new(Converter::new(format, resolution, begin, head)));
    }

    /// Returns true if reading ended at the limit although the log goes on.
    pub(crate) fn has_more(&self) -> bool {
        self.more
    }

    /// Returns the file, and the member if it is in a zip.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the log's own name without folders, as [`LogSource::file_name`].
    pub fn file_name(&self) -> String {
        own_name(&self.place)
    }

    /// Converts an I/O error of reading into one that names the place and the remedy.
    pub fn explain(&self, error: io::Error) -> Error {
        explain(self.place.clone(), error)
    }

    /// Returns true if reading ended at damage instead of the log's end, so that the last line may be cut.
    pub fn is_cut(&self) -> bool {
        self.input.cut().is_some()
    }

    /// Reads the rest of the log and returns the size and checksum of the whole, checked against what the zip states.
    /// For a salvaged log they cover the bytes that could be read.
    ///
    /// # Errors
    /// If the rest can't be read, the file is damaged, or an earlier read failed.
    pub fn finish(self) -> Result<SourceFile> {
        let (place, tool) = (self.place.clone(), self.tool);
        let digest = self.end().map_err(|e| explain(place.clone(), e))?;
        Ok(SourceFile { tool: tool.map(str::to_owned), ..source_file(&place, SourceKind::Log, &digest) })
    }

    fn end(mut self) -> io::Result<Digest> {
        if self.failed {
            return Err(Fault::damaged("it could not be read to its end"));
        }
        io::copy(&mut self.input, &mut io::sink())?;
        let digest = self.input.digest();
        self.damage.extend(self.input.cut().map(|fault| Damage::new(&self.place, fault, digest.bytes())));
        Ok(digest.clone())
    }
}

impl LogReader<'_> {
    fn read_on(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = match self.head.read(out) {
            Ok(0) => self.input.read(out),
            read => read,
        };
        self.failed |= read.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted);
        read
    }
}

impl Read for LogReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(mut converter) = self.converter.take() else { return self.read_log(out) };
        let read = converter.read(out, self);
        self.converter = Some(converter);
        read
    }
}

impl LogToConvert for LogReader<'_> {
    fn follows(&self) -> NextBytes {
        if self.more {
            NextBytes::Unwanted
        } else if LogReader::is_cut(self) {
            NextBytes::Damage
        } else {
            NextBytes::Nothing
        }
    }

    fn read_log(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(left) = self.left else { return self.read_on(out) };
        if left == 0 {
            self.more = self.more || self.read_on(&mut [0])? > 0;
            return Ok(0);
        }
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(out.len());
        let read = self.read_on(out.get_mut(..wanted).unwrap_or_default())?;
        self.left = Some(left.saturating_sub(read as u64));
        Ok(read)
    }
}

impl LogBytes for LogReader<'_> {
    fn is_cut(&self) -> bool {
        self.more || LogReader::is_cut(self)
    }

    fn pauses(&self) -> bool {
        self.grows
    }
}

/// Describes a source that has been read to its end.
pub(crate) fn source_file(place: &Place, kind: SourceKind, digest: &Digest) -> SourceFile {
    SourceFile {
        file: last_part(&place.file.to_string_lossy()).to_owned(),
        member: place.member.clone(),
        kind,
        bytes: digest.bytes(),
        crc32: digest.crc32(),
        tool: None,
    }
}

/// Returns the member's name without folders, or the file's if there is no member or it has no proper name.
fn own_name(place: &Place) -> String {
    match place.member.as_deref().map(last_part) {
        Some(member) if !member.is_empty() && member != "-" => member.to_owned(),
        _ => last_part(&place.file.to_string_lossy()).to_owned(),
    }
}

pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// Returns a file name without the extensions of packed and CSV files.
pub(crate) fn stem(name: &str) -> &str {
    const ENDINGS: [&str; 8] = ["zip", "gz", "zst", "csv", "jtl", "log", "txt", "tsv"];
    match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some(ending) if ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)) => {
            name.len().checked_sub(ending.len() + 1).and_then(|end| name.get(..end)).map_or(name, stem)
        }
        _ => name,
    }
}

/// Gives each log a name that no other log of the run has.
pub(crate) struct LogNames {
    /// True if the next log is known to be one of several. The only log of a run needs no name.
    several: bool,
    /// File names that more than one log has.
    shared: HashSet<String>,
    given: HashSet<String>,
    /// The injector of all these logs.
    injector: Option<Arc<str>>,
}

impl LogNames {
    /// Prepares names for the logs of these sources. A pipe may turn out to contain more than one log.
    pub(crate) fn new(sources: &[LogSource], injector: Option<&str>) -> Self {
        let mut seen = HashSet::new();
        let shared =
            sources.iter().map(LogSource::file_name).filter(|name| !seen.insert(name.clone())).collect();
        let injector = injector.map(Arc::from);
        Self { several: sources.len() > 1, shared, given: HashSet::new(), injector }
    }

    /// Returns the name of the log that is read next: that of its injector, and if it is one of several, its own.
    pub(crate) fn next(&mut self, log: &Place) -> Option<Arc<str>> {
        let own = self.next_own(log);
        match (&self.injector, own) {
            (Some(injector), Some(own)) => Some(format!("{injector}/{own}").into()),
            (injector, own) => own.or_else(|| injector.clone()),
        }
    }

    /// Returns the log's own name: its file name, with its folders if another log has the same one.
    ///
    /// The first log of a single pipe has none, since it may be the only log.
    fn next_own(&mut self, log: &Place) -> Option<Arc<str>> {
        let short = own_name(log);
        if !std::mem::replace(&mut self.several, true) {
            self.given.insert(short);
            return None;
        }
        let known = self.shared.contains(&short) || self.given.contains(&short);
        let base = if known { long_name(log) } else { short };
        let numbered = (2..).map(|number| format!("{base} ({number})"));
        let name = std::iter::once(base.clone()).chain(numbered).find(|name| !self.given.contains(name))?;
        self.given.insert(name.clone());
        Some(name.into())
    }
}

/// Returns a log's name with its folders.
fn long_name(place: &Place) -> String {
    let file = place.file.display();
    place.member.as_ref().map_or_else(|| file.to_string(), |member| format!("{file}/{member}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_is_named_by_its_member_where_that_says_anything() {
        let zip = || Place::file("/data/run.csv.zip");
        assert_eq!(own_name(&zip()), "run.csv.zip");
        assert_eq!(own_name(&zip().member("../a/b.jtl")), "b.jtl");
        assert_eq!(own_name(&zip().member("-")), "run.csv.zip");
        assert_eq!(own_name(&Place::file("-").member("C:\\x\\b.csv")), "b.csv");
        assert_eq!(own_name(&Place::file("-")), "-");
    }

    #[test]
    fn stems_lose_known_endings_only() {
        for (name, expected) in [
            ("Results-2048-8181.killed.csv.zip", "Results-2048-8181.killed"),
            ("a.JTL.gz", "a"),
            ("spring_2048", "spring_2048"),
            (".csv", ".csv"),
            ("-", "-"),
            ("v1.2", "v1.2"),
        ] {
            assert_eq!(stem(name), expected);
        }
    }
}
