//! What a column of a table is: its name, its type, and how people read it.

use super::value::{Kind, Value};
use crate::format::{one_line, separated, without_zero_sign};

/// What stands where a value is absent.
const ABSENT: &str = "-";

/// A column's name and type; unit, decimals and title are for people and change nothing in machine formats.
///
/// ```
/// use perfpipe_analyze::{Column, Kind};
/// let column = Column::new("cpu_mean", Kind::F64).title("mean CPU").unit("%").decimals(1);
/// assert_eq!(column.heading(), "mean CPU (%)");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    kind: Kind,
    title: Option<String>,
    unit: Option<String>,
    decimals: Option<u8>,
    identifier: bool,
    hidden: bool,
}

impl Column {
    /// A column by its name in machine formats.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            title: None,
            unit: None,
            decimals: None,
            identifier: false,
            hidden: false,
        }
    }

    /// The same column, called otherwise in the formats for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same column, its numbers in a unit, as in `ms`.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// The same column, shown to people with so many digits after the point, in the place of all that there are.
    #[must_use]
    pub fn decimals(mut self, decimals: u8) -> Self {
        self.decimals = Some(decimals);
        self
    }

    /// The same column of numbers that name something, as a year does: nothing separates their thousands.
    #[must_use]
    pub fn identifier(mut self) -> Self {
        self.identifier = true;
        self
    }

    /// The same column, there for programs whose columns are to be always the same, and not shown to people.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// The name in machine formats.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of the values.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What stands above the column in the formats for people: its title, else its name, and its unit.
    pub fn heading(&self) -> String {
        let title = self.title.clone().unwrap_or_else(|| self.name.replace('_', " "));
        match &self.unit {
            Some(unit) if !unit.is_empty() => format!("{title} ({unit})"),
            _ => title,
        }
    }

    /// A value of the column as the formats for people show it, on one line.
    ///
    /// ```
    /// use perfpipe_analyze::{Column, Kind, Value};
    /// let column = Column::new("cpu_mean", Kind::F64).decimals(1);
    /// assert_eq!(column.shown(&Value::F64(1234.56)), "1,234.6");
    /// ```
    pub fn shown(&self, value: &Value<'_>) -> String {
        let number = |digits: String| if !self.identifier { separated(&digits) } else { digits };
        match value {
            Value::Absent => ABSENT.into(),
            Value::U64(value) => number(value.to_string()),
            Value::I64(value) => number(value.to_string()),
            Value::F64(value) => number(match self.decimals {
                Some(decimals) => without_zero_sign(format!("{value:.*}", usize::from(decimals))),
                None => value.to_string(),
            }),
            Value::Bool(true) => "yes".into(),
            Value::Bool(false) => "no".into(),
            Value::Text(text) => one_line(text),
        }
    }

    /// Whether people read the values from the right.
    pub fn is_number(&self) -> bool {
        matches!(self.kind, Kind::U64 | Kind::I64 | Kind::F64)
    }

    /// Whether the formats for people have the column.
    pub fn is_shown(&self) -> bool {
        !self.hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_in_the_whole_part_only() {
        let column = Column::new("x", Kind::F64);
        for (value, text) in [
            (0.0, "0"),
            (999.5, "999.5"),
            (1000.0, "1,000"),
            (-1234567.25, "-1,234,567.25"),
            (100_000.0, "100,000"),
            (0.1234567, "0.1234567"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(column.shown(&Value::F64(value)), text);
        }
        assert_eq!(column.clone().decimals(1).shown(&Value::F64(1234.56)), "1,234.6");
        assert_eq!(column.clone().decimals(1).shown(&Value::F64(-0.04)), "0.0");
        assert_eq!(column.clone().decimals(1).shown(&Value::F64(-0.06)), "-0.1");
        assert_eq!(column.shown(&Value::I64(i64::MIN)), "-9,223,372,036,854,775,808");
        assert_eq!(column.identifier().shown(&Value::U64(1795203738)), "1795203738");
    }

    #[test]
    fn control_characters_reach_no_terminal() {
        let column = Column::new("x", Kind::Text);
        assert_eq!(column.shown(&Value::Text("a\r\nb\u{1b}[31m配")), r"a\r\nb\u{1b}[31m配");
    }
}
