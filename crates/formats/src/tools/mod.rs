//! The logs of other load tools, one file a format. Each is converted as it streams: JMeter's XML to lines of its
//! CSV, the others to packed requests, so that whatever reads a log reads these too.

mod aiperf;
pub mod fields;
pub mod format;
mod gatling;
mod h2load;
mod hlog;
mod jmeter_xml;
mod k6;
mod lines;
pub mod rejects;
pub mod rows;
mod since_begin;
mod vegeta;

use self::format::Format;

/// The formats, in the order in which they are tried.
pub const FORMATS: [&Format; 12] = [
    &jmeter_xml::FORMAT,
    &gatling::TEXT,
    &gatling::BINARY,
    &h2load::FORMAT,
    &k6::CSV,
    &k6::JSON,
    &vegeta::CSV,
    &vegeta::JSON,
    &since_begin::HEY,
    &since_begin::OHA,
    &hlog::FORMAT,
    &aiperf::FORMAT,
];

/// Returns the format of a log that begins with these bytes, without leading whitespace; `None` for JMeter's CSV and what
/// is no log.
pub fn recognise(head: &[u8]) -> Option<&'static Format> {
    FORMATS.into_iter().find(|format| (format.recognises)(head))
}
