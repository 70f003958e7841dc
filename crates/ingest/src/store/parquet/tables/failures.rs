//! The failures.

use arrow_schema::{DataType, Schema};
use parquet::file::statistics::Statistics;

use super::paged::{self, Group, ROWS, schema};
use crate::counts::ErrorCount;
use crate::error::Result;
use crate::sample::intern::{Interner, Shared};
use crate::store::parquet::checksum::{CheckedFile, SummedFile, Sums};
use crate::store::parquet::pages::{Coded, Codes, Levels, Part, Values, flags, whole};
use crate::store::parquet::table_reader::{at, read};

/// The size in bytes of distinct texts that ends a row group.
const TEXTS: usize = 8 << 20;

/// Writes the failures.
pub(in crate::store::parquet) fn write_errors(
    out: SummedFile,
    mut errors: impl Iterator<Item = Result<ErrorCount>>,
) -> Result<Sums> {
    let groups = std::iter::from_fn(move || Failures::take(&mut errors).transpose());
    paged::write(out, &Failures::schema(), groups.map(|group| Ok(group?.group())))
}

/// The failures of a row group by column.
#[derive(Default)]
struct Failures {
    second: Vec<i32>,
    /// Labels, response codes and messages.
    texts: [(Interner, Vec<u32>); 3],
    transaction: Vec<bool>,
    count: Vec<i64>,
}

impl Failures {
    fn schema() -> Schema {
        schema([
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
            for ((known, codes), text) in group.texts.iter_mut().zip(texts) {
                codes.push(known.number(&text));
            }
            group.transaction.push(error.transaction);
            group.count.push(error.count as i64);
        }
        Ok(Some(group).filter(|group| !group.second.is_empty()))
    }

    /// The size of the distinct texts.
    fn bytes(&self) -> usize {
        self.texts.iter().map(|(texts, _)| texts.texts().bytes()).sum()
    }

    /// Returns the columns in the order of the schema.
    fn group(self) -> Group {
        let (first, last) = (self.second.first().copied(), self.second.last().copied());
        let levels = Levels::required(self.second.len());
        let text = |(texts, codes): (Interner, Vec<u32>)| {
            let values = Values::Texts(texts.into_texts());
            Part::Coded(Coded { levels: levels.clone(), codes: Codes::new(&codes), values })
        };
        let [label, code, message] = self.texts.map(text).map(Ok);
        let (second, count) = (whole(&self.second), whole(&self.count));
        let span = Statistics::int32(first, last, None, Some(0), false);
        (Some(span), vec![second, label, code, message, flags(&self.transaction), count])
    }
}

/// Reads the failures.
pub(in crate::store::parquet) fn read_errors(file: CheckedFile) -> Result<Vec<ErrorCount>> {
    let (mut errors, mut shared) = (Vec::new(), Shared::default());
    for piece in read(file)? {
        let piece = piece?;
        let (seconds, counts) = (piece.seconds("second")?, piece.counts("count")?);
        let (labels, codes) = (piece.texts("label")?, piece.texts("response_code")?);
        let (messages, transactions) = (piece.texts("message")?, piece.flags("transaction")?);
        errors.extend((0..piece.len()).map(|row| ErrorCount {
            second: at(&seconds, row),
            label: shared.text(at(&labels, row)),
            response_code: shared.text(at(&codes, row)),
            message: shared.text(at(&messages, row)),
            transaction: at(&transactions, row),
            count: at(&counts, row),
        }));
    }
    Ok(errors)
}
