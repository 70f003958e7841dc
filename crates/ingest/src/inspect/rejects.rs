//! The rejects of a sample, grouped by reason.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::Result;
use crate::run::reject_reason::RejectReason;
use crate::run::rejects::{Reject, RejectSpool};

/// The number of rejects that are shown.
const SHOWN: usize = 5;

/// The maximum length of a shown record, in characters.
const RECORD: usize = 500;

/// The number of rejects with one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RejectKind {
    /// The reason's code, see [`RejectReason::code`].
    pub code: String,
    /// The reason as a clause, without the offending value.
    pub reason: String,
    /// The number of records.
    pub count: u64,
}

/// The rejects by reason, the most frequent first.
pub(super) fn kinds(counts: &BTreeMap<RejectReason, u64>) -> Vec<RejectKind> {
    let kind = |(reason, count): (&RejectReason, &u64)| RejectKind {
        code: reason.code().to_owned(),
        reason: reason.to_string(),
        count: *count,
    };
    let mut kinds: Vec<_> = counts.iter().map(kind).collect();
    kinds.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.reason.cmp(&b.reason)));
    kinds
}

/// The first rejects, with long records cut.
pub(super) fn first(rejects: &mut RejectSpool) -> Result<Vec<Reject>> {
    let shown = |mut reject: Reject| {
        if let Some((end, _)) = reject.record.char_indices().nth(RECORD) {
            reject.record.truncate(end);
            reject.record.push('…');
        }
        reject
    };
    rejects.iter()?.take(SHOWN).map(|reject| reject.map(shown)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_the_most_frequent_first() {
        let elapsed = RejectReason::NotANumber { column: "elapsed" };
        let counts = BTreeMap::from([
            (RejectReason::FieldCount { found: 5, expected: 17 }, 1),
            (elapsed, 7),
            (RejectReason::OpenQuote, 1),
        ]);
        let kinds = kinds(&counts);
        let told: Vec<_> = kinds.iter().map(|kind| (kind.code.as_str(), kind.count)).collect();
        assert_eq!(told, [("not-a-number", 7), ("field-count", 1), ("open-quote", 1)]);
        assert_eq!(kinds[0].reason, elapsed.to_string());
    }

    #[test]
    fn first_few_are_shown_and_long_records_cut() {
        let mut spool = RejectSpool::default();
        for line in 2..10 {
            let reject = Reject {
                file: "a.csv".into(),
                member: None,
                line,
                byte: 0,
                code: None,
                reason: String::new(),
                record: "é".repeat(501),
            };
            spool.push(&reject).unwrap();
        }
        let first = first(&mut spool).unwrap();
        assert_eq!(first.iter().map(|reject| reject.line).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert_eq!(first[0].record.chars().count(), 501);
        assert!(first[0].record.ends_with("é…"));
    }
}
