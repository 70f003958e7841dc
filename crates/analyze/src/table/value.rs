//! The values of tables: single ones in rows, and typed vectors in columns.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Unsigned integers.
    U64,
    /// Signed integers.
    I64,
    /// Floating-point numbers.
    F64,
    /// Texts.
    Text,
    /// Booleans.
    Bool,
}

/// A value in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// No value.
    Absent,
    /// An unsigned integer.
    U64(u64),
    /// An interval of unsigned integers.
    Interval(Interval),
    /// A signed integer.
    I64(i64),
    /// A floating-point number.
    F64(f64),
    /// A text.
    Text(&'a str),
    /// A boolean.
    Bool(bool),
    /// A list or a map, as in [`Nested`].
    Nested(&'a Nested),
}

/// An interval of integers: people read both ends, programs the lower one.
///
/// ```
/// use perfpipe_analyze::table::{Format, Interval, Table};
///
/// let table = Table::of(&[Interval { low: 1, high: 4 }]).column("rank_low", |rank| Some(*rank)).done();
/// let text = |format| {
///     let mut text = Vec::new();
///     table.write(format, &mut text)?;
///     Ok::<_, perfpipe_analyze::Error>(String::from_utf8_lossy(&text).into_owned())
/// };
/// assert_eq!(text(Format::Csv)?, "rank_low\n1\n");
/// assert_eq!(text(Format::Markdown)?, "| rank low |\n| ---: |\n| 1–4 |\n");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// The lower end.
    pub low: u64,
    /// The upper end, which belongs to the interval.
    pub high: u64,
}

/// Returns numbers as intervals.
fn alone(numbers: &[Option<u64>]) -> Vec<Option<Interval>> {
    numbers.iter().map(|number| number.map(|number| Interval { low: number, high: number })).collect()
}

/// Returns the lower ends, which programs read.
#[cfg(any(feature = "frames", feature = "parquet"))]
pub(super) fn lower(intervals: &[Option<Interval>]) -> Vec<Option<u64>> {
    intervals.iter().map(|interval| interval.map(|interval| interval.low)).collect()
}

impl fmt::Display for Interval {
    /// Formats both ends, or the only number: `1–4`, `7`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { low, high } = self;
        if low == high { write!(f, "{low}") } else { write!(f, "{low}–{high}") }
    }
}

/// A value with parts, as a list or a map: nested in JSON, and a text in all other formats.
///
/// ```
/// use perfpipe_analyze::table::{Format, Nested, Table};
///
/// let table = Table::of(&["a"])
///     .column("tags", |_| Some(Nested::map([("branch", "main"), ("commit", "3f2a")])))
///     .column("caveats", |_| Some(Nested::list([] as [&str; 0])))
///     .done();
/// let text = |format| {
///     let mut text = Vec::new();
///     table.write(format, &mut text)?;
///     Ok::<_, perfpipe_analyze::Error>(String::from_utf8_lossy(&text).into_owned())
/// };
/// assert_eq!(text(Format::Csv)?, "tags,caveats\n\"branch=main, commit=3f2a\",\n");
/// let json = "[\n{\"tags\":{\"branch\":\"main\",\"commit\":\"3f2a\"},\"caveats\":[]}\n]\n";
/// assert_eq!(text(Format::Json)?, json);
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nested {
    text: String,
    json: String,
}

impl Nested {
    /// A list of texts; in other formats than JSON, they are separated by commas.
    pub fn list<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<String> = items.into_iter().map(Into::into).collect();
        Self { text: items.join(", "), json: serde_json::Value::from(items).to_string() }
    }

    /// A map from texts to texts; in other formats than JSON, `key=value`, separated by commas.
    pub fn map<K: Into<String>, V: Into<String>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let entries: Vec<(String, String)> =
            entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        let shown: Vec<String> = entries.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let json = entries.into_iter().map(|(key, value)| (key, value.into()));
        Self { text: shown.join(", "), json: serde_json::Value::Object(json.collect()).to_string() }
    }

    /// A list of maps, each with its text in other formats than JSON, where a semicolon separates them.
    pub fn objects<'a>(items: impl IntoIterator<Item = (String, Vec<(&'a str, String)>)>) -> Self {
        let (texts, json): (Vec<String>, Vec<String>) =
            items.into_iter().map(|(text, map)| (text, Self::map(map).json)).unzip();
        Self { text: texts.join("; "), json: format!("[{}]", json.join(",")) }
    }

    /// Any value, whose JSON is also its text in other formats; `None` if it can't be JSON.
    pub fn of(value: &impl Serialize) -> Option<Self> {
        serde_json::to_string(value).ok().map(|json| Self { text: json.clone(), json })
    }

    /// Returns the text of all formats but JSON; `None` if it is empty.
    pub(crate) fn text(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|text| !text.is_empty())
    }

    /// Returns the value in JSON.
    pub(crate) fn json(&self) -> &str {
        &self.json
    }
}

impl Value<'_> {
    /// Returns the kind of column that the value fits; `None` for an absent value, which fits any.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Absent => None,
            Self::U64(_) | Self::Interval(_) => Some(Kind::U64),
            Self::I64(_) => Some(Kind::I64),
            Self::F64(_) => Some(Kind::F64),
            Self::Text(_) | Self::Nested(_) => Some(Kind::Text),
            Self::Bool(_) => Some(Kind::Bool),
        }
    }

    /// Orders two values of one column; values of different kinds, and absent ones, are equal.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::U64(one), Self::U64(other)) => one.cmp(other),
            (Self::Interval(one), Self::Interval(other)) => one.cmp(other),
            (Self::I64(one), Self::I64(other)) => one.cmp(other),
            (Self::F64(one), Self::F64(other)) => one.total_cmp(other),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Bool(one), Self::Bool(other)) => one.cmp(other),
            _ => Ordering::Equal,
        }
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::I64(number.into())
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::U64(number.into())
    }
}

/// A type of values that a column can have.
pub trait Datum: Sized + sealed::Sealed {
    /// The kind of a column of this type.
    const KIND: Kind;
    #[doc(hidden)]
    fn collect(values: impl Iterator<Item = Option<Self>>) -> Values;
}

mod sealed {
    pub trait Sealed {}
}

/// The values of a column.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    U64(Vec<Option<u64>>),
    Interval(Vec<Option<Interval>>),
    I64(Vec<Option<i64>>),
    F64(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
    Bool(Vec<Option<bool>>),
    Nested(Vec<Option<Nested>>),
}

impl Values {
    /// Returns so many absent values.
    pub(super) fn absent(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::U64 => Self::U64(vec![None; rows]),
            Kind::I64 => Self::I64(vec![None; rows]),
            Kind::F64 => Self::F64(vec![None; rows]),
            Kind::Text => Self::Text(vec![None; rows]),
            Kind::Bool => Self::Bool(vec![None; rows]),
        }
    }

    /// Returns the values as those of another kind: numbers as floating-point numbers. Other values are of no other kind,
    /// and absent.
    pub(super) fn widened(self, kind: Kind) -> Self {
        let floats = |values: Vec<Option<f64>>| Self::F64(values);
        match (self, kind) {
            (Self::U64(values), Kind::F64) => {
                floats(values.into_iter().map(|value| value.map(|value| value as f64)).collect())
            }
            (Self::I64(values), Kind::F64) => {
                floats(values.into_iter().map(|value| value.map(|value| value as f64)).collect())
            }
            (values, kind) if values.kind() == kind => values,
            (values, kind) => Self::absent(kind, values.len()),
        }
    }

    /// Appends values of the same kind.
    pub(super) fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::U64(own), Self::U64(other)) => own.extend(other),
            (Self::Interval(own), Self::Interval(other)) => own.extend(other),
            (Self::I64(own), Self::I64(other)) => own.extend(other),
            (Self::F64(own), Self::F64(other)) => own.extend(other),
            (Self::Text(own), Self::Text(other)) => own.extend(other),
            (Self::Bool(own), Self::Bool(other)) => own.extend(other),
            (Self::Nested(own), Self::Nested(other)) => own.extend(other),
            // Values that are absent may be of either: both are texts.
            (Self::Nested(own), other) => own.extend(vec![None; other.len()]),
            (own, Self::Nested(other)) => {
                let absent = vec![None; own.len()];
                *own = Self::Nested(absent.into_iter().chain(other).collect());
            }
            // A number is an interval of its own.
            (Self::Interval(own), Self::U64(other)) => own.extend(alone(&other)),
            (own @ Self::U64(_), Self::Interval(other)) => {
                let numbers = if let Self::U64(numbers) = &*own { alone(numbers) } else { Vec::new() };
                *own = Self::Interval(numbers.into_iter().chain(other).collect());
            }
            _ => {}
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::U64(_) | Self::Interval(_) => Kind::U64,
            Self::I64(_) => Kind::I64,
            Self::F64(_) => Kind::F64,
            Self::Text(_) => Kind::Text,
            Self::Bool(_) => Kind::Bool,
            Self::Nested(_) => Nested::KIND,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::Interval(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Nested(values) => values.len(),
        }
    }

    /// Returns the value of a row; absent beyond the end.
    pub(super) fn get(&self, row: usize) -> Value<'_> {
        match self {
            Self::U64(values) => values.get(row).copied().flatten().into(),
            Self::Interval(values) => values.get(row).copied().flatten().into(),
            Self::I64(values) => values.get(row).copied().flatten().into(),
            Self::F64(values) => values.get(row).copied().flatten().into(),
            Self::Text(values) => values.get(row).and_then(Option::as_deref).into(),
            Self::Bool(values) => values.get(row).copied().flatten().into(),
            Self::Nested(values) => {
                values.get(row).and_then(Option::as_ref).map_or(Value::Absent, Value::Nested)
            }
        }
    }
}

/// Implements [`Datum`] for a type, and optionally its conversion to a [`Value`].
macro_rules! datum {
    ($type:ty, $kind:ident) => {
        impl sealed::Sealed for $type {}

        impl Datum for $type {
            const KIND: Kind = Kind::$kind;

            fn collect(values: impl Iterator<Item = Option<Self>>) -> Values {
                Values::$kind(values.collect())
            }
        }
    };
    ($type:ty, $kind:ident, value) => {
        datum!($type, $kind);

        impl From<$type> for Value<'_> {
            fn from(value: $type) -> Self {
                Self::$kind(value)
            }
        }
    };
}

datum!(u64, U64, value);
datum!(i64, I64, value);
datum!(f64, F64, value);
datum!(bool, Bool, value);
datum!(String, Text);

impl sealed::Sealed for Interval {}

impl From<Interval> for Value<'_> {
    fn from(interval: Interval) -> Self {
        Self::Interval(interval)
    }
}

impl Datum for Interval {
    const KIND: Kind = Kind::U64;

    fn collect(values: impl Iterator<Item = Option<Self>>) -> Values {
        Values::Interval(values.collect())
    }
}

impl sealed::Sealed for Nested {}

impl Datum for Nested {
    const KIND: Kind = Kind::Text;

    fn collect(values: impl Iterator<Item = Option<Self>>) -> Values {
        Values::Nested(values.collect())
    }
}
