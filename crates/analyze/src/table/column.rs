//! Columns of a table: name, type, and format in text output.

use super::value::{Kind, Value};
use crate::format::{duration, instant, lasting, one_line, separated, size, without_zero_sign};

/// The text of an absent value.
const ABSENT: &str = "-";

/// What a word says of a run, for its colour on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tone {
    /// As it should be, or better than before.
    Good,
    /// Not as it should be, or worse than before.
    Bad,
    /// Not known, or to be looked at.
    Doubt,
}

/// How soon a column is left out where a terminal is too narrow for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// First.
    Minor,
    Plain,
    /// Last.
    Major,
}

/// How whole numbers look in text formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// With separated thousands.
    Plain,
    /// Without.
    Identifier,
    /// As a date.
    Instant,
    /// In hours, minutes and seconds.
    Duration,
    /// In kB, MB and GB.
    Size,
    /// A share, 0 to 1, in percent.
    Share,
    /// A p-value.
    Probability,
}

impl Look {
    /// Returns the text of a number that is not shown in digits alone.
    fn of(self, number: i128) -> Option<String> {
        match self {
            Self::Plain | Self::Identifier | Self::Share | Self::Probability => None,
            Self::Instant => instant(i64::try_from(number).ok()?),
            Self::Duration => u64::try_from(number).ok().map(duration),
            Self::Size => u64::try_from(number).ok().map(size),
        }
    }
}

/// A column's name and type. Unit, decimals and title are for text formats and change nothing in machine formats.
///
/// ```
/// use perfpipe_analyze::table::{Column, Kind};
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
    look: Look,
    hidden: bool,
    weight: Weight,
    words: &'static [(&'static str, &'static str)],
    tones: &'static [(&'static str, Tone)],
}

impl Column {
    /// Creates a column from its name in machine formats and its type.
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
            title: None,
            unit: None,
            decimals: None,
            look: Look::Plain,
            hidden: false,
            weight: Weight::Plain,
            words: &[],
            tones: &[],
        }
    }

    /// Sets the title in text formats.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the unit of the numbers, as in `ms`.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// Sets the number of decimals in text formats; by default all are shown.
    #[must_use]
    pub fn decimals(mut self, decimals: u8) -> Self {
        self.decimals = Some(decimals);
        self
    }

    /// Marks the numbers as identifiers, such as years: their thousands are not separated.
    #[must_use]
    pub fn identifier(mut self) -> Self {
        self.look = Look::Identifier;
        self
    }

    /// Marks the numbers as times in ms since 1970, which people see as dates, UTC.
    #[must_use]
    pub fn instant(mut self) -> Self {
        self.look = Look::Instant;
        self
    }

    /// Marks the numbers as durations in seconds, which people see in hours, minutes and seconds.
    #[must_use]
    pub fn duration(mut self) -> Self {
        self.look = Look::Duration;
        self
    }

    /// Marks the numbers as sizes in bytes, which people see in kB, MB and GB.
    #[must_use]
    pub fn size(mut self) -> Self {
        self.look = Look::Size;
        self
    }

    /// Marks the numbers as shares, 0 to 1, which people see in percent.
    #[must_use]
    pub fn share(self) -> Self {
        Self { look: Look::Share, ..self.unit("%") }
    }

    /// Marks the numbers as p-values, of which people see four decimals: `< 0.0001` instead of zeros.
    ///
    /// ```
    /// use perfpipe_analyze::table::{Column, Kind, Value};
    /// let column = Column::new("p", Kind::F64).probability();
    /// assert_eq!([0.04321, 2e-9].map(|p| column.shown(&Value::F64(p))), ["0.0432", "< 0.0001"]);
    /// ```
    #[must_use]
    pub fn probability(self) -> Self {
        Self { look: Look::Probability, ..self.decimals(4) }
    }

    /// Hides the column in text formats, while programs still get it.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }

    /// Lets the column be left out first where a terminal is too narrow for all.
    #[must_use]
    pub fn minor(mut self) -> Self {
        self.weight = Weight::Minor;
        self
    }

    /// Lets the column be left out last where a terminal is too narrow for all: it has what the table is read for.
    #[must_use]
    pub fn major(mut self) -> Self {
        self.weight = Weight::Major;
        self
    }

    /// Sets what people read instead of some words of the column.
    #[must_use]
    pub fn words(mut self, words: &'static [(&'static str, &'static str)]) -> Self {
        self.words = words;
        self
    }

    /// Sets the tones of words, for their colours on a terminal.
    #[must_use]
    pub fn tones(mut self, tones: &'static [(&'static str, Tone)]) -> Self {
        self.tones = tones;
        self
    }

    /// Makes the column fit for the values of another of the same name, too: numbers of two kinds are floating-point
    /// numbers, with the decimals of either.
    pub(super) fn widen(&mut self, other: &Self) {
        if self.kind != other.kind && self.is_number() && other.is_number() {
            self.kind = Kind::F64;
        }
        self.decimals = self.decimals.max(other.decimals);
        self.hidden &= other.hidden;
    }

    pub(super) fn weight(&self) -> Weight {
        self.weight
    }

    pub(super) fn tone(&self, word: &str) -> Option<Tone> {
        self.tones.iter().find(|(own, _)| *own == word).map(|(_, tone)| *tone)
    }

    /// Returns the name in machine formats.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the type of the values.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the unit of the numbers; empty without one.
    pub(crate) fn unit_name(&self) -> &str {
        self.unit.as_deref().unwrap_or_default()
    }

    /// Returns the heading in text formats: the title, by default the name, and the unit.
    pub fn heading(&self) -> String {
        let title = self.title.clone().unwrap_or_else(|| self.name.replace('_', " "));
        match &self.unit {
            Some(unit) if !unit.is_empty() => format!("{title} ({unit})"),
            _ => title,
        }
    }

    /// Formats a value of the column for text formats, on one line.
    ///
    /// ```
    /// use perfpipe_analyze::table::{Column, Kind, Value};
    /// let column = Column::new("cpu_mean", Kind::F64).decimals(1);
    /// assert_eq!(column.shown(&Value::F64(1234.56)), "1,234.6");
    /// ```
    pub fn shown(&self, value: &Value<'_>) -> String {
        let number = |digits: String| match self.look {
            Look::Identifier => digits,
            _ => separated(&digits),
        };
        match value {
            Value::Absent => ABSENT.into(),
            Value::Interval(interval) => interval.to_string(),
            Value::U64(value) => {
                self.look.of(i128::from(*value)).unwrap_or_else(|| number(value.to_string()))
            }
            Value::I64(value) => {
                self.look.of(i128::from(*value)).unwrap_or_else(|| number(value.to_string()))
            }
            Value::F64(seconds) if self.look == Look::Duration => lasting(*seconds),
            Value::F64(value) if self.look == Look::Share => {
                number(without_zero_sign(format!("{:.1}", value * 100.0)))
            }
            Value::F64(p) if self.look == Look::Probability && *p < 0.0001 => "< 0.0001".into(),
            Value::F64(value) => number(match self.decimals {
                Some(decimals) => without_zero_sign(format!("{value:.*}", usize::from(decimals))),
                None => value.to_string(),
            }),
            Value::Bool(true) => "yes".into(),
            Value::Bool(false) => "no".into(),
            Value::Text(text) => {
                let word = self.words.iter().find(|(word, _)| word == text);
                word.map_or_else(|| one_line(text), |(_, shown)| (*shown).to_owned())
            }
            Value::Nested(nested) => nested.text().map_or_else(|| ABSENT.into(), one_line),
        }
    }

    /// Returns true if the values are numbers, which are aligned to the right.
    pub fn is_number(&self) -> bool {
        matches!(self.kind, Kind::U64 | Kind::I64 | Kind::F64)
    }

    /// Returns true if text formats show the column.
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
    fn times_durations_and_sizes_are_shown_for_people() {
        let started = Column::new("t0_ms", Kind::I64).instant();
        assert_eq!(started.shown(&Value::I64(1_795_203_738_609)), "2026-11-20 19:42:18");
        assert_eq!(started.shown(&Value::I64(i64::MAX)), "9,223,372,036,854,775,807");
        assert_eq!(Column::new("seconds", Kind::U64).duration().shown(&Value::U64(78)), "1 min 18 s");
        let lasted = Column::new("duration", Kind::F64).duration();
        assert_eq!(
            (lasted.shown(&Value::F64(78.04)), lasted.shown(&Value::F64(7.0))),
            ("1 min 18 s".into(), "7.0 s".into())
        );
        assert_eq!(Column::new("bytes", Kind::U64).size().shown(&Value::U64(1_234_567)), "1.2 MB");
    }

    #[test]
    fn control_characters_reach_no_terminal() {
        let column = Column::new("x", Kind::Text);
        assert_eq!(column.shown(&Value::Text("a\r\nb\u{1b}[31m配")), r"a\r\nb\u{1b}[31m配");
    }
}
