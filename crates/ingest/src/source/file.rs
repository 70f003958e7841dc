//! A log or CPU export in a regular file, which can be opened any number of times; a file that changes meanwhile is an error.

use std::fs;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::SourceOptions;
use super::detect::FileContent;
use super::head::{read_head, text};
use super::opened::Opened;
use super::unpack::checked::{Checked, Digested, Expected, Salvaged, Stated, Unpacked};
use super::unpack::codec::{Codec, Container, Extent, Unpacker};
use super::unpack::gzip::Gunzip;
use super::unpack::metered::{Meter, PackedCount, packed};
use super::zip::member::{Member, method_name, open_member};
use perfpipe_formats::tools::format::TimeBase;
use perfpipe_formats::tools::recognise;
use perfpipe_model::error::{ErrorKind, Place, Result};
use perfpipe_model::run::damage::{Fault, explain};

/// The assumed compression ratio of logs whose unpacked size is unknown.
const USUAL_RATIO: u64 = 12;

/// The part of the file that contains the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilePart {
    /// The whole file, packed or not.
    Whole(Container),
    /// A member of a zip.
    Member(Member),
}

/// A text in a regular file.
#[derive(Debug, Clone)]
pub(crate) struct StoredText {
    path: PathBuf,
    part: FilePart,
    seen: Seen,
    /// True if damaged input is read as far as possible instead of being refused.
    salvage: bool,
    /// The file by which it is called, if that is another one.
    called: Option<PathBuf>,
}

impl StoredText {
    /// Records the size and identity of the file at `path`. It must not change until it is read; a log that is not
    /// packed may grow.
    pub(crate) fn new(path: &Path, part: FilePart, salvage: bool) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), part, seen: Seen::of(&fs::metadata(path)?), salvage, called: None })
    }

    /// Calls the text by another file than the one that contains it.
    pub(crate) fn called(self, file: &Path) -> Self {
        Self { called: Some(file.to_owned()), ..self }
    }

    /// Returns the file, and the member if it is a zip.
    pub(crate) fn place(&self) -> Place {
        match &self.part {
            FilePart::Whole(_) => Place::file(self.called.as_ref().unwrap_or(&self.path)),
            FilePart::Member(member) => Place::file(&self.path).member(&member.name),
        }
    }

    /// Returns the packed size in bytes.
    pub(crate) fn packed_size(&self) -> u64 {
        match &self.part {
            FilePart::Whole(_) => self.seen.bytes(),
            FilePart::Member(member) => member.packed,
        }
    }

    /// Returns the unpacked size in bytes, estimated from the packed size if it is not stated.
    pub(crate) fn about_unpacked(&self) -> u64 {
        self.unpacked_size().unwrap_or_else(|| self.packed_size().saturating_mul(USUAL_RATIO))
    }

    /// Returns true if the text has this size and CRC-32, judged without unpacking it: by the zip's directory, the
    /// trailer of a gzip file (which describes its last member), or the size of a file that is not packed. `None` if
    /// it is known only after reading the text.
    pub(crate) fn holds(&self, bytes: u64, crc32: u32) -> Option<bool> {
        match &self.part {
            FilePart::Member(member) => {
                let Expected::Stated(stated) = member.expected else { return None };
                let holds = stated == Stated { bytes, crc32 };
                // If the member is damaged, fewer bytes may have been read than the zip states.
                (holds || !self.salvage).then_some(holds)
            }
            FilePart::Whole(Container::Plain) => (self.seen.bytes() != bytes).then_some(false),
            FilePart::Whole(Container::Gzip) => {
                let trailer = last_bytes(&self.path).ok()?;
                let size = (bytes as u32).to_le_bytes();
                (trailer == [crc32.to_le_bytes(), size].concat().as_slice()).then_some(true)
            }
            FilePart::Whole(Container::Zstd | Container::Zip) => None,
        }
    }

    /// Returns the container and compression method, as it appears in messages.
    pub(crate) fn packing(&self) -> String {
        match &self.part {
            FilePart::Whole(container) => container.name().to_owned(),
            FilePart::Member(member) => format!("{}, {}", Container::Zip.name(), method_name(member.method)),
        }
    }

    /// Returns the unpacked size in bytes, if it is stated.
    pub(crate) fn unpacked_size(&self) -> Option<u64> {
        match &self.part {
            FilePart::Whole(Container::Plain) => Some(self.seen.bytes()),
            FilePart::Whole(_) => None,
            FilePart::Member(member) => match member.expected {
                Expected::Stated(stated) => Some(stated.bytes),
                Expected::Unknown | Expected::Lost => None,
            },
        }
    }

    /// Returns up to `bytes` of the end of a text that is not packed; `None` if it is packed.
    pub(crate) fn tail(&self, bytes: u64) -> io::Result<Option<Vec<u8>>> {
        if self.part != FilePart::Whole(Container::Plain) {
            return Ok(None);
        }
        let mut file = self.seen.open(&self.path, true)?;
        file.seek(SeekFrom::Start(self.seen.bytes().saturating_sub(bytes)))?;
        let mut tail = Vec::new();
        file.take(self.seen.bytes().min(bytes)).read_to_end(&mut tail)?;
        Ok(Some(tail))
    }

    /// Returns the number of bytes that were added to the file since it was recognised. They are not read.
    ///
    /// # Errors
    /// If the file changed in another way.
    pub(crate) fn grown(&self) -> io::Result<u64> {
        self.seen.grown(&self.path, self.may_grow())
    }

    /// Returns true if the file may grow while it is read: appended bytes do not change the earlier ones.
    fn may_grow(&self) -> bool {
        self.part == FilePart::Whole(Container::Plain)
    }

    /// Opens the text at its start.
    pub(crate) fn open(&self, progress: PackedCount) -> io::Result<Opened> {
        let file = self.seen.open(&self.path, self.may_grow())?;
        match &self.part {
            FilePart::Member(member) => open_member(&self.path, member, progress, self.salvage),
            FilePart::Whole(container) => {
                let file = self.seen.snapshot(Meter::new(file, progress));
                unpack(*container, file, self.salvage).map(Opened::from)
            }
        }
    }

    /// Reads the first bytes of the text. The inner error says why it can't be unpacked at all.
    pub(crate) fn head(&self) -> Result<std::result::Result<TextHead, Fault>> {
        let mut opened = match self.open(PackedCount::default()) {
            Ok(opened) => opened,
            Err(error) => {
                let fault = error.downcast::<Fault>().map_err(|e| explain(self.place(), e))?;
                return Ok(Err(if self.salvage { fault.lost() } else { fault }));
            }
        };
        TextHead::read(opened.reader()).map(Ok).map_err(|e| explain(self.place(), e))
    }
}

/// Returns the last 8 bytes of a file. In a gzip file these are the CRC-32 and the size (modulo 2^32) of the last
/// member.
fn last_bytes(path: &Path) -> io::Result<[u8; 8]> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::End(-8))?;
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// What a log has, or lacks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Has {
    /// False if its times are since the begin of its tool.
    pub(crate) clock: bool,
    /// False if it has no single requests.
    pub(crate) requests: bool,
}

impl Default for Has {
    fn default() -> Self {
        Self { clock: true, requests: true }
    }
}

/// The first bytes of a text, and the damage that ended it there, if any.
pub(crate) struct TextHead {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: Option<Fault>,
}

impl TextHead {
    /// Reads the first bytes of a text.
    pub(crate) fn read<R: Digested + ?Sized>(reader: &mut R) -> io::Result<Self> {
        let bytes = read_head(reader)?;
        Ok(Self { bytes, cut: reader.cut().cloned() })
    }

    /// Returns what a log with this head has.
    pub(crate) fn has(&self) -> Has {
        let head = text(&self.bytes);
        recognise(head).map_or_else(Has::default, |format| Has {
            clock: (format.clock)(head) == TimeBase::Epoch,
            requests: format.has_requests(),
        })
    }

    /// Classifies the text by its head. If a damaged text can't be recognised, the damage is given as the reason.
    ///
    /// # Errors
    /// If the columns in `options` make no sense.
    pub(crate) fn content(&self, options: &SourceOptions) -> Result<FileContent> {
        Ok(match (FileContent::of(&self.bytes, options)?, &self.cut) {
            (FileContent::Other(_), Some(fault)) => FileContent::Other(fault.clone().lost()),
            (content, _) => content,
        })
    }
}

/// Unpacks a whole file that was recognised as `container`, which must not be a zip.
pub(crate) fn unpack(
    container: Container,
    input: impl io::Read + Send + 'static,
    salvage: bool,
) -> io::Result<Box<dyn Digested + Send>> {
    let text: Box<dyn Digested + Send> = match container {
        Container::Gzip => Box::new(Checked::new(Gunzip::new(packed(input)), Expected::Unknown)),
        Container::Zstd => {
            let unpacker = Unpacker::new(Codec::zstd()?, Extent::Input);
            Box::new(Checked::new(Unpacked::new(packed(input), unpacker), Expected::Unknown))
        }
        Container::Plain | Container::Zip => Box::new(Checked::new(input, Expected::Unknown)),
    };
    Ok(if salvage { Box::new(Salvaged::new(text)) } else { text })
}

/// The size and identity of a regular file when it was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    bytes: u64,
    identity: (u64, u64),
}

impl Seen {
    fn of(file: &Metadata) -> Self {
        Self { bytes: file.len(), identity: identity(file) }
    }

    /// Returns the size in bytes.
    fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Opens the file.
    ///
    /// # Errors
    /// If it was replaced or has shrunk, or has grown although it may not.
    fn open(&self, path: &Path, may_grow: bool) -> io::Result<File> {
        let file = File::open(path)?;
        let now = file.metadata()?;
        if identity(&now) != self.identity {
            return Err(changed("another file took its place"));
        }
        self.compare(now.len(), may_grow)?;
        Ok(file)
    }

    /// Returns the number of bytes by which the file has grown since it was recognised. Returns 0 if the file was
    /// removed or replaced meanwhile, since the open file could still be read.
    ///
    /// # Errors
    /// If the file has shrunk, or has grown although it may not.
    fn grown(&self, path: &Path, may_grow: bool) -> io::Result<u64> {
        match std::fs::metadata(path) {
            Ok(now) if identity(&now) == self.identity => self.compare(now.len(), may_grow),
            _ => Ok(0),
        }
    }

    /// Returns by how many bytes the present size exceeds the recognised one.
    fn compare(&self, now: u64, may_grow: bool) -> io::Result<u64> {
        match now.checked_sub(self.bytes) {
            None => Err(self.shrunk(now)),
            Some(1..) if !may_grow => {
                Err(changed(&format!("it has {now} bytes now, and had {} before", self.bytes)))
            }
            Some(grown) => Ok(grown),
        }
    }

    /// Limits a reader to the bytes that the file had when it was recognised.
    fn snapshot<R>(&self, text: R) -> Snapshot<R> {
        Snapshot { text, seen: *self, read: 0 }
    }

    fn shrunk(&self, bytes: u64) -> io::Error {
        changed(&format!("{bytes} of its {} bytes are left", self.bytes))
    }
}

fn changed(how: &str) -> io::Error {
    let problem = format!("it changed while it was being read: {how}");
    Fault::new(
        ErrorKind::FileChanged,
        problem,
        "Ingest it again once nothing writes to it; nothing was stored.",
    )
    .into()
}

/// Returns device and inode number, on systems that have them.
pub(super) fn identity(file: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (file.dev(), file.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        (0, 0)
    }
}

/// Reads a text up to the size that it had when it was recognised. It is an error if it has become shorter.
struct Snapshot<R> {
    text: R,
    seen: Seen,
    read: u64,
}

impl<R: Read> Read for Snapshot<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.seen.bytes.saturating_sub(self.read)).unwrap_or(usize::MAX);
        let length = left.min(out.len());
        if length == 0 {
            return Ok(0);
        }
        match self.text.read(out.get_mut(..length).unwrap_or_default())? {
            0 => Err(self.seen.shrunk(self.read)),
            read => {
                self.read += read as u64;
                Ok(read)
            }
        }
    }
}
