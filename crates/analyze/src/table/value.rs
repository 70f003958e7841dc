//! The values of tables: single ones in rows, and typed vectors in columns.

use std::cmp::Ordering;

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
    /// A signed integer.
    I64(i64),
    /// A floating-point number.
    F64(f64),
    /// A text.
    Text(&'a str),
    /// A boolean.
    Bool(bool),
}

impl Value<'_> {
    /// Returns the kind of column that the value fits; `None` for an absent value, which fits any.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Absent => None,
            Self::U64(_) => Some(Kind::U64),
            Self::I64(_) => Some(Kind::I64),
            Self::F64(_) => Some(Kind::F64),
            Self::Text(_) => Some(Kind::Text),
            Self::Bool(_) => Some(Kind::Bool),
        }
    }

    /// Orders two values of one column; values of different kinds, and absent ones, are equal.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::U64(one), Self::U64(other)) => one.cmp(other),
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
    I64(Vec<Option<i64>>),
    F64(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
    Bool(Vec<Option<bool>>),
}

impl Values {
    /// Returns the value of a row; absent beyond the end.
    pub(super) fn get(&self, row: usize) -> Value<'_> {
        match self {
            Self::U64(values) => values.get(row).copied().flatten().into(),
            Self::I64(values) => values.get(row).copied().flatten().into(),
            Self::F64(values) => values.get(row).copied().flatten().into(),
            Self::Text(values) => values.get(row).and_then(Option::as_deref).into(),
            Self::Bool(values) => values.get(row).copied().flatten().into(),
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
