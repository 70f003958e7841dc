//! Parts of JSON objects, and counts by kind.

use serde_json::Value;

/// A JSON value, whose parts are named by JSON pointers.
#[derive(Clone, Copy)]
pub(crate) struct Json<'a>(pub(crate) &'a Value);

impl<'a> Json<'a> {
    /// The part at a place.
    pub(crate) fn at(self, key: &str) -> Option<Json<'a>> {
        self.0.pointer(key).map(Json)
    }

    /// The number at a place, if it is not negative.
    pub(crate) fn number(self, key: &str) -> Option<f64> {
        self.0.pointer(key)?.as_f64().filter(|value| value.is_finite() && *value >= 0.0)
    }

    /// The whole number at a place.
    pub(crate) fn count(self, key: &str) -> Option<u64> {
        self.0.pointer(key)?.as_u64()
    }

    /// The text at a place.
    pub(crate) fn text(self, key: &str) -> Option<&'a str> {
        self.0.pointer(key)?.as_str()
    }

    /// The whole number at a place, 0 if there is nothing, or why there are no figures.
    pub(crate) fn count_or_zero(self, key: &str) -> Result<u64, String> {
        match self.0.pointer(key) {
            None | Some(Value::Null) => Ok(0),
            Some(_) => self.needed_count(key),
        }
    }

    /// The counts of an object by their names; none if there is no object.
    ///
    /// # Errors
    /// If one of them is no count.
    pub(crate) fn counts(self, key: &str) -> Result<Vec<(&'a str, u64)>, String> {
        let object = self.0.pointer(key).and_then(Value::as_object).into_iter().flatten();
        let read = |(name, count): (&'a String, &Value)| {
            let count = count.as_u64().ok_or_else(|| missing(&format!("{key}/{name}")))?;
            Ok((name.as_str(), count))
        };
        object.map(read).collect()
    }

    /// The number at a place, or why there are no figures.
    pub(crate) fn needed(self, key: &str) -> Result<f64, String> {
        self.number(key).ok_or_else(|| missing(key))
    }

    /// The whole number at a place, or why there are no figures.
    pub(crate) fn needed_count(self, key: &str) -> Result<u64, String> {
        self.count(key).ok_or_else(|| missing(key))
    }
}

fn missing(key: &str) -> String {
    format!("its JSON has no number at {key}")
}

/// Counts of failures by kind, without those that are zero.
pub(crate) fn named(kinds: &[(&str, u64)]) -> Vec<(String, u64)> {
    kinds.iter().filter(|(_, count)| *count > 0).map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

/// Sums counts, as far as their type goes.
pub(crate) fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Returns true if a status is a success: an answer below 400.
pub(crate) fn is_success(status: &str) -> bool {
    matches!(status.parse::<u16>(), Ok(100..=399))
}
