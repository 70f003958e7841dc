//! Writes a table whose row groups are encoded side by side.

use std::collections::VecDeque;
use std::thread::ScopedJoinHandle;

use arrow_schema::Schema;
use parquet::errors::ParquetError;
use parquet::schema::types::SchemaDescriptor;

use crate::error::{Error, Result};
use crate::store::parquet::checksum::{FileSums, SummedFile};
use crate::store::parquet::guard::panics::plain_error;
use crate::store::parquet::pages::{EncodedColumn, PagedFile};

/// The maximum number of threads that encode.
const THREADS: usize = 4;

/// The columns of a row group, encoded.
type EncodedGroup = Result<Vec<EncodedColumn>>;

/// A thread that encodes a row group.
type GroupEncoding<'scope> = ScopedJoinHandle<'scope, EncodedGroup>;

/// Writes groups of rows, of each of which `encode` makes the columns, and makes the file durable.
pub(super) fn write_groups<G: Send>(
    mut out: SummedFile,
    schema: &Schema,
    mut groups: impl Iterator<Item = Result<G>>,
    encode: &(impl Fn(G, &SchemaDescriptor) -> EncodedGroup + Sync),
) -> Result<FileSums> {
    let what = format!("writing {}", out.path().display());
    let failed = |error: ParquetError| Error::store(&*what, plain_error(error));
    let notes = out.take_notes();
    let (mut file, schema) = PagedFile::new(out, schema).map_err(failed)?;
    let mut append = |columns: EncodedGroup| file.append(columns?.into_iter().map(Ok)).map_err(failed);
    let begun: Vec<Result<G>> = groups.by_ref().take(2).collect();
    if begun.len() < 2 {
        // A thread would only be waited for.
        begun.into_iter().try_for_each(|group| append(encode(group?, &schema)))?;
    } else {
        encode_group(begun.into_iter().chain(groups), &|group| encode(group, &schema), &mut append)?;
    }
    file.note(notes);
    file.finish().map_err(failed)?;
    file.inner_mut().finish()
}

/// Encodes groups on threads of their own and appends them in order.
fn encode_group<G: Send>(
    mut groups: impl Iterator<Item = Result<G>>,
    encode: &(impl Fn(G) -> EncodedGroup + Sync),
    append: &mut impl FnMut(EncodedGroup) -> Result<()>,
) -> Result<()> {
    // One more than there are cores, on which the others encode while the next group is taken.
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get() + 1).min(THREADS);
    let mut write = |encoding: GroupEncoding<'_>| {
        append(encoding.join().map_err(|_| Error::stopped("the work on the columns"))?)
    };
    std::thread::scope(|scope| {
        let mut encodings: VecDeque<GroupEncoding<'_>> = VecDeque::new();
        loop {
            // Before the next group is taken, which has to be held as well.
            if encodings.len() >= threads {
                encodings.pop_front().map_or(Ok(()), &mut write)?;
            }
            let Some(group) = groups.next().transpose()? else { break };
            // Linux lets a thread that begins with work run on an idle core, but one that is woken often wait.
            let encoding = std::thread::Builder::new().spawn_scoped(scope, || encode(group));
            encodings.push_back(encoding.map_err(Error::no_thread)?);
        }
        encodings.into_iter().try_for_each(&mut write)
    })
}
