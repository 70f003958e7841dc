//! Times as monitoring tools print them.

use crate::formats::date::{DateForm, DateParser, TimeZone};
use crate::run::fault::Fault;

use super::found::{flaw, shown};

/// Reads dates with times, in a zone where they name none.
pub(super) struct Times {
    parser: DateParser,
    /// The format of the first date.
    pub(super) form: Option<DateForm>,
}

impl Times {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { parser: DateParser::new(zone), form: None }
    }

    /// Returns the epoch second of a day and a time of it, in UTC or else in the zone that is given.
    pub(super) fn second(&mut self, day: &str, time: &str, utc: bool) -> Result<i64, Fault> {
        let text = format!("{day} {time}{}", if utc { "Z" } else { "" });
        if self.form.is_none() {
            self.form = self.parser.form(text.as_bytes());
        }
        match self.parser.parse(text.as_bytes()) {
            Some(ms) => Ok(ms.div_euclid(1000)),
            None => Err(flaw(format!(
                "the time {:?} is none that perfpipe reads",
                shown(&format!("{day} {time}"))
            ))),
        }
    }
}
