//! A batch of samples in columns: what the parser hands to the stores.

use std::ops::Range;

use super::texts::Texts;
use crate::sample::resolution::Resolution;

/// A column of numbers in which a value may be absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Nullable<T> {
    values: Vec<T>,
    /// True for each row that contains a value; empty while all rows do.
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

    /// Appends the same value, or absence, `n` times.
    #[inline]
    pub fn push_run(&mut self, value: Option<T>, n: usize) {
        let rows = self.values.len() + n;
        if value.is_none() && self.valid.is_empty() {
            self.valid.resize(self.values.len(), true);
        }
        if value.is_none() || !self.valid.is_empty() {
            self.valid.resize(rows, value.is_some());
        }
        self.values.resize(rows, value.unwrap_or_default());
    }

    /// Appends the values if all of them are present; otherwise appends none and returns `None`.
    #[inline]
    pub fn fill(&mut self, values: impl ExactSizeIterator<Item = Option<T>>) -> Option<()> {
        fill(&mut self.values, values)?;
        if !self.valid.is_empty() {
            self.valid.resize(self.values.len(), true);
        }
        Some(())
    }

    /// Keeps only the first `rows` rows.
    pub fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows);
        self.valid.truncate(rows);
        if self.valid.iter().all(|valid| *valid) {
            self.valid.clear();
        }
    }

    /// The value of a row, or `None` if it is absent or the row does not exist.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        let value = *self.values.get(row)?;
        self.valid.get(row).copied().unwrap_or(true).then_some(value)
    }

    /// All values, with the type's default where one is absent.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// True for each row that contains a value, or `None` if all rows do.
    pub fn valid(&self) -> Option<&[bool]> {
        (!self.valid.is_empty()).then_some(&self.valid)
    }

    /// The values of some rows, with the type's default where one is absent. None if all of them are, or if the column is
    /// shorter.
    #[inline]
    pub fn present(&self, rows: &Range<usize>) -> &[T] {
        match self.valid.get(rows.clone()) {
            Some(valid) if !any(valid) => &[],
            _ => self.values.get(rows.clone()).unwrap_or_default(),
        }
    }

    /// Returns true if a row contains a value.
    pub fn has_any(&self) -> bool {
        self.valid().map_or(!self.values.is_empty(), any)
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

/// Returns true if one of the flags is set.
#[inline]
pub fn any(flags: &[bool]) -> bool {
    // Many are read at once where no flag ends the loop.
    flags.chunks(256).any(|flags| flags.iter().fold(false, |any, flag| any | *flag))
}

/// Appends the values if all of them are present; otherwise appends none and returns `None`.
#[inline]
pub fn fill<T: Default>(into: &mut Vec<T>, values: impl ExactSizeIterator<Item = Option<T>>) -> Option<()> {
    let before = into.len();
    let mut all = true;
    // No early exit, so that the loop has one path and a known length.
    into.extend(values.map(|value| {
        all &= value.is_some();
        value.unwrap_or_default()
    }));
    if !all {
        into.truncate(before);
    }
    all.then_some(())
}

/// Samples in columns, all of the same length, in the order of the log.
///
/// `elapsed`, `latency` and `connect` are whole numbers of the run's unit, `resolution`, which converts them to ms
/// ([`Resolution::ms`]). `t_ms` and `idle_time` are in ms whatever that unit is, sizes in bytes. A value that the log lacks is
/// absent, never zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleBatch {
    /// The unit of [`SampleBatch::elapsed`], [`SampleBatch::latency`] and [`SampleBatch::connect`].
    pub resolution: Resolution,
    /// timeStamp minus the run's t0, in ms, from 0 (below 2^31: the span of a run is limited to 24 days).
    pub t_ms: Vec<i64>,
    /// The sampler's name.
    pub label: Texts,
    /// The request's total time, in the run's unit.
    pub elapsed: Vec<i32>,
    /// The response code, as text because JMeter also logs exception names there.
    pub response_code: Texts,
    /// JMeter's verdict.
    pub success: Vec<bool>,
    /// Bytes received.
    pub bytes: Nullable<i64>,
    /// Bytes sent.
    pub sent_bytes: Nullable<i64>,
    /// The number of active threads of the sample's injector, over all its thread groups.
    pub all_threads: Nullable<i32>,
    /// Time to first byte, in the run's unit.
    pub latency: Nullable<i32>,
    /// Time spent idle within the sample, in ms.
    pub idle_time: Nullable<i32>,
    /// Time to connect, in the run's unit.
    pub connect: Nullable<i32>,
    /// The joined CPU reading, in percent of one core.
    pub cpu: Nullable<f64>,
    /// The machine that sent the request; absent if it is not known.
    pub injector: Texts,
    /// True for a transaction controller's own record, which is not a request.
    pub transaction: Vec<bool>,
}

impl<T: Copy + Default> Nullable<T> {
    /// Returns a column of the given rows only.
    fn select(&self, rows: &[usize]) -> Self {
        rows.iter().map(|row| self.get(*row)).collect()
    }
}

/// Returns the values of the given rows; rows beyond the end are skipped.
fn select<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().filter_map(|row| values.get(*row).copied()).collect()
}

impl SampleBatch {
    /// Returns a batch of the given rows only, in the given order. Rows must be below [`SampleBatch::len`].
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            resolution: self.resolution,
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

    /// Returns true if the batch contains no samples.
    pub fn is_empty(&self) -> bool {
        self.t_ms.is_empty()
    }

    /// The number of bytes of the distinct texts in the batch.
    pub fn text_bytes(&self) -> usize {
        self.label.bytes() + self.response_code.bytes() + self.injector.bytes()
    }

    /// Empties all columns and keeps their memory.
    pub fn clear(&mut self) {
        let Self {
            resolution: _,
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
    fn column_is_filled_whole_or_not_at_all() {
        let mut column: Nullable<i32> = [Some(3), None].into_iter().collect();
        assert_eq!(column.fill([Some(1), None].into_iter()), None);
        assert_eq!((column.values().len(), column.fill([Some(0), Some(1)].into_iter())), (2, Some(())));
        assert_eq!(column, [Some(3), None, Some(0), Some(1)].into_iter().collect());
        column.truncate(1);
        assert_eq!(column, [Some(3)].into_iter().collect());
    }
}
