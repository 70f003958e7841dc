//! Walks through a text, section by section: which tool printed which lines.

use std::cell::Cell;

use serde_json::Value;

use super::command::Command;
use super::json::Pruned;
use super::section::{Section, TextLine};
use super::tool::{JsonTool, ParsedSummary, TextTool};
use crate::work_count;
use perfpipe_model::points::Figures;

/// How far into damaged JSON its first names are looked for, in bytes.
const NEAR: usize = 1 << 14;

/// The most damaged JSON values of a text of which that is done; of others, names are searched for before the damage only.
const MOST_DAMAGED: usize = 1000;

/// How many times the bytes of a text may be read as JSON, and how many bytes in any case: each line may begin a value that
/// contains others.
const MOST_READINGS: usize = 8;
const LEAST_READ: usize = 1 << 20;

/// The lines that TechEmpower's toolset prints above the commands of runs that it does not measure.
const WARM_UPS: [&str; 2] = ["Running Primer ", "Running Warmup "];

/// The tools that are known.
pub struct KnownTools {
    /// Tools that print text.
    pub text: &'static [&'static dyn TextTool],
    /// Tools that print JSON.
    pub json: &'static [&'static dyn JsonTool],
}

/// A command that no output has followed so far.
struct PendingCommand {
    command: Command,
    line: usize,
    /// True if it is of a run that only warms the server up.
    warms_up: bool,
    /// The last line that was seen since.
    last: Option<String>,
}

/// The state of a walk.
pub struct SectionWalk<'a> {
    tools: &'a KnownTools,
    found: FoundSections,
    pending: Option<PendingCommand>,
    /// True if a line said that the next run only warms the server up.
    warms_up: bool,
    /// The number of bytes that may still be read as JSON, and of damaged values in which names are looked for.
    json_left: Cell<usize>,
    damaged_left: Cell<usize>,
}

/// What begins on a line.
enum SectionStart {
    Text(&'static dyn TextTool),
    /// A JSON value of so many lines.
    JsonValue(&'static dyn JsonTool, Value, usize),
    /// One that can't be read, for this reason.
    BadJson(&'static dyn JsonTool, String),
    Nothing,
}

impl<'a> SectionWalk<'a> {
    /// Finds the sections of a text.
    pub fn over(tools: &'a KnownTools, text: &'a str) -> FoundSections {
        let json_left = Cell::new(text.len().saturating_mul(MOST_READINGS).max(LEAST_READ));
        let damaged_left = Cell::new(MOST_DAMAGED);
        let (found, pending) = (FoundSections::default(), None);
        let mut walk = SectionWalk { tools, found, pending, warms_up: false, json_left, damaged_left };
        let (mut line, mut at) = (TextLine::first(text), 0);
        while !line.is_past_end() && walk.found.sections.len() <= MOST_SECTIONS {
            let mut lines = walk.step(line, at).max(1);
            while lines > 0 && !line.is_past_end() {
                (line, at, lines) = (line.next(), at + 1, lines - 1);
            }
        }
        walk.give_up();
        walk.found.are_too_many = walk.found.sections.len() > MOST_SECTIONS;
        walk.found.sections.truncate(MOST_SECTIONS);
        walk.found
    }

    /// Reads what begins on a line, before which there are `at` others; returns how many lines it has.
    fn step(&mut self, line: TextLine<'_>, at: usize) -> usize {
        work_count::count(line.whole().len());
        match self.begins(line) {
            SectionStart::Text(tool) => self.text(tool, line, at),
            SectionStart::JsonValue(tool, value, lines) => {
                let summary = tool.read(&value).unwrap_or_else(aborted);
                self.add_section(tool.name(), at, summary, tool.is_closed_loop(), 0.0);
                lines
            }
            SectionStart::BadJson(tool, reason) => {
                self.add_section(tool.name(), at, aborted(reason), false, 0.0);
                usize::MAX
            }
            SectionStart::Nothing => {
                self.between(line, at);
                1
            }
        }
    }

    fn begins(&self, line: TextLine<'_>) -> SectionStart {
        if let Some(tool) = self.tools.text.iter().find(|tool| tool.begins(line)) {
            return SectionStart::Text(*tool);
        }
        if may_begin_json(line.whole().trim_start()) { self.json(line.rest()) } else { SectionStart::Nothing }
    }

    /// Reads the JSON at the beginning of a text.
    fn json(&self, text: &str) -> SectionStart {
        if self.json_left.get() == 0 {
            return SectionStart::Nothing;
        }
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Pruned>();
        let value = values.next();
        let read = match &value {
            Some(Err(problem)) => offset(text, problem.line(), problem.column()),
            _ => values.byte_offset(),
        };
        work_count::count(read);
        self.json_left.set(self.json_left.get().saturating_sub(read.max(1)));
        match value {
            Some(Ok(Pruned(value))) => {
                let lines = text.get(..read).unwrap_or_default().matches('\n').count() + 1;
                let tool = self.tools.json.iter().find(|tool| has_all(&value, tool.keys()));
                tool.map_or(SectionStart::Nothing, |tool| SectionStart::JsonValue(*tool, value, lines))
            }
            Some(Err(problem)) => self.bad_json(text, read, &problem),
            None => SectionStart::Nothing,
        }
    }

    /// Finds the tool of JSON that can't be read after `read` bytes.
    fn bad_json(&self, text: &str, read: usize, problem: &serde_json::Error) -> SectionStart {
        let damaged_left = self.damaged_left.get();
        self.damaged_left.set(damaged_left.saturating_sub(1));
        let near = if damaged_left > 0 { NEAR } else { read.min(NEAR) };
        let near = text.get(..text.floor_char_boundary(near)).unwrap_or_default();
        work_count::count(near.len().min(read));
        let tool = self.tools.json.iter().find(|tool| names_first(near, tool.keys()));
        // Errors of data are those of our own limits, not damage.
        let reason = match problem.is_data() {
            true => format!("its JSON can't be read: {problem}"),
            false => format!("its JSON ends early or is damaged: {problem}"),
        };
        tool.map_or(SectionStart::Nothing, |tool| SectionStart::BadJson(*tool, reason))
    }

    /// Reads a section of lines, which ends where the next one or a command begins.
    fn text(&mut self, tool: &'static dyn TextTool, line: TextLine<'_>, at: usize) -> usize {
        let is_next = |next: &TextLine<'_>| {
            work_count::count(next.whole().len());
            let begins = self.tools.text.iter().any(|tool| tool.begins(*next));
            begins || Command::read(next.whole()).is_some() || self.is_known_json(*next)
        };
        let end = line.below().find(is_next).map_or(usize::MAX, |next| next.at() - line.at());
        let section = Section::new(line.rest().get(..end).unwrap_or(line.rest()));
        let summary = tool.read(&section).unwrap_or_else(aborted);
        self.add_section(tool.name(), at, summary, tool.is_closed_loop(), tool.rounding_ms());
        section.used()
    }

    fn is_known_json(&self, line: TextLine<'_>) -> bool {
        may_begin_json(line.whole()) && !matches!(self.json(line.rest()), SectionStart::Nothing)
    }

    fn add_section(
        &mut self,
        tool: &'static str,
        at: usize,
        summary: ParsedSummary,
        closed_loop: bool,
        rounding_ms: f64,
    ) {
        let before = self.pending.take_if(|pending| pending.command.tool == tool);
        self.give_up();
        let announced = std::mem::take(&mut self.warms_up);
        if before.as_ref().map_or(announced, |pending| pending.warms_up) {
            self.found.warm_ups += 1;
            return;
        }
        let summary = summary.completed(before.as_ref().map(|pending| &pending.command), closed_loop);
        let invents = if tool == "wrk" { ": wrk invents latencies to correct for late requests" } else { "" };
        self.found.sections.push(FoundSection {
            tool,
            printed: true,
            line: at + 1,
            concurrency: summary.concurrency,
            url: summary.url,
            figures: summary.figures.with_notes(invents, rounding_ms),
        });
    }

    /// A line that belongs to no section: a command, or text to ignore.
    fn between(&mut self, line: TextLine<'_>, at: usize) {
        let line = line.whole();
        if let Some(command) = Command::read(line) {
            self.give_up();
            let warms_up = std::mem::take(&mut self.warms_up);
            self.pending = Some(PendingCommand { command, line: at, warms_up, last: None });
            return;
        }
        if WARM_UPS.iter().any(|name| line.trim_start().starts_with(name)) {
            self.give_up();
            self.warms_up = true;
            return;
        }
        if !line.trim().is_empty() {
            if let Some(pending) = &mut self.pending {
                pending.last = Some(line.trim().chars().take(200).collect());
            }
            self.found.ignore(at, line);
        }
    }

    /// A command that no output followed is a run that failed.
    fn give_up(&mut self) {
        let Some(PendingCommand { command, line, warms_up, last }) = self.pending.take() else { return };
        if warms_up {
            self.found.warm_ups += 1;
            return;
        }
        let reason = last.unwrap_or_else(|| "the tool printed nothing".to_owned());
        self.found.sections.push(FoundSection {
            tool: command.tool,
            printed: false,
            line: line + 1,
            concurrency: command.concurrency,
            url: command.url,
            figures: Figures::aborted(reason),
        });
    }
}

fn aborted(reason: String) -> ParsedSummary {
    ParsedSummary { figures: Figures::aborted(reason), ..ParsedSummary::default() }
}

/// Returns true if an object or a list of objects may begin on this line. Lines of logs begin with brackets too.
fn may_begin_json(line: &str) -> bool {
    line.starts_with('{') || line.starts_with("[{") || line.trim_end() == "["
}

/// Returns true if the JSON has a value at each of these places.
fn has_all(value: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| value.pointer(key).is_some())
}

/// Returns true if a text has the names on the way to the first of these places.
fn names_first(text: &str, keys: &[&str]) -> bool {
    let is_name = |name: &&str| name.parse::<usize>().is_err();
    let mut names = keys.first().into_iter().flat_map(|key| key.split('/').skip(1)).filter(is_name);
    names.all(|name| text.contains(&format!("\"{name}\"")))
}

/// Returns the number of bytes before a column of a line, both from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before = line.checked_sub(2).and_then(|line| memchr::memchr_iter(b'\n', text.as_bytes()).nth(line));
    (before.map_or(0, |end| end + 1) + column).min(text.len())
}

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
const MOST_SECTIONS: usize = 20_000;

impl FoundSections {
    /// Notes a line that belongs to no section, before which there are `at` others.
    fn ignore(&mut self, at: usize, line: &str) {
        self.ignored += 1;
        if self.first_ignored.is_none() {
            self.first_ignored = Some((at + 1, line.trim().chars().take(80).collect()));
        }
    }
}
