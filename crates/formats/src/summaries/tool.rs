//! A load tool whose summaries are read: one trait for text, one for JSON.

use serde_json::Value;

use super::command::Command;
use super::section::{Section, TextLine};
use perfpipe_model::points::Figures;

/// A tool that prints its summary as lines of text.
pub trait TextTool: Sync {
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
pub trait JsonTool: Sync {
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

/// The parsed content of a section.
#[derive(Debug, Default)]
pub struct ParsedSummary {
    pub concurrency: Option<u32>,
    pub url: Option<String>,
    pub figures: Figures,
}

impl ParsedSummary {
    /// Fills in what the output lacks from the command that was echoed before it.
    pub(super) fn completed(mut self, command: Option<&Command>, closed_loop: bool) -> Self {
        let Some(command) = command else { return self };
        self.concurrency = self.concurrency.or(command.concurrency);
        self.url = self.url.or_else(|| command.url.clone());
        self.figures.began_ms = command.began_ms;
        if closed_loop && command.rate.is_none() {
            let connections = self.figures.in_flight.or(self.concurrency);
            self.figures.in_flight = connections
                .zip(command.streams)
                .and_then(|(connections, each)| connections.checked_mul(each));
        }
        if let Some(timeout) = &command.timeout {
            self.figures.notes.push(format!("the time-out was {timeout}, by the command"));
        }
        if let Some(rate) = &command.rate {
            self.figures.notes.push(format!("the rate was set to {rate} per second, by the command"));
        }
        self
    }
}
