//! Walks through a text, section by section.

use serde_json::Value;

use super::super::point::Figures;
use super::super::tool::{JsonTool, TextTool};
use super::command::Command;
use super::found::{FoundSection, FoundSections, Told};
use super::section::Section;

/// How far into damaged JSON its first names are looked for, in bytes.
const NEAR: usize = 1 << 14;

/// The tools that are known.
pub(crate) struct Tools {
    pub(crate) text: &'static [&'static dyn TextTool],
    pub(crate) json: &'static [&'static dyn JsonTool],
}

/// A command that no output has followed so far.
struct Waiting {
    command: Command,
    line: usize,
    /// The last line that was seen since.
    last: Option<String>,
}

/// The state of a walk.
pub(crate) struct Walk<'a> {
    tools: &'a Tools,
    text: &'a str,
    lines: &'a [&'a str],
    /// Where each line begins in the text.
    starts: Vec<usize>,
    found: FoundSections,
    waiting: Option<Waiting>,
}

/// What begins on a line.
enum Begins {
    Text(&'static dyn TextTool),
    Json(&'static dyn JsonTool, Value, usize),
    CutJson(&'static dyn JsonTool, String),
    Nothing,
}

impl<'a> Walk<'a> {
    /// Finds the sections of a text, whose lines are given with their ends.
    pub(crate) fn over(tools: &'a Tools, text: &'a str, lines: &'a [&'a str]) -> FoundSections {
        let ends = lines.iter().scan(0, |end, line| {
            let start = *end;
            *end += line.len();
            Some(start)
        });
        let starts = ends.collect();
        let mut walk = Walk { tools, text, lines, starts, found: FoundSections::default(), waiting: None };
        let mut at = 0;
        while at < lines.len() {
            at += walk.step(at).max(1);
        }
        walk.give_up();
        walk.found
    }

    /// Reads what begins on a line; returns how many lines it has.
    fn step(&mut self, at: usize) -> usize {
        match self.begins(at) {
            Begins::Text(tool) => self.text(tool, at),
            Begins::Json(tool, value, lines) => {
                self.take(
                    tool.name(),
                    at,
                    tool.read(&value).unwrap_or_else(aborted),
                    tool.is_closed_loop(),
                    0.0,
                );
                lines
            }
            Begins::CutJson(tool, problem) => {
                let reason = format!("its JSON ends early or is damaged: {problem}");
                self.take(tool.name(), at, aborted(reason), false, 0.0);
                self.lines.len() - at
            }
            Begins::Nothing => {
                self.between(at);
                1
            }
        }
    }

    fn begins(&self, at: usize) -> Begins {
        if let Some(tool) = self.tools.text.iter().find(|tool| tool.begins(self.lines, at)) {
            return Begins::Text(*tool);
        }
        let line = self.lines.get(at).copied().unwrap_or_default().trim_start();
        if may_begin_json(line) { self.json(at) } else { Begins::Nothing }
    }

    fn json(&self, at: usize) -> Begins {
        let rest = self.starts.get(at).and_then(|start| self.text.get(*start..)).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let lines = rest.get(..values.byte_offset()).unwrap_or_default().matches('\n').count() + 1;
                let tool = self.tools.json.iter().find(|tool| has_all(&value, tool.keys()));
                tool.map_or(Begins::Nothing, |tool| Begins::Json(*tool, value, lines))
            }
            Some(Err(problem)) => {
                let tool = self.tools.json.iter().find(|tool| names_first(rest, tool.keys()));
                tool.map_or(Begins::Nothing, |tool| Begins::CutJson(*tool, problem.to_string()))
            }
            None => Begins::Nothing,
        }
    }

    /// Reads a section of lines, which ends where the next one or a command begins.
    fn text(&mut self, tool: &'static dyn TextTool, at: usize) -> usize {
        let is_next = |next: &usize| {
            let line = self.lines.get(*next).copied().unwrap_or_default();
            let begins = self.tools.text.iter().any(|tool| tool.begins(self.lines, *next));
            begins || Command::read(line).is_some() || is_known_json(self, *next)
        };
        let end = (at + 1..self.lines.len()).find(is_next).unwrap_or(self.lines.len());
        let section = Section::new(self.lines.get(at..end).unwrap_or_default());
        let told = tool.read(&section).unwrap_or_else(aborted);
        self.take(tool.name(), at, told, tool.is_closed_loop(), tool.rounding_ms());
        section.used()
    }

    fn take(&mut self, tool: &'static str, at: usize, told: Told, closed_loop: bool, rounding_ms: f64) {
        let before = self.waiting.take_if(|waiting| waiting.command.tool == tool);
        self.give_up();
        let told = told.completed(before.as_ref().map(|waiting| &waiting.command), closed_loop);
        let invents = if tool == "wrk" { ": wrk invents latencies to correct for late requests" } else { "" };
        self.found.sections.push(FoundSection {
            tool,
            printed: true,
            line: at + 1,
            concurrency: told.concurrency,
            url: told.url,
            figures: told.figures.with_notes(invents, rounding_ms),
        });
    }

    /// A line that belongs to no section: a command, or text to ignore.
    fn between(&mut self, at: usize) {
        let line = self.lines.get(at).copied().unwrap_or_default();
        if let Some(command) = Command::read(line) {
            self.give_up();
            self.waiting = Some(Waiting { command, line: at, last: None });
            return;
        }
        if !line.trim().is_empty() {
            if let Some(waiting) = &mut self.waiting {
                waiting.last = Some(line.trim().chars().take(200).collect());
            }
            self.found.ignore(at, &[line]);
        }
    }

    /// A command that no output followed is a run that failed.
    fn give_up(&mut self) {
        let Some(Waiting { command, line, last }) = self.waiting.take() else { return };
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

fn is_known_json(walk: &Walk<'_>, at: usize) -> bool {
    let line = walk.lines.get(at).copied().unwrap_or_default();
    may_begin_json(line) && !matches!(walk.json(at), Begins::Nothing)
}

fn aborted(reason: String) -> Told {
    Told { figures: Figures::aborted(reason), ..Told::default() }
}

/// Returns true if an object or a list of objects may begin on this line. Lines of logs begin with brackets too.
fn may_begin_json(line: &str) -> bool {
    line.starts_with('{') || line.starts_with("[{") || line.trim_end() == "["
}

/// Returns true if the JSON has a value at each of these places.
fn has_all(value: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| value.pointer(key).is_some())
}

/// Returns true if a text has, near its beginning, the names on the way to the first of these places.
fn names_first(text: &str, keys: &[&str]) -> bool {
    let near = text.floor_char_boundary(NEAR);
    let text = text.get(..near).unwrap_or_default();
    let is_name = |name: &&str| name.parse::<usize>().is_err();
    let mut names = keys.first().into_iter().flat_map(|key| key.split('/').skip(1)).filter(is_name);
    names.all(|name| text.contains(&format!("\"{name}\"")))
}
