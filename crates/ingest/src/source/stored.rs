//! A log or CPU export in a regular file: it can be opened any number of times.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::checked::{Checked, Digested, Gunzip, Unpacked};
use super::codec::{Codec, Extent, Unpacker};
use super::container::Container;
use super::fault::{Fault, explain};
use super::head::HEAD;
use super::packed::{Meter, PackedCount, packed, read_up_to};
use super::zip_dir::{Member, OpenArchive, open_member};
use crate::error::{Place, Result};

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
    pub(crate) path: PathBuf,
    pub(crate) part: Part,
}

/// A text in a regular file, opened.
pub(crate) enum Opened {
    /// Unpacked straight into the caller's buffer.
    Direct(Box<dyn Digested + Send>),
    /// Unpacked by the zip crate.
    Archive(OpenArchive),
}

impl Opened {
    /// The reader of its bytes.
    pub(crate) fn reader(&mut self) -> io::Result<Box<dyn Digested + '_>> {
        match self {
            Self::Direct(reader) => Ok(Box::new(reader.as_mut())),
            Self::Archive(archive) => archive.reader(),
        }
    }
}

impl Stored {
    /// The place of the text.
    pub(crate) fn place(&self) -> Place {
        match &self.part {
            Part::Whole(_) => Place::file(&self.path),
            Part::Member(member) => Place::file(&self.path).member(&member.name),
        }
    }

    /// Size in bytes, packed.
    pub(crate) fn packed_size(&self) -> Option<u64> {
        match &self.part {
            Part::Whole(_) => Some(std::fs::metadata(&self.path).ok()?.len()),
            Part::Member(member) => Some(member.packed),
        }
    }

    /// Opens it at its start.
    pub(crate) fn open(&self, progress: PackedCount) -> io::Result<Opened> {
        let container = match &self.part {
            Part::Whole(container) => *container,
            Part::Member(member) => return open_member(&self.path, member, progress),
        };
        unpack(container, Meter::new(File::open(&self.path)?, progress)).map(Opened::Direct)
    }

    /// Its first bytes; `Ok(Err(_))` says why it can't be unpacked at all.
    pub(crate) fn head(&self) -> Result<std::result::Result<Vec<u8>, Fault>> {
        let mut opened = match self.open(PackedCount::default()) {
            Ok(opened) => opened,
            Err(error) => {
                return error.downcast::<Fault>().map(Err).map_err(|e| explain(self.place(), e));
            }
        };
        let mut head = vec![0; HEAD];
        let read = opened.reader().and_then(|mut reader| read_up_to(&mut reader, &mut head));
        head.truncate(read.map_err(|e| explain(self.place(), e))?);
        Ok(Ok(head))
    }
}

/// Unpacks a whole file, not a zip, that was recognised as `container`.
pub(crate) fn unpack(
    container: Container,
    input: impl io::Read + Send + 'static,
) -> io::Result<Box<dyn Digested + Send>> {
    Ok(match container {
        Container::Gzip => Box::new(Checked::new(Gunzip::new(packed(input)), None)),
        Container::Zstd => {
            let unpacker = Unpacker::new(Codec::zstd()?, Extent::Input);
            Box::new(Checked::new(Unpacked::new(packed(input), unpacker), None))
        }
        Container::Plain | Container::Zip => Box::new(Checked::new(input, None)),
    })
}
