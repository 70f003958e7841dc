//! A load tool whose summaries are read: one trait for text, one for JSON.

use serde_json::Value;

use super::split::found::ParsedSummary;
use super::split::lines::TextLine;
use super::split::section::Section;

/// A tool that prints its summary as lines of text.
pub(crate) trait TextTool: Sync {
    /// The tool's name.
    fn name(&self) -> &'static str;

    /// Returns true if a section begins at this line.
    fn begins(&self, line: TextLine<'_>) -> bool;

    /// Reads a section. An error is the reason why it has no figures.
    fn read(&self, section: &Section<'_>) -> Result<ParsedSummary, String>;

    /// The rounding error of a printed mean, in ms.
    fn rounding_ms(&self) -> f64 {
        0.0
    }

    /// Returns true if each connection sends its next request when an answer has arrived, so that Little's law bounds the
    /// mean latency.
    fn is_closed_loop(&self) -> bool {
        true
    }
}

/// A tool that writes its summary as a JSON object, or a list of them.
pub(crate) trait JsonTool: Sync {
    /// The tool's name.
    fn name(&self) -> &'static str;

    /// The values by which this tool's JSON is recognised, as JSON pointers.
    fn keys(&self) -> &'static [&'static str];

    /// Reads the JSON. An error is the reason why it has no figures.
    fn read(&self, value: &Value) -> Result<ParsedSummary, String>;

    /// Returns true if each connection sends its next request when an answer has arrived.
    fn is_closed_loop(&self) -> bool {
        true
    }
}
