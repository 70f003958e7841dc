//! The rejected records of a run as a table.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use super::super::checksum::{CheckedFile, FileSums, SummedFile};
use super::super::table_reader::{TableRows, at, read};
use super::super::tables::arrow::{properties, record_batch, write_batches};
use crate::error::Result;
use crate::run::rejects::{Reject, RejectSpool};

/// The number of records in a batch at most, and the size in bytes of their texts.
const BATCH_ROWS: usize = 1024;
const BATCH_TEXTS: usize = 4 << 20;

/// Writes the rejected records.
pub(in crate::store::parquet) fn write_rejects(
    out: SummedFile,
    rejects: &mut RejectSpool,
) -> Result<FileSums> {
    let mut all = rejects.iter()?;
    let mut is_first = true;
    let batches = std::iter::from_fn(|| match next_batch(&mut all) {
        // A run without rejects still has a file.
        Ok(batch) if batch.is_empty() && !std::mem::take(&mut is_first) => None,
        batch => {
            is_first = false;
            Some(batch.and_then(|batch| reject_batch(&batch)))
        }
    });
    write_batches(out, properties(), batches)
}

fn next_batch(all: &mut impl Iterator<Item = Result<Reject>>) -> Result<Vec<Reject>> {
    let (mut batch, mut texts) = (Vec::new(), 0);
    while batch.len() < BATCH_ROWS && texts < BATCH_TEXTS {
        let Some(reject) = all.next().transpose()? else { break };
        texts += reject.record.len();
        batch.push(reject);
    }
    Ok(batch)
}

fn reject_batch(rejects: &[Reject]) -> Result<RecordBatch> {
    let text = |of: fn(&Reject) -> Option<&str>| -> ArrayRef {
        Arc::new(rejects.iter().map(of).collect::<StringArray>())
    };
    let number = |of: fn(&Reject) -> u64| -> ArrayRef {
        Arc::new(rejects.iter().map(|reject| of(reject) as i64).collect::<Int64Array>())
    };
    record_batch(vec![
        ("file", text(|reject| Some(&reject.file))),
        ("member", text(|reject| reject.member.as_deref())),
        ("line", number(|reject| reject.line)),
        ("byte", number(|reject| reject.byte)),
        ("code", text(|reject| reject.code.as_deref())),
        ("reason", text(|reject| Some(&reject.reason))),
        ("record", text(|reject| Some(&reject.record))),
    ])
}

/// Reads the rejected records, of which there are at most so many. Nothing follows an error.
pub(in crate::store::parquet) fn read_rejects(
    file: CheckedFile,
    most: u64,
) -> Result<impl Iterator<Item = Result<Reject>>> {
    Ok(read(file, most)?.flat_map(|piece| match piece.and_then(|piece| rejects_of(&piece)) {
        Ok(rejects) => rejects.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(error) => vec![Err(error)],
    }))
}

fn rejects_of(piece: &TableRows) -> Result<Vec<Reject>> {
    let (files, members) = (piece.texts("file")?, piece.optional_texts("member")?);
    let (lines, bytes) = (piece.counts("line")?, piece.counts("byte")?);
    let (codes, reasons) = (piece.optional_texts("code")?, piece.texts("reason")?);
    let records = piece.texts("record")?;
    let reject = |row| Reject {
        member: at(&members, row).map(str::to_owned),
        code: at(&codes, row).map(str::to_owned),
        ..Reject::new(at(&files, row), at(&lines, row), at(&bytes, row), at(&reasons, row), at(&records, row))
    };
    Ok((0..piece.len()).map(reject).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::parquet::place::{create, open};

    #[test]
    fn rejects_come_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for (name, count) in [("none", 0), ("one", 1), ("many", 3 * BATCH_ROWS as u64 + 1)] {
            let reject = |line: u64| Reject {
                member: line.is_multiple_of(3).then(|| "a.csv".to_owned()),
                code: line.is_multiple_of(2).then(|| "field-count".to_owned()),
                ..Reject::new("a.zip", line, line * 7, "5 fields", "x,\n\"y")
            };
            let mut spool = RejectSpool::default();
            (1..=count).for_each(|line| spool.push(&reject(line)).unwrap());
            let path = folder.path().join(name);
            let sums = write_rejects(create(&path).unwrap(), &mut spool).unwrap();
            let back: Vec<Reject> =
                read_rejects(open(path, sums).unwrap(), count).unwrap().collect::<Result<_>>().unwrap();
            assert_eq!(back, (1..=count).map(reject).collect::<Vec<_>>());
        }
    }
}
