//! A log or CPU export in a regular file: it can be opened any number of times.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::container::Container;
use super::content::Content;
use super::head::read_head;
use super::opened::Opened;
use super::snapshot::Seen;
use super::unpack::checked::{Checked, Digested, Expected, Stated, Unpacked};
use super::unpack::codec::{Codec, Extent, Unpacker};
use super::unpack::gzip::Gunzip;
use super::unpack::metered::{Meter, PackedCount, packed};
use super::unpack::salvage::Salvaged;
use super::zip::member::{Member, method_name};
use super::zip::open::open_member;
use crate::error::{Place, Result};
use crate::formats::jtl::layout::LayoutOptions;
use crate::run::fault::{Fault, explain};

/// How many bytes of a log are packed into one, about.
const USUAL_RATIO: u64 = 12;

/// Where in the file the text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole file, packed or not.
    Whole(Container),
    /// A member of a zip.
    Member(Member),
}

/// A text in a regular file.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    path: PathBuf,
    part: Part,
    seen: Seen,
    /// Whether it is read as far as it can be, in the place of being refused where it can't.
    salvage: bool,
}

impl Stored {
    /// A text in the file at `path`, which must stay as it is now; a log that is not packed may grow.
    pub(crate) fn new(path: &Path, part: Part, salvage: bool) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), part, seen: Seen::of(&fs::metadata(path)?), salvage })
    }

    /// The place of the text.
    pub(crate) fn place(&self) -> Place {
        match &self.part {
            Part::Whole(_) => Place::file(&self.path),
            Part::Member(member) => Place::file(&self.path).member(&member.name),
        }
    }

    /// Size in bytes, packed.
    pub(crate) fn packed_size(&self) -> u64 {
        match &self.part {
            Part::Whole(_) => self.seen.bytes(),
            Part::Member(member) => member.packed,
        }
    }

    /// Size in bytes, unpacked: as it is stated, else as logs are packed usually.
    pub(crate) fn about_unpacked(&self) -> u64 {
        self.unpacked_size().unwrap_or_else(|| self.packed_size().saturating_mul(USUAL_RATIO))
    }

    /// Whether its text is of this size and has this CRC-32: as the zip's directory says, or the end of a gzip file of
    /// one member, or, if it is not packed, its size. `None` where only reading it can tell.
    pub(crate) fn holds(&self, bytes: u64, crc32: u32) -> Option<bool> {
        match &self.part {
            Part::Member(member) => {
                let Expected::Stated(stated) = member.expected else { return None };
                let holds = stated == Stated { bytes, crc32 };
                // Of a damaged one less could be read than the zip states.
                (holds || !self.salvage).then_some(holds)
            }
            Part::Whole(Container::Plain) => (self.seen.bytes() != bytes).then_some(false),
            Part::Whole(Container::Gzip) => {
                let trailer = last_bytes(&self.path).ok()?;
                let size = (bytes as u32).to_le_bytes();
                (trailer == [crc32.to_le_bytes(), size].concat().as_slice()).then_some(true)
            }
            Part::Whole(Container::Zstd | Container::Zip) => None,
        }
    }

    /// How it is packed, in words.
    pub(crate) fn packing(&self) -> String {
        match &self.part {
            Part::Whole(container) => container.name().to_owned(),
            Part::Member(member) => format!("{}, {}", Container::Zip.name(), method_name(member.method)),
        }
    }

    /// Size in bytes, unpacked, where it is stated.
    pub(crate) fn unpacked_size(&self) -> Option<u64> {
        match &self.part {
            Part::Whole(Container::Plain) => Some(self.seen.bytes()),
            Part::Whole(_) => None,
            Part::Member(member) => match member.expected {
                Expected::Stated(stated) => Some(stated.bytes),
                Expected::Unknown | Expected::Lost => None,
            },
        }
    }

    /// The last bytes of a text that is not packed, at most so many; `None` of one that is.
    pub(crate) fn tail(&self, bytes: u64) -> io::Result<Option<Vec<u8>>> {
        if self.part != Part::Whole(Container::Plain) {
            return Ok(None);
        }
        let mut file = self.seen.open(&self.path, true)?;
        file.seek(SeekFrom::Start(self.seen.bytes().saturating_sub(bytes)))?;
        let mut tail = Vec::new();
        file.take(self.seen.bytes().min(bytes)).read_to_end(&mut tail)?;
        Ok(Some(tail))
    }

    /// How many bytes were added to it since it was recognised: they are not read.
    ///
    /// # Errors
    /// When it changed in another way.
    pub(crate) fn grown(&self) -> io::Result<u64> {
        self.seen.grown(&self.path, self.may_grow())
    }

    /// Whether bytes that are added to the file do not change what was there.
    fn may_grow(&self) -> bool {
        self.part == Part::Whole(Container::Plain)
    }

    /// Opens it at its start.
    pub(crate) fn open(&self, progress: PackedCount) -> io::Result<Opened> {
        let file = self.seen.open(&self.path, self.may_grow())?;
        match &self.part {
            Part::Member(member) => open_member(&self.path, member, progress, self.salvage),
            Part::Whole(container) => {
                let file = self.seen.snapshot(Meter::new(file, progress));
                unpack(*container, file, self.salvage).map(Opened::from)
            }
        }
    }

    /// Its first bytes; `Ok(Err(_))` says why it can't be unpacked at all.
    pub(crate) fn head(&self) -> Result<std::result::Result<Head, Fault>> {
        let mut opened = match self.open(PackedCount::default()) {
            Ok(opened) => opened,
            Err(error) => {
                let fault = error.downcast::<Fault>().map_err(|e| explain(self.place(), e))?;
                return Ok(Err(if self.salvage { fault.lost() } else { fault }));
            }
        };
        Head::read(opened.reader()).map(Ok).map_err(|e| explain(self.place(), e))
    }
}

/// The last 8 bytes of a file: where it is gzip, the CRC-32 and the size (modulo 2^32) of its last member.
fn last_bytes(path: &Path) -> io::Result<[u8; 8]> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::End(-8))?;
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The first bytes of a text, and why there are no more, if damage is why.
pub(crate) struct Head {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: Option<Fault>,
}

impl Head {
    /// Reads a text's first bytes.
    pub(crate) fn read<R: Digested + ?Sized>(reader: &mut R) -> io::Result<Self> {
        let bytes = read_head(reader)?;
        Ok(Self { bytes, cut: reader.cut().cloned() })
    }

    /// What the text is, by its head. Where it can't be told what a damaged text is, the damage is why.
    ///
    /// # Errors
    /// When the layout that was told makes no sense.
    pub(crate) fn content(&self, options: &LayoutOptions) -> Result<Content> {
        Ok(match (Content::of(&self.bytes, options)?, &self.cut) {
            (Content::Other(_), Some(fault)) => Content::Other(fault.clone().lost()),
            (content, _) => content,
        })
    }
}

/// Unpacks a whole file, not a zip, that was recognised as `container`.
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
