//! The records of a sample that would be rejected, by reason.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::Result;
use crate::run::rejects::{Reject, RejectSpool};

/// How many rejects are shown.
const SHOWN: usize = 5;

/// Characters of a record that are shown.
const RECORD: usize = 500;

/// How often records were rejected for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectKind {
    /// The reason, without the value at fault.
    pub reason: String,
    /// How many records.
    pub count: u64,
}

/// The rejects by reason, the most frequent first, and the first few.
pub(super) fn of(rejects: &mut RejectSpool) -> Result<(Vec<RejectKind>, Vec<Reject>)> {
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut first = Vec::new();
    for reject in rejects.iter()? {
        let mut reject = reject?;
        *kinds.entry(without_value(&reject.reason).to_owned()).or_default() += 1;
        if first.len() < SHOWN {
            if let Some((end, _)) = reject.record.char_indices().nth(RECORD) {
                reject.record.truncate(end);
                reject.record.push('…');
            }
            first.push(reject);
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().map(|(reason, count)| RejectKind { reason, count }).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    Ok((kinds, first))
}

/// A reason without the value that it quotes.
fn without_value(reason: &str) -> &str {
    reason.split_once(": `").map_or(reason, |(reason, _)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_long_records_cut() {
        let mut spool = RejectSpool::default();
        for (line, reason) in
            [(2, "5 fields in the place of 17"), (3, "elapsed is not a whole number in range: `x`")]
                .into_iter()
                .chain((4..10).map(|line| (line, "elapsed is not a whole number in range: `: `y`")))
        {
            spool
                .push(&Reject {
                    file: "a.csv".into(),
                    member: None,
                    line,
                    byte: 0,
                    reason: reason.into(),
                    record: "é".repeat(501),
                })
                .unwrap();
        }
        let (kinds, first) = of(&mut spool).unwrap();
        let kinds: Vec<_> = kinds.iter().map(|kind| (kind.reason.as_str(), kind.count)).collect();
        assert_eq!(
            kinds,
            [("elapsed is not a whole number in range", 7), ("5 fields in the place of 17", 1)]
        );
        assert_eq!(first.iter().map(|reject| reject.line).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert_eq!(first[0].record.chars().count(), 501);
        assert!(first[0].record.ends_with("é…"));
    }
}
