//! A batch of samples in columns, the form in which they travel from the parser to the stores.

use super::texts::Texts;

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

    /// Appends the same value, or absence, `n` times.
    #[inline]
    pub(crate) fn push_run(&mut self, value: Option<T>, n: usize) {
        let rows = self.values.len() + n;
        if value.is_none() && self.valid.is_empty() {
            self.valid.resize(self.values.len(), true);
        }
        if value.is_none() || !self.valid.is_empty() {
            self.valid.resize(rows, value.is_some());
        }
        self.values.resize(rows, value.unwrap_or_default());
    }

    /// Appends these values, if all of them are there; else none, and returns `None`.
    #[inline]
    pub(crate) fn fill(&mut self, values: impl ExactSizeIterator<Item = Option<T>>) -> Option<()> {
        fill(&mut self.values, values)?;
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

/// Appends these values, if all of them are there; else none, and returns `None`.
#[inline]
pub(crate) fn fill<T: Default>(
    into: &mut Vec<T>,
    values: impl ExactSizeIterator<Item = Option<T>>,
) -> Option<()> {
    let before = into.len();
    let mut all = true;
    // No early end, so that the loop has one way through and its length is known.
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
    /// The joined CPU reading, in percent of one core.
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
        assert_eq!(column.fill([Some(1), None].into_iter()), None);
        assert_eq!((column.values().len(), column.fill([Some(0), Some(1)].into_iter())), (2, Some(())));
        assert_eq!(column, [Some(3), None, Some(0), Some(1)].into_iter().collect());
        column.truncate(1);
        assert_eq!(column, [Some(3)].into_iter().collect());
    }
}
