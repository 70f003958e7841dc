//! The logs of other load tools, one file a format. Each is converted to lines of JMeter's CSV as it streams, so that
//! whatever reads a log reads these too.

pub(crate) mod convert;
mod csv;
pub(crate) mod format;
mod gatling;
mod gatling_binary;
mod jmeter_xml;
mod lines;
mod rows;
pub(crate) mod told;

use self::format::Format;

/// The formats, in the order in which they are tried.
pub(crate) const FORMATS: [&Format; 3] = [&jmeter_xml::FORMAT, &gatling::FORMAT, &gatling_binary::FORMAT];

/// Returns the format of a log that begins with these bytes, without leading whitespace; `None` for JMeter's CSV and what
/// is no log.
pub(crate) fn recognise(head: &[u8]) -> Option<&'static Format> {
    FORMATS.into_iter().find(|format| (format.recognises)(head))
}
