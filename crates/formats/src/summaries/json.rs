//! Parts of JSON objects, and counts by kind.

use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The most values of a JSON value that are kept. A list of Locust's has the most: one a name and second.
const MOST_VALUES: usize = 1_000_000;

/// The depth and the name of each list that has figures: k6's metrics (`results.metrics`), and Fortio's percentiles
/// (`DurationHistogram.Percentiles`).
const LISTS: [(usize, &str); 2] = [(1, "metrics"), (1, "Percentiles")];

/// The depth up to which nested values are kept.
const DEEPEST: usize = 8;

/// A JSON value without what has no figures of any tool, to save memory: lists, except an outermost one and [`LISTS`], and
/// what is nested too deep.
pub(super) struct Pruned(pub Value);

impl<'de> Deserialize<'de> for Pruned {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let left = Cell::new(MOST_VALUES);
        Prune { left: &left, depth: 0, keeps_list: true }.deserialize(from).map(Pruned)
    }
}

/// Reads a value at some depth, and counts down the values that may follow.
#[derive(Clone, Copy)]
struct Prune<'a> {
    left: &'a Cell<usize>,
    depth: usize,
    keeps_list: bool,
}

impl Prune<'_> {
    fn below<E: Error>(self) -> Result<Self, E> {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => return Err(E::custom(format!("it has more than {MOST_VALUES} values"))),
        }
        Ok(Self { depth: self.depth + 1, keeps_list: false, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Prune<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Prune<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        if !self.keeps_list {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Value::Array(kept));
        }
        while let Some(value) = list.next_element_seed(self.below()?)? {
            kept.push(value);
        }
        Ok(Value::Array(kept))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut kept = Map::new();
        if self.depth >= DEEPEST {
            while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Value::Object(kept));
        }
        while let Some(name) = object.next_key::<String>()? {
            let keeps_list = LISTS.contains(&(self.depth, name.as_str()));
            let value = object.next_value_seed(Prune { keeps_list, ..self.below()? })?;
            kept.insert(name, value);
        }
        Ok(Value::Object(kept))
    }
}

/// A JSON value, whose parts are named by JSON pointers.
#[derive(Clone, Copy)]
pub(super) struct JsonValue<'a>(pub &'a Value);

impl<'a> JsonValue<'a> {
    /// The part at a pointer.
    pub(super) fn at(self, key: &str) -> Option<JsonValue<'a>> {
        self.0.pointer(key).map(JsonValue)
    }

    /// The number at a pointer, if it is not negative.
    pub(super) fn number(self, key: &str) -> Option<f64> {
        self.0.pointer(key)?.as_f64().filter(|value| value.is_finite() && *value >= 0.0)
    }

    /// The whole number at a pointer.
    pub(super) fn count(self, key: &str) -> Option<u64> {
        self.0.pointer(key)?.as_u64()
    }

    /// The text at a pointer.
    pub(super) fn text(self, key: &str) -> Option<&'a str> {
        self.0.pointer(key)?.as_str()
    }

    /// The whole number at a pointer, 0 if there is nothing, or why there are no figures.
    pub(super) fn count_or_zero(self, key: &str) -> Result<u64, String> {
        match self.0.pointer(key) {
            None | Some(Value::Null) => Ok(0),
            Some(_) => self.needed_count(key),
        }
    }

    /// The counts of an object by their names; none if there is no object.
    ///
    /// # Errors
    /// If one of them is no count.
    pub(super) fn counts(self, key: &str) -> Result<Vec<(&'a str, u64)>, String> {
        let object = self.0.pointer(key).and_then(Value::as_object).into_iter().flatten();
        let read = |(name, count): (&'a String, &Value)| {
            let count = count.as_u64().ok_or_else(|| missing(&format!("{key}/{name}")))?;
            Ok((name.as_str(), count))
        };
        object.map(read).collect()
    }

    /// The number at a pointer, or why there are no figures.
    pub(super) fn needed(self, key: &str) -> Result<f64, String> {
        self.number(key).ok_or_else(|| missing(key))
    }

    /// The whole number at a pointer, or why there are no figures.
    pub(super) fn needed_count(self, key: &str) -> Result<u64, String> {
        self.count(key).ok_or_else(|| missing(key))
    }
}

fn missing(key: &str) -> String {
    format!("its JSON has no number at {key}")
}

/// Counts of failures by kind, without those that are zero.
pub(super) fn named(kinds: &[(&str, u64)]) -> Vec<(String, u64)> {
    kinds.iter().filter(|(_, count)| *count > 0).map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

/// Sums counts, saturating.
pub(super) fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Returns true if a status is a success: an answer below 400.
pub(super) fn is_success(status: &str) -> bool {
    matches!(status.parse::<u16>(), Ok(100..=399))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_depths_that_no_figure_is_in_take_no_room() {
        let pruned = |text: &str| serde_json::from_str::<Pruned>(text).map(|Pruned(value)| value.to_string());
        assert_eq!(
            pruned(r#"[{"a": [1, {"b": 2}], "c": {"d": [], "e": "f", "g": -1.5, "h": null, "i": true}}]"#)
                .unwrap(),
            r#"[{"a":[],"c":{"d":[],"e":"f","g":-1.5,"h":null,"i":true}}]"#
        );
        let deep = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        assert_eq!(pruned(&deep(8)).unwrap(), deep(8));
        assert_eq!(pruned(&deep(100)).unwrap(), deep(9).replace('1', "").replace(r#"{"a":}"#, "{}"));
        let many = (0..=MOST_VALUES).map(|n| format!("\"{n}\":1")).collect::<Vec<_>>().join(",");
        assert!(pruned(&format!("{{{many}}}")).unwrap_err().to_string().contains("more than 1000000 values"));
    }
}
