//! The failures.

use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use parquet::file::statistics::Statistics;

use super::paged::{self, ColumnGroup, ROWS, table_schema};
use crate::counts::ErrorCount;
use crate::error::Result;
use crate::run::info::RunInfo;
use crate::sample::intern::Interner;
use crate::store::bounds::{self, FailureTexts};
use crate::store::held;
use crate::store::parquet::checksum::{CheckedFile, FileSums, SummedFile};
use crate::store::parquet::pages::{CodedRows, ColumnPart, DistinctValues, Levels, ValueCodes, flags, whole};
use crate::store::parquet::table_reader::{at, read};

/// The size in bytes of distinct texts that ends a row group.
const TEXTS: usize = 8 << 20;

/// Writes the failures.
pub(in crate::store::parquet) fn write_errors(
    out: SummedFile,
    mut errors: impl Iterator<Item = Result<ErrorCount>>,
) -> Result<FileSums> {
    let groups = std::iter::from_fn(move || FailureColumns::take(&mut errors).transpose());
    paged::write_table(out, &FailureColumns::schema(), groups.map(|group| Ok(group?.group())))
}

/// The number of shared texts that are told by where they are.
const SHARED: usize = 8;

/// A column of texts.
#[derive(Default)]
struct TextColumn {
    known: Interner,
    codes: Vec<u32>,
    /// The first ones with their codes: failures of the same names mostly share them.
    shared: Vec<(Arc<str>, u32)>,
}

impl TextColumn {
    fn push(&mut self, text: Arc<str>) {
        let shared = self.shared.iter().find(|(known, _)| Arc::ptr_eq(known, &text));
        let code = shared.map(|(_, code)| *code).unwrap_or_else(|| self.number(text));
        self.codes.push(code);
    }

    fn number(&mut self, text: Arc<str>) -> u32 {
        let code = self.known.number(&text);
        if self.shared.len() < SHARED {
            self.shared.push((text, code));
        }
        code
    }
}

/// The failures of a row group by column.
#[derive(Default)]
struct FailureColumns {
    second: Vec<i32>,
    /// Labels, response codes and messages.
    texts: [TextColumn; 3],
    transaction: Vec<bool>,
    count: Vec<i64>,
}

impl FailureColumns {
    fn schema() -> Schema {
        table_schema([
            ("second", DataType::Int32),
            ("label", DataType::Utf8),
            ("response_code", DataType::Utf8),
            ("message", DataType::Utf8),
            ("transaction", DataType::Boolean),
            ("count", DataType::Int64),
        ])
    }

    /// Takes the next failures; `None` if there are none.
    fn take(errors: &mut impl Iterator<Item = Result<ErrorCount>>) -> Result<Option<Self>> {
        let mut group = Self::default();
        while group.second.len() < ROWS && group.bytes() < TEXTS {
            let Some(error) = errors.next().transpose()? else { break };
            group.second.push(error.second as i32);
            let texts = [error.label, error.response_code, error.message];
            group.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
            group.transaction.push(error.transaction);
            group.count.push(error.count as i64);
        }
        Ok(Some(group).filter(|group| !group.second.is_empty()))
    }

    /// The size of the distinct texts.
    fn bytes(&self) -> usize {
        self.texts.iter().map(|column| column.known.texts().bytes()).sum()
    }

    /// Returns the columns in the order of the schema.
    fn group(self) -> ColumnGroup {
        let (first, last) = (self.second.first().copied(), self.second.last().copied());
        let levels = Levels::required(self.second.len());
        let text = |TextColumn { known, codes, .. }: TextColumn| {
            let values = DistinctValues::Texts(known.into_texts());
            ColumnPart::Coded(CodedRows { levels: levels.clone(), codes: ValueCodes::new(&codes), values })
        };
        let [label, code, message] = self.texts.map(text).map(Ok);
        let (second, count) = (whole(&self.second), whole(&self.count));
        let span = Statistics::int32(first, last, None, Some(0), false);
        (Some(span), vec![second, label, code, message, flags(&self.transaction), count])
    }
}

/// Reads the failures.
pub(in crate::store::parquet) fn read_errors(file: CheckedFile, info: &RunInfo) -> Result<Vec<ErrorCount>> {
    let (mut errors, mut shared) = (Vec::new(), FailureTexts::default());
    for piece in read(file, bounds::max_failures(info))? {
        let piece = piece?;
        let (seconds, counts) = (piece.seconds("second")?, piece.counts("count")?);
        let (labels, codes) = (piece.texts("label")?, piece.texts("response_code")?);
        let (messages, transactions) = (piece.texts("message")?, piece.flags("transaction")?);
        for row in 0..piece.len() {
            errors.push(ErrorCount {
                second: at(&seconds, row),
                label: shared.text(at(&labels, row)),
                response_code: shared.text(at(&codes, row)),
                message: shared.text(at(&messages, row)),
                transaction: at(&transactions, row),
                count: at(&counts, row),
            });
            let far = held::second_fault("failures", at(&seconds, row), info);
            piece.refuse(far.or_else(|| shared.fault(info)))?;
        }
    }
    Ok(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_texts_have_the_codes_of_equal_ones() {
        let shared: Vec<Arc<str>> = (0..2 * SHARED).map(|number| number.to_string().into()).collect();
        let mut column = TextColumn::default();
        for round in 0..3 {
            for text in &shared {
                column.push(if round == 1 { Arc::from(&**text) } else { Arc::clone(text) });
            }
        }
        let expected: Vec<u32> = (0..3).flat_map(|_| 0..2 * SHARED as u32).collect();
        assert_eq!(column.codes, expected);
        assert!(column.known.texts().iter().eq(shared.iter().map(|text| &**text)));
    }
}
