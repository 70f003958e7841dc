//! A batch of samples in columns, the form in which they travel from the parser to the stores.

use std::borrow::Cow;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::apart::set_apart;

/// A column of numbers in which a value may be absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Nullable<T> {
    values: Vec<T>,
    /// Which rows hold a value; empty while all of them do.
    valid: Vec<bool>,
}

impl<T> Default for Nullable<T> {
    fn default() -> Self {
        Self { values: Vec::new(), valid: Vec::new() }
    }
}

impl<T: Copy + Default> Nullable<T> {
    /// Appends a value or an absence.
    #[inline]
    pub fn push(&mut self, value: Option<T>) {
        match value {
            Some(value) => {
                self.values.push(value);
                if !self.valid.is_empty() {
                    self.valid.push(true);
                }
            }
            None => {
                if self.valid.is_empty() {
                    self.valid.resize(self.values.len(), true);
                }
                self.valid.push(false);
                self.values.push(T::default());
            }
        }
    }

    /// Appends `n` values, if all of them are there; else none, and returns `None`.
    #[inline]
    pub(crate) fn fill(&mut self, n: usize, value: impl FnMut(usize) -> Option<T>) -> Option<()> {
        fill(&mut self.values, n, value)?;
        if !self.valid.is_empty() {
            self.valid.resize(self.values.len(), true);
        }
        Some(())
    }

    /// Keeps the first rows only.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows);
        self.valid.truncate(rows);
        if self.valid.iter().all(|valid| *valid) {
            self.valid.clear();
        }
    }

    /// The value of a row, or `None` where it is absent or beyond the end.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        let value = *self.values.get(row)?;
        self.valid.get(row).copied().unwrap_or(true).then_some(value)
    }

    /// All values, with the type's default where one is absent.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Which rows hold a value, or `None` when all of them do.
    pub fn valid(&self) -> Option<&[bool]> {
        (!self.valid.is_empty()).then_some(&self.valid)
    }

    /// Empties the column, keeping its memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.valid.clear();
    }
}

impl<T: Copy + Default> FromIterator<Option<T>> for Nullable<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(iter: I) -> Self {
        let mut column = Self::default();
        iter.into_iter().for_each(|value| column.push(value));
        column
    }
}

/// Appends `n` values, if all of them are there; else none, and returns `None`.
#[inline]
pub(crate) fn fill<T: Default>(
    into: &mut Vec<T>,
    n: usize,
    mut value: impl FnMut(usize) -> Option<T>,
) -> Option<()> {
    let before = into.len();
    let mut all = true;
    // No early end, so that the loop has one way through and its length is known.
    into.extend((0..n).map(|row| {
        let value = value(row);
        all &= value.is_some();
        value.unwrap_or_default()
    }));
    if !all {
        into.truncate(before);
    }
    all.then_some(())
}

/// A column of texts, each distinct one kept once and named by a code.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    codes: Vec<u32>,
    values: Vec<String>,
    /// The codes, by the hash of their texts.
    by_text: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The code that was looked up last, if any.
    last: Option<u32>,
    /// Bytes of the distinct texts.
    bytes: usize,
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.codes.len() == other.codes.len()
            && (0..self.codes.len()).all(|row| self.get(row) == other.get(row))
    }
}

impl Texts {
    /// The code of an absent text.
    pub const NULL: u32 = u32::MAX;

    /// Appends a text as logged. Bytes that are not UTF-8, and NUL, become U+FFFD.
    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        let code = self.code(text);
        self.codes.push(code);
    }

    /// Appends an absence.
    #[inline]
    pub fn push_null(&mut self) {
        self.codes.push(Self::NULL);
    }

    /// The code of a text, without appending it.
    #[inline]
    pub fn code(&mut self, text: &[u8]) -> u32 {
        match self.last.filter(|last| is_text(&self.values, *last, text)) {
            Some(last) => last,
            None => self.look_up(text),
        }
    }

    fn look_up(&mut self, text: &[u8]) -> u32 {
        let code = match self.find(text) {
            Some(code) => code,
            None => self.add(clean_text(text)),
        };
        self.last = Some(code);
        code
    }

    fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(text);
        self.by_text.find(hash, |code| is_text(&self.values, *code, text)).copied()
    }

    /// Adds a text that may be there already, since different bytes can come to the same text.
    fn add(&mut self, text: String) -> u32 {
        if let Some(code) = self.find(text.as_bytes()) {
            return code;
        }
        let code = self.values.len() as u32;
        let hash = self.hasher.hash_one(text.as_bytes());
        self.bytes += text.len();
        self.values.push(text);
        let (values, hasher) = (&self.values, &self.hasher);
        let rehash =
            |code: &u32| hasher.hash_one(values.get(*code as usize).map_or(&[][..], String::as_bytes));
        self.by_text.insert_unique(hash, code, rehash);
        code
    }

    /// Bytes of the distinct texts.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Appends a code got from [`Texts::code`].
    #[inline]
    pub fn push_code(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// The text of a row, or `None` where it is absent or beyond the end.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.value(*self.codes.get(row)?)
    }

    /// The text of a code, or `None` for [`Texts::NULL`].
    pub fn value(&self, code: u32) -> Option<&str> {
        self.values.get(code as usize).map(String::as_str)
    }

    /// A code a row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The distinct texts, by code.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Sets the texts apart from one that has a meaning of its own.
    pub(crate) fn set_apart(&mut self, reserved: &str) {
        for value in &mut self.values {
            if let Cow::Owned(apart) = set_apart(value, reserved) {
                *value = apart;
            }
        }
    }

    /// Empties the column.
    pub fn clear(&mut self) {
        self.codes.clear();
        self.values.clear();
        self.by_text.clear();
        self.last = None;
        self.bytes = 0;
    }
}

/// Whether a code is that of a text.
#[inline]
fn is_text(values: &[String], code: u32, text: &[u8]) -> bool {
    values.get(code as usize).is_some_and(|value| value.as_bytes() == text)
}

/// A text as the stores can hold it: UTF-8 without NUL, U+FFFD in the place of what is not.
pub fn clean_text(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text.into_owned() }
}

/// Samples in columns, all of the same length, in the order of the log.
///
/// Times are in milliseconds, sizes in bytes. What the log lacks is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleBatch {
    /// timeStamp minus the run's t0, in ms, from 0 (below 2^31: the span of a run is limited to 24 days).
    pub t_ms: Vec<i64>,
    /// The sampler's name.
    pub label: Texts,
    /// The request's whole time, in ms.
    pub elapsed: Vec<i32>,
    /// The response code, a text because JMeter logs exceptions there.
    pub response_code: Texts,
    /// JMeter's verdict.
    pub success: Vec<bool>,
    /// Bytes received.
    pub bytes: Nullable<i64>,
    /// Bytes sent.
    pub sent_bytes: Nullable<i64>,
    /// Active threads of the sample's injector, over all its thread groups.
    pub all_threads: Nullable<i32>,
    /// Time to first byte, in ms.
    pub latency: Nullable<i32>,
    /// Time spent idle within the sample, in ms.
    pub idle_time: Nullable<i32>,
    /// Time to connect, in ms.
    pub connect: Nullable<i32>,
    /// The joined CPU reading, in the export's percent.
    pub cpu: Nullable<f64>,
    /// The machine that sent the request, absent where it can't be told.
    pub injector: Texts,
    /// Whether it is a transaction controller's own record, and so not a request.
    pub transaction: Vec<bool>,
}

impl<T: Copy + Default> Nullable<T> {
    /// The same column, of these rows only.
    fn select(&self, rows: &[usize]) -> Self {
        rows.iter().map(|row| self.get(*row)).collect()
    }
}

impl Texts {
    /// The same column, of these rows only.
    fn select(&self, rows: &[usize]) -> Self {
        let mut texts = Self::default();
        for row in rows {
            match self.get(*row) {
                Some(text) => texts.push(text.as_bytes()),
                None => texts.push_null(),
            }
        }
        texts
    }
}

/// The values of these rows; rows beyond the end are left out.
fn select<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().filter_map(|row| values.get(*row).copied()).collect()
}

impl SampleBatch {
    /// A batch of these rows only, in their order. Rows must be below [`SampleBatch::len`].
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            t_ms: select(&self.t_ms, rows),
            label: self.label.select(rows),
            elapsed: select(&self.elapsed, rows),
            response_code: self.response_code.select(rows),
            success: select(&self.success, rows),
            bytes: self.bytes.select(rows),
            sent_bytes: self.sent_bytes.select(rows),
            all_threads: self.all_threads.select(rows),
            latency: self.latency.select(rows),
            idle_time: self.idle_time.select(rows),
            connect: self.connect.select(rows),
            cpu: self.cpu.select(rows),
            injector: self.injector.select(rows),
            transaction: select(&self.transaction, rows),
        }
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.t_ms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.t_ms.is_empty()
    }

    /// Bytes of the texts that it holds.
    pub(crate) fn text_bytes(&self) -> usize {
        self.label.bytes() + self.response_code.bytes() + self.injector.bytes()
    }

    /// Empties every column, keeping their memory.
    pub fn clear(&mut self) {
        let Self {
            t_ms,
            label,
            elapsed,
            response_code,
            success,
            bytes,
            sent_bytes,
            all_threads,
            latency,
            idle_time,
            connect,
            cpu,
            injector,
            transaction,
        } = self;
        t_ms.clear();
        label.clear();
        elapsed.clear();
        response_code.clear();
        success.clear();
        bytes.clear();
        sent_bytes.clear();
        all_threads.clear();
        latency.clear();
        idle_time.clear();
        connect.clear();
        cpu.clear();
        injector.clear();
        transaction.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nullable_keeps_absences_apart_from_zero() {
        let column: Nullable<i32> = [Some(3), None, Some(0)].into_iter().collect();
        assert_eq!(
            [column.get(0), column.get(1), column.get(2), column.get(3)],
            [Some(3), None, Some(0), None]
        );
        assert_eq!(column.valid(), Some(&[true, false, true][..]));
    }

    #[test]
    fn a_column_is_filled_whole_or_not_at_all() {
        let mut column: Nullable<i32> = [Some(3), None].into_iter().collect();
        assert_eq!(column.fill(2, |row| (row == 0).then_some(1)), None);
        assert_eq!((column.values().len(), column.fill(2, |row| Some(row as i32))), (2, Some(())));
        assert_eq!(column, [Some(3), None, Some(0), Some(1)].into_iter().collect());
        column.truncate(1);
        assert_eq!(column, [Some(3)].into_iter().collect());
    }

    #[test]
    fn texts_share_codes_and_replace_what_is_not_text() {
        let mut texts = Texts::default();
        for text in [&b"a"[..], b"b", b"a", b"\xff\0", b"\0\xfe"] {
            texts.push(text);
        }
        texts.push_null();
        assert_eq!(texts.codes(), [0, 1, 0, 2, 2, Texts::NULL]);
        assert_eq!(texts.bytes(), 8);
        assert_eq!(texts.get(3), Some("\u{FFFD}\u{FFFD}"));
        assert_eq!(texts.get(5), None);
    }
}
