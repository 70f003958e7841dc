//! Reads a zip from a pipe: member after member by their local headers, each checked at its end.

use std::io::{self, BufRead, Read};

use super::directory::{after_padding, trailing};
use super::header::{
    END, END_64, ENTRY, FOLLOWING, LOCAL, LocalHeader, described, descriptors, directory, local_header,
    signature, skip,
};
use super::member::{MOST_MEMBERS, encrypted, too_many, unsupported};
use crate::source::unpack::checked::{Digest, Digested, Stated, wrong_checksum};
use crate::source::unpack::codec::{Codec, Extent, Unpacker};
use crate::source::unpack::metered::{PackedReader, read_up_to};
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::{Fault, harm};

/// The size in bytes of the buffer for unpacking members that are skipped.
const SKIP_BUFFER: usize = 64 << 10;

/// A zip that is read once, from start to end.
pub(crate) struct ZipPipe {
    input: PackedReader,
    current: Option<Current>,
    /// The next record's signature, if it was read with the previous member.
    ahead: Option<[u8; 4]>,
    members: u64,
    digest: Digest,
    /// True if damaged members are read as far as possible.
    salvage: bool,
    /// The damage that ended the current member early.
    cut: Option<Fault>,
    /// The place of the record after the current member.
    behind: Behind,
    /// The damage to the zip itself.
    damage: Option<Fault>,
}

/// The place of the record after a damaged member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// At the next byte.
    Here,
    /// After this many bytes.
    After(u64),
    /// Unknown; it has to be searched for.
    Somewhere,
}

/// The member that is being read.
struct Current {
    header: LocalHeader,
    /// `None` until its first byte is requested.
    unpacker: Option<Unpacker>,
}

impl ZipPipe {
    /// Reads a zip that begins at the input's next byte. With `salvage`, members end at damage instead of failing
    /// there.
    pub(crate) fn new(input: PackedReader, salvage: bool) -> Self {
        Self {
            input,
            current: None,
            ahead: None,
            members: 0,
            digest: Digest::default(),
            salvage,
            cut: None,
            behind: Behind::Here,
            damage: None,
        }
    }

    /// Skips the rest of the current member and returns the name of the next one; `None` is the zip's end.
    pub(crate) fn next_member(&mut self) -> io::Result<Option<String>> {
        loop {
            match self.advance() {
                Err(error) if self.salvage => {
                    let fault = harm(error)?;
                    self.damage.get_or_insert(fault);
                }
                next => return next,
            }
            if !self.find_record()? {
                return Ok(None);
            }
        }
    }

    /// Takes the damage to the zip itself, as opposed to its members.
    pub(crate) fn take_damage(&mut self) -> Option<Fault> {
        self.damage.take()
    }

    /// Searches for the next record. Returns false at the end of the input.
    fn find_record(&mut self) -> io::Result<bool> {
        self.behind = Behind::Here;
        if self.ahead.is_none_or(|ahead| !FOLLOWING.contains(&ahead)) {
            self.ahead = search(&mut self.input)?;
        }
        Ok(self.ahead.is_some())
    }

    fn advance(&mut self) -> io::Result<Option<String>> {
        self.pass_over()?;
        self.cut = None;
        match std::mem::replace(&mut self.behind, Behind::Here) {
            Behind::Here => {}
            Behind::After(bytes) => skip(&mut self.input, bytes)?,
            Behind::Somewhere if self.find_record()? => {}
            Behind::Somewhere => return Err(directory_missing()),
        }
        let next = match self.ahead.take() {
            Some(signature) => signature,
            None => signature(&mut self.input)?,
        };
        match next {
            LOCAL => {
                let header = local_header(&mut self.input)?;
                if self.damage.is_some() && !header.is_likely() {
                    return Err(Fault::damaged("a member of the zip does not begin with a valid header"));
                }
                let name = header.name.clone();
                self.members += 1;
                if self.members > MOST_MEMBERS {
                    return Err(too_many().into());
                }
                self.digest = Digest::default();
                self.current = Some(Current { header, unpacker: None });
                Ok(Some(name))
            }
            ENTRY | END | END_64 => self.close(next).map(|()| None),
            _ => Err(Fault::damaged("a member of the zip does not end where its header says")),
        }
    }

    /// Reads the directory. It must list as many members as were read, and only padding may follow it.
    fn close(&mut self, first: [u8; 4]) -> io::Result<()> {
        let listed = directory(&mut self.input, first)?;
        if listed == self.members {
            self.ahead = after_padding(&mut self.input)?;
            return self.ahead.map_or(Ok(()), |first| Err(trailing(first, None).into()));
        }
        let problem = format!(
            "the file is damaged: the zip's directory lists {listed} members, and {} were read",
            self.members
        );
        Err(Fault::harm(ErrorKind::FileDamaged, problem).into())
    }

    /// Prepares to unpack the current member; the error says why it can't be unpacked.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        if let Some(Current { header, unpacker: slot @ None }) = &mut self.current {
            *slot = Some(unpacker(header)?);
        }
        Ok(())
    }

    /// Returns true if the current member can be skipped without unpacking it.
    pub(crate) fn is_sized(&self) -> bool {
        self.current.as_ref().is_none_or(|current| !current.header.described_after)
    }

    fn pass_over(&mut self) -> io::Result<()> {
        match &self.current {
            None => Ok(()),
            Some(Current { header, unpacker: None }) if !header.described_after => {
                let packed = header.packed;
                self.current = None;
                skip(&mut self.input, packed)
            }
            Some(_) => {
                let mut buffer = vec![0; SKIP_BUFFER];
                while self.read(&mut buffer)? > 0 {}
                Ok(())
            }
        }
    }

    /// Ends a damaged member and records where the next record is.
    fn give_up(&mut self, fault: Fault, header: &LocalHeader, packed: u64) {
        self.cut = Some(fault);
        self.behind = match header.described_after {
            false => Behind::After(header.packed.saturating_sub(packed)),
            true if self.ahead.is_some() => Behind::Here,
            true => Behind::Somewhere,
        };
    }

    /// Reads what follows a member's data, and checks the checksum and sizes.
    fn end_member(&mut self, header: &LocalHeader, packed: u64) -> io::Result<()> {
        if header.described_after {
            return self.descriptor(packed);
        }
        self.digest.check(Stated { bytes: header.unpacked, crc32: header.crc32 })
    }

    /// Reads the data descriptor. It has four forms, which do not say which one they are, so the form is chosen that
    /// contains the right numbers and is followed by a record's signature.
    fn descriptor(&mut self, packed: u64) -> io::Result<()> {
        let mut read = Vec::new();
        for form in descriptors(self.digest.crc32(), packed, self.digest.bytes()) {
            let seen = read.len();
            read.resize(form.len() + 4, 0);
            let more = read_up_to(&mut self.input, read.get_mut(seen..).unwrap_or_default())?;
            let Some((found, after)) = read.split_last_chunk::<4>() else { continue };
            let whole = seen + more == read.len();
            if self.salvage && found == form && (!whole || !FOLLOWING.contains(after)) {
                // The member is undamaged, but what follows it is not.
                self.ahead = whole.then_some(*after);
                return Ok(());
            }
            if !whole {
                return Err(directory_missing());
            }
            if found == form && [LOCAL, ENTRY, END, END_64].contains(after) {
                self.ahead = Some(*after);
                return Ok(());
            }
            if self.salvage && FOLLOWING.contains(after) && described(found, |_| Some(packed)).is_some() {
                self.ahead = Some(*after);
                break;
            }
        }
        Err(wrong_checksum())
    }

    /// Reads from the current member. 0 is its end, checked.
    fn unpack(&mut self, header: &LocalHeader, state: &mut Unpacker, out: &mut [u8]) -> io::Result<usize> {
        let read = state.read(&mut self.input, out)?;
        self.digest.add(out.get(..read).unwrap_or_default());
        if read == 0 && !out.is_empty() {
            self.end_member(header, state.consumed())?;
        }
        Ok(read)
    }
}

fn directory_missing() -> io::Error {
    Fault::cut("the zip's directory is missing")
}

/// Searches the input for the signature of a record that may follow a member; `None` at the input's end.
fn search(input: &mut PackedReader) -> io::Result<Option<[u8; 4]>> {
    let mut last = [0; 4];
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let found = bytes.iter().position(|byte| {
            last.rotate_left(1);
            last[3] = *byte;
            FOLLOWING.contains(&last)
        });
        let passed = found.map_or(bytes.len(), |at| at + 1);
        input.consume(passed);
        if found.is_some() {
            return Ok(Some(last));
        }
    }
}

/// Returns the unpacker for a member; the error says why there is none.
fn unpacker(header: &LocalHeader) -> io::Result<Unpacker> {
    if header.encrypted {
        return Err(encrypted().into());
    }
    let codec = match header.method {
        0 => Codec::Stored,
        8 => Codec::deflate(),
        93 => Codec::zstd()?,
        other => return Err(unsupported(&format!("{other}, from a pipe")).into()),
    };
    let extent = match (&codec, header.described_after) {
        (_, false) => Extent::Bytes(header.packed),
        (Codec::Stored, true) if header.packed > 0 || header.name.ends_with('/') => {
            Extent::Bytes(header.packed)
        }
        (Codec::Stored, true) => {
            let problem = "is stored without compression, and its size is stated only after it";
            return Err(Fault::new(
                ErrorKind::ZipNeedsFile,
                problem,
                "Give the zip as a file, not through a pipe.",
            )
            .into());
        }
        (_, true) => Extent::Own,
    };
    Ok(Unpacker::new(codec, extent))
}

impl Read for ZipPipe {
    /// Reads from the current member. 0 is its end, checked.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.begin()?;
        let Some(Current { header, unpacker: Some(mut state) }) = self.current.take() else {
            return Ok(0);
        };
        match self.unpack(&header, &mut state, out) {
            Err(error) if self.salvage => {
                let fault = harm(error)?;
                self.give_up(fault, &header, state.consumed());
                Ok(0)
            }
            Ok(read) if read > 0 || out.is_empty() => {
                self.current = Some(Current { header, unpacker: Some(state) });
                Ok(read)
            }
            end => end,
        }
    }
}

impl Digested for ZipPipe {
    fn digest(&self) -> &Digest {
        &self.digest
    }

    fn cut(&self) -> Option<&Fault> {
        self.cut.as_ref()
    }
}
