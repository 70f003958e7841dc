//! Reads lists in JSON element by element, so that no list is kept as a whole, whatever is in it.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::found::flaw;
use perfpipe_formats::work_count;
use perfpipe_model::run::damage::Fault;

/// Parses a whole JSON text. `what` is what it has to be.
pub(super) fn whole<'a, T: Deserialize<'a>>(text: &'a [u8], what: &str) -> Result<T, Fault> {
    work_count::count(text.len());
    serde_json::from_slice(text).map_err(|error| unlike(what, &error.to_string()))
}

/// Parses a part of a JSON text.
pub(super) fn part<'a, T: Deserialize<'a>>(text: &'a RawValue, what: &str) -> Result<T, Fault> {
    work_count::count(text.get().len());
    serde_json::from_str(text.get()).map_err(|error| unlike(what, unplaced(&error.to_string())))
}

/// Passes on the elements of a list, one at a time, until one is refused.
pub(super) fn each<'a, T: Deserialize<'a>>(
    list: &'a RawValue,
    what: &str,
    take: impl FnMut(T) -> Result<(), Fault>,
) -> Result<(), Fault> {
    use serde::Deserializer as _;

    work_count::count(list.get().len());
    let mut refused = None;
    let elements = Elements { take, refused: &mut refused, of: PhantomData };
    let read = serde_json::Deserializer::from_str(list.get()).deserialize_seq(elements);
    match (refused, read) {
        (Some(fault), _) => Err(fault),
        (None, read) => read.map_err(|error| unlike(what, unplaced(&error.to_string()))),
    }
}

fn unlike(what: &str, why: &str) -> Fault {
    flaw(format!("is not {what} as perfpipe knows it: {why}"))
}

/// An error without its place, which is one in a part of the text.
fn unplaced(error: &str) -> &str {
    error.rfind(" at line ").and_then(|end| error.get(..end)).unwrap_or(error)
}

/// Passes elements on.
struct Elements<'f, T, F> {
    take: F,
    refused: &'f mut Option<Fault>,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), Fault>> Visitor<'de> for Elements<'_, T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element()? {
            if let Err(fault) = (self.take)(element) {
                *self.refused = Some(fault);
                return Err(A::Error::custom("refused"));
            }
        }
        Ok(())
    }
}
