//! The sections that were found in a text.

use super::super::point::Figures;
use super::command::Command;

/// One section of a text: what one run of a tool printed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FoundSection {
    /// The tool.
    pub tool: &'static str,
    /// True if the tool printed what it prints; false if there is only its command.
    pub printed: bool,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// Connections or users of the tool, from the output or else from the command before it.
    pub concurrency: Option<u32>,
    /// The URL, from the output or else from the command before it.
    pub url: Option<String>,
    /// The figures that it printed.
    pub figures: Figures,
}

/// The content of a text.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FoundSections {
    /// The sections in their order.
    pub sections: Vec<FoundSection>,
    /// How many lines belong to none of them, except blank ones and commands.
    pub ignored: usize,
    /// The first of these: its number, from 1, and its text.
    pub first_ignored: Option<(usize, String)>,
    /// How many runs were left out because a line above says that they only warm the server up.
    pub warm_ups: usize,
    /// True if the text has more sections than are read, 20,000. What is after these is left out.
    pub are_too_many: bool,
}

/// The most sections of a text.
pub(super) const MOST_SECTIONS: usize = 20_000;

impl FoundSections {
    /// Notes a line that belongs to no section, before which there are `at` others.
    pub(super) fn ignore(&mut self, at: usize, line: &str) {
        self.ignored += 1;
        if self.first_ignored.is_none() {
            self.first_ignored = Some((at + 1, line.trim().chars().take(80).collect()));
        }
    }
}

/// The parsed content of a section.
#[derive(Debug, Default)]
pub(crate) struct ParsedSummary {
    pub(crate) concurrency: Option<u32>,
    pub(crate) url: Option<String>,
    pub(crate) figures: Figures,
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
