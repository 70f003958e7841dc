//! The part of a rule that names a series of the server, as in `series memory < 2GiB`.

use crate::format::Unit;
use crate::timeline::{SeriesBySecond, Timeline};

/// Units of bytes, with their size.
const BYTES: [(&str, f64); 11] = [
    ("B", 1.0),
    ("byte", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// Returns the size of a unit of bytes; `None` for other units.
fn bytes(unit: &str) -> Option<f64> {
    BYTES.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
}

/// The series that a rule is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OfServer {
    pub(super) name: String,
    /// The unit of the limit, as written; empty if it has none.
    pub(super) unit: String,
}

impl OfServer {
    /// Returns the series in a timeline, and what numbers of the rule are to be multiplied by; otherwise the reason why
    /// the rule can't be judged.
    pub(super) fn find<'a>(&self, timeline: &'a Timeline) -> Result<(&'a SeriesBySecond, f64), String> {
        let series = timeline.series.iter().find(|series| series.name == self.name);
        let series = series.ok_or_else(|| self.lack())?;
        Ok((series, self.factor(&series.unit)?))
    }

    /// Says that a run does not have the series.
    pub(super) fn lack(&self) -> String {
        format!("the run has no series {}", self.name)
    }

    /// Returns what numbers of the rule are to be multiplied by for a series in a unit; otherwise the reason why the rule
    /// can't be judged.
    pub(super) fn factor(&self, of_series: &str) -> Result<f64, String> {
        let Self { name, unit } = self;
        let factor = match (bytes(of_series), bytes(unit)) {
            _ if unit.is_empty() || *unit == of_series => Some(1.0),
            (Some(own), Some(limit)) => Some(limit / own),
            _ => None,
        };
        factor.ok_or_else(|| format!("{name} is in {of_series}, not in {unit}"))
    }

    /// Returns the unit of a series' values, if verdicts have one for it.
    pub(super) fn unit_of(unit: &str) -> Unit {
        match bytes(unit) {
            Some(1.0) => Unit::Bytes,
            _ if unit == "%" => Unit::Percent,
            _ => Unit::None,
        }
    }
}
