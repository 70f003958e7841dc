//! What a load tool is to the reader of summaries: one trait a form.

use serde_json::Value;

use super::split::found::Told;
use super::split::lines::Line;
use super::split::section::Section;

/// A tool that prints its summary as lines of text.
pub(crate) trait TextTool: Sync {
    /// The tool's name.
    fn name(&self) -> &'static str;

    /// Returns true if a section begins at this line.
    fn begins(&self, line: Line<'_>) -> bool;

    /// Reads a section. An error is the reason why it has no figures.
    fn read(&self, section: &Section<'_>) -> Result<Told, String>;

    /// By how much a printed mean may be off for having been rounded, in ms.
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

    /// Where in the JSON values have to be for it to be this tool's, as JSON pointers.
    fn keys(&self) -> &'static [&'static str];

    /// Reads the JSON. An error is the reason why it has no figures.
    fn read(&self, value: &Value) -> Result<Told, String>;

    /// Returns true if each connection sends its next request when an answer has arrived.
    fn is_closed_loop(&self) -> bool {
        true
    }
}
