//! The rejects of one block, packed: a block can have half a million rejects of one byte each.

use perfpipe_model::run::reject_reason::RejectReason;
use perfpipe_model::sample::varint::{read_unsigned, unsigned};

/// A rejected record, located within its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalReject<'a> {
    /// Its line, from 1.
    pub line: u64,
    /// The byte of the log at which it begins.
    pub byte: u64,
    /// Why it is rejected.
    pub reason: RejectReason,
    /// The offending value.
    pub value: Option<String>,
    /// Its bytes.
    pub record: &'a [u8],
}

/// The position of a rejected record in the block, and its reason.
#[derive(Debug, Clone, Default)]
struct PackedReject {
    line: u64,
    byte: u64,
    len: u64,
    /// The index of the reason.
    reason: u64,
    /// The offending value.
    value: Option<String>,
}

/// The rejects of a block, in order. Their records stay in the block.
#[derive(Debug, Clone, Default)]
pub struct BlockRejects {
    /// All entries but the last, with lines and bytes as differences.
    packed: Vec<u8>,
    /// The line and byte of the last packed entry.
    at: (u64, u64),
    last: Option<PackedReject>,
    /// The distinct reasons.
    reasons: Vec<RejectReason>,
    len: u64,
    /// The maximum number to keep; all if `None`.
    room: Option<u64>,
    left_out: u64,
}

impl BlockRejects {
    /// Removes all rejects, and sets the number to keep (the first ones).
    pub fn restart(&mut self, room: Option<u64>) {
        *self = Self { packed: std::mem::take(&mut self.packed), room, ..Self::default() };
        self.packed.clear();
    }

    /// The maximum number to keep; all if `None`.
    pub fn room(&self) -> Option<u64> {
        self.room
    }

    /// Adds a record of `len` bytes. `value` is the offending value.
    #[cold]
    pub fn push(
        &mut self,
        (line, byte): (u64, u64),
        len: usize,
        reason: RejectReason,
        value: Option<String>,
    ) {
        if self.room.is_some_and(|room| self.len >= room) {
            self.left_out += 1;
            return;
        }
        let known = self.reasons.iter().rposition(|known| *known == reason);
        let reason = known.unwrap_or_else(|| {
            self.reasons.push(reason);
            self.reasons.len() - 1
        });
        let entry = PackedReject { line, byte, len: len as u64, reason: reason as u64, value };
        if let Some(before) = self.last.replace(entry) {
            self.pack(&before);
        }
        self.len += 1;
    }

    fn pack(&mut self, entry: &PackedReject) {
        let out = &mut self.packed;
        unsigned(out, entry.line.wrapping_sub(self.at.0));
        unsigned(out, entry.byte.wrapping_sub(self.at.1));
        unsigned(out, entry.len);
        unsigned(out, entry.reason << 1 | u64::from(entry.value.is_some()));
        if let Some(value) = &entry.value {
            unsigned(out, value.len() as u64);
            out.extend_from_slice(value.as_bytes());
        }
        self.at = (entry.line, entry.byte);
    }

    /// Removes the last reject and returns its line and byte. Does so only if it has this reason and `is_it` returns
    /// true for the offset of its end.
    pub fn pop_if(&mut self, reason: RejectReason, is_it: impl FnOnce(usize) -> bool) -> Option<(u64, u64)> {
        let reasons = &self.reasons;
        let last = self.last.take_if(|last| {
            let same = reasons.get(last.reason as usize).is_some_and(|known| *known == reason);
            same && is_it((last.byte + last.len) as usize)
        })?;
        self.len -= 1;
        Some((last.line, last.byte))
    }

    /// The number of kept rejects.
    pub fn kept(&self) -> u64 {
        self.len
    }

    /// The number of rejects that were not kept.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Iterates over the kept rejects, with their records from the block.
    pub fn iter<'a>(&'a self, block: &'a [u8]) -> impl Iterator<Item = LocalReject<'a>> {
        let (mut packed, mut at) = (self.packed.as_slice(), (0, 0));
        let entries = std::iter::from_fn(move || {
            let entry = read_entry(&mut packed, at)?;
            at = (entry.line, entry.byte);
            Some(entry)
        });
        entries.chain(self.last.clone()).filter_map(|entry| self.opened(entry, block))
    }

    fn opened<'a>(&self, entry: PackedReject, block: &'a [u8]) -> Option<LocalReject<'a>> {
        let reason = *self.reasons.get(entry.reason as usize)?;
        let record = block.get(entry.byte as usize..(entry.byte + entry.len) as usize).unwrap_or_default();
        Some(LocalReject { line: entry.line, byte: entry.byte, reason, value: entry.value, record })
    }
}

/// Reads the next packed entry. `at` is the line and byte of the previous one.
fn read_entry(packed: &mut &[u8], at: (u64, u64)) -> Option<PackedReject> {
    let line = at.0.wrapping_add(read_unsigned(packed)?);
    let byte = at.1.wrapping_add(read_unsigned(packed)?);
    let (len, reason) = (read_unsigned(packed)?, read_unsigned(packed)?);
    let value = if reason & 1 == 1 { Some(read_text(packed)?) } else { None };
    Some(PackedReject { line, byte, len, reason: reason >> 1, value })
}

fn read_text(packed: &mut &[u8]) -> Option<String> {
    let len = usize::try_from(read_unsigned(packed)?).ok()?;
    let (text, rest) = packed.split_at_checked(len)?;
    *packed = rest;
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn kept_rejects_come_back_in_order(
            records in prop::collection::vec((0..9u64, 0..9usize, 0..3usize, prop::option::of("[a-zé]{0,5}")), 0..30),
            room in prop::option::of(0..20u64),
        ) {
            let mut rejects = BlockRejects::default();
            rejects.restart(room);
            let (mut at, mut expected) = ((0, 0), Vec::new());
            let block: Vec<u8> = (0..=255).collect();
            for (step, len, reason, value) in &records {
                let reason = RejectReason::FieldCount { found: *reason as u64, expected: 3 };
                rejects.push(at, *len, reason, value.clone());
                expected.push((at, reason, value.clone(), block[at.1 as usize..at.1 as usize + len].to_vec()));
                at = (at.0 + step, (at.1 + *len as u64).min(200));
            }
            let kept = room.map_or(records.len(), |room| records.len().min(room as usize));
            expected.truncate(kept);
            prop_assert_eq!((rejects.kept(), rejects.left_out()), (kept as u64, (records.len() - kept) as u64));
            let found = rejects.iter(&block).map(|r| ((r.line, r.byte), r.reason, r.value, r.record.to_vec()));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn half_a_million_rejects_take_few_bytes() {
        let mut rejects = BlockRejects::default();
        let reason = RejectReason::FieldCount { found: 1, expected: 17 };
        for line in 0..500_000 {
            rejects.push((line, 2 * line), 1, reason, None);
        }
        assert!(rejects.packed.len() <= 2_000_000, "{} bytes", rejects.packed.len());
        assert_eq!(rejects.iter(b"x").next().unwrap().record, b"x");
        assert_eq!(rejects.pop_if(reason, |end| end == 999_999), Some((499_999, 999_998)));
        assert_eq!(rejects.iter(b"x").last().unwrap().line, 499_998);
    }
}
