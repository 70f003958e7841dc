//! Objects as files: written in parts while their content comes, and read piece by piece.

use std::collections::VecDeque;
use std::io::{self, Write};

use bytes::Bytes;
use crossbeam_channel::Receiver;
use object_store::MultipartUpload;

use super::{Bucket, answer};
use crate::parquet::checksum::{FileSource, FileTarget};

/// The size in bytes of the first parts.
const PART: usize = 8 << 20;

/// The number of parts of a size. Object stores take 10,000 parts: with each size twice the one before, up to 300 GB.
const PARTS: usize = 2500;

/// The number of parts on their way at a time.
const ON_THE_WAY: usize = 2;

/// An object that is being written. If it is dropped before its end, nothing is left of it.
pub(crate) struct Upload {
    bucket: Bucket,
    name: String,
    /// The next part.
    part: Vec<u8>,
    begun: Option<Box<dyn MultipartUpload>>,
    sent: usize,
    on_the_way: VecDeque<Receiver<object_store::Result<()>>>,
}

impl Upload {
    pub(crate) fn new(bucket: Bucket, name: String) -> Self {
        Self { bucket, name, part: Vec::new(), begun: None, sent: 0, on_the_way: VecDeque::new() }
    }

    /// The size in bytes of the next part.
    fn room(&self) -> usize {
        PART << (self.sent / PARTS).min(8)
    }

    fn send(&mut self) -> io::Result<()> {
        let begun = match &mut self.begun {
            Some(begun) => begun,
            none => none.insert(self.bucket.put_parts(&self.name)?),
        };
        if self.on_the_way.len() >= ON_THE_WAY {
            self.on_the_way.pop_front().map_or(Ok(()), |part| answer(&part))?;
        }
        let part = Bytes::from(std::mem::take(&mut self.part));
        self.on_the_way.push_back(self.bucket.send(begun.as_mut(), part.into()));
        self.sent += 1;
        Ok(())
    }
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room();
        let (now, _) = bytes.split_at(bytes.len().min(room - self.part.len().min(room)));
        self.part.extend_from_slice(now);
        if self.part.len() >= room {
            self.send()?;
        }
        Ok(now.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FileTarget for Upload {
    fn finish(&mut self) -> io::Result<()> {
        if self.begun.is_none() {
            return self.bucket.put(&self.name, std::mem::take(&mut self.part).into());
        }
        if !self.part.is_empty() {
            self.send()?;
        }
        self.on_the_way.drain(..).try_for_each(|part| answer(&part))?;
        self.begun.take().map_or(Ok(()), |begun| self.bucket.complete(begun))
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(begun) = self.begun.take() {
            // What can't be removed now, the bucket's own rule for unfinished uploads removes.
            self.on_the_way.drain(..).for_each(|part| _ = answer(&part));
            let _ = self.bucket.abort(begun);
        }
    }
}

/// An object that is read.
pub(crate) struct StoredObject {
    pub(crate) bucket: Bucket,
    pub(crate) name: String,
}

impl FileSource for StoredObject {
    fn size(&self) -> io::Result<u64> {
        self.bucket.size(&self.name)
    }

    fn read_at(&mut self, at: u64, out: &mut [u8]) -> io::Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let found = self.bucket.range(&self.name, at, out.len())?;
        if found.len() != out.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        out.copy_from_slice(&found);
        Ok(())
    }
}

/// The size in bytes of the largest object that the store is asked to copy in one request. S3 copies up to 5 GB in one.
const AT_ONCE: u64 = 1 << 30;

/// Copies an object of this size. A small one does not leave the bucket.
pub(crate) fn copy(bucket: &Bucket, from: &str, to: &str, size: u64) -> io::Result<()> {
    if size <= AT_ONCE {
        return bucket.copy(from, to);
    }
    copy_through(bucket, from, to, size)
}

/// Copies an object through this machine, a part at a time.
fn copy_through(bucket: &Bucket, from: &str, to: &str, size: u64) -> io::Result<()> {
    let mut from = StoredObject { bucket: bucket.clone(), name: from.to_owned() };
    let mut upload = Upload::new(bucket.clone(), to.to_owned());
    let mut piece = vec![0; PART];
    let mut at = 0;
    while at < size {
        let length = PART.min(usize::try_from(size - at).unwrap_or(PART));
        let piece = piece.get_mut(..length).unwrap_or_default();
        from.read_at(at, piece)?;
        upload.write_all(piece)?;
        at += length as u64;
    }
    upload.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_through_this_machine_is_the_object() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = Bucket::open(&format!("file://{}", folder.path().display()), &[]).unwrap();
        for size in [0, 1, PART, 2 * PART + 17] {
            let content: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            bucket.put("from", content.clone().into()).unwrap();
            copy_through(&bucket, "from", "to", size as u64).unwrap();
            assert!(bucket.get("to", u64::MAX).unwrap().unwrap() == content, "{size}");
        }
    }
}
