//! Numbers that come back from JSON as they were written, to the last bit: `serde_json` reads some of them one off.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::value::RawValue;

/// Reads a number by the standard library.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    parse(&Box::<RawValue>::deserialize(from)?)
}

/// Writes a number as ever.
pub(super) fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(*number)
}

fn parse<E: Error>(text: &RawValue) -> Result<f64, E> {
    let number: Option<f64> = text.get().parse().ok();
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| E::custom(format!("{} is not a number", text.get())))
}

/// The same for numbers that may be absent.
pub(super) mod optional {
    use super::{Deserialize, Deserializer, RawValue, Serializer, parse};

    /// Reads a number, or null.
    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        Option::<Box<RawValue>>::deserialize(from)?.map(|text| parse(&text)).transpose()
    }

    /// Writes a number, or null.
    pub(in super::super) fn serialize<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        match number {
            Some(number) => to.serialize_some(number),
            None => to.serialize_none(),
        }
    }
}
