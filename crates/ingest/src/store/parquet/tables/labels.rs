//! The whole-run counts by label.

use arrow_schema::DataType;

use super::paged::{self, ColumnGroup, ROWS, table_schema};
use crate::counts::LabelCount;
use crate::error::Result;
use crate::store::bounds;
use crate::store::parquet::checksum::{CheckedFile, FileSums, SummedFile};
use crate::store::parquet::pages::{CodedRows, ColumnPart, DistinctValues, Levels, ValueCodes, whole};
use crate::store::parquet::table_reader::{at, read};

/// Writes the whole-run counts by label.
pub(in crate::store::parquet) fn write_labels(out: SummedFile, labels: &[LabelCount]) -> Result<FileSums> {
    let schema = table_schema([
        ("label", DataType::Utf8),
        ("successes", DataType::Int64),
        ("failures", DataType::Int64),
        ("transactions", DataType::Int64),
    ]);
    paged::write_table(out, &schema, labels.chunks(ROWS).map(|labels| Ok(label_group(labels))))
}

fn label_group(labels: &[LabelCount]) -> ColumnGroup {
    let number =
        |of: fn(&LabelCount) -> u64| whole(&labels.iter().map(|label| of(label) as i64).collect::<Vec<_>>());
    let values = DistinctValues::Texts(labels.iter().map(|label| &label.label).collect());
    let codes = ValueCodes::Each((0..labels.len() as u32).collect());
    let label = Ok(ColumnPart::Coded(CodedRows { levels: Levels::required(labels.len()), codes, values }));
    let numbers: [fn(&LabelCount) -> u64; 3] =
        [|label| label.successes, |label| label.failures, |label| label.transactions];
    (None, std::iter::once(label).chain(numbers.map(number)).collect())
}

/// Reads the whole-run counts by label.
pub(in crate::store::parquet) fn read_labels(file: CheckedFile) -> Result<Vec<LabelCount>> {
    let (mut counts, mut bytes) = (Vec::new(), 0);
    for piece in read(file, bounds::MAX_NAMES as u64)? {
        let piece = piece?;
        let (successes, failures) = (piece.counts("successes")?, piece.counts("failures")?);
        let (labels, transactions) = (piece.texts("label")?, piece.counts("transactions")?);
        bytes += labels.iter().map(|label| label.len()).sum::<usize>();
        piece.refuse(bounds::names_fault("labels", counts.len() + labels.len(), bytes))?;
        counts.extend((0..piece.len()).map(|row| LabelCount {
            label: at(&labels, row).to_owned(),
            successes: at(&successes, row),
            failures: at(&failures, row),
            transactions: at(&transactions, row),
        }));
    }
    Ok(counts)
}
