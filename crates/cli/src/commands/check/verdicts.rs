//! The verdicts of a check: as sentences, as annotations of GitHub, and as JUnit's XML. A run that lacks what a rule is
//! about does not stop the others.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use perfpipe_analyze::format::{Unit, one_line};
use perfpipe_analyze::{Baseline, Error, Gate, Rule, RuleFigures, RuleOutcome, Verdict, View, check};
use perfpipe_ingest::StoredRun;
use quick_xml::Writer;
use quick_xml::events::BytesText;

/// The verdicts so far.
#[derive(Default)]
pub(super) struct Verdicts {
    all: Vec<Verdict>,
    /// The rules that could be checked in no run so far, each with the reason.
    unchecked: Vec<(Rule, Error)>,
    /// The rules that could be checked.
    checked: Vec<Rule>,
}

impl Verdicts {
    /// Checks a run, which is printed by this name, against all rules.
    ///
    /// # Errors
    /// Those of [`check`], but for a label or a phase that the run lacks, by which the rule is broken.
    pub(super) fn add(
        &mut self,
        rules: &[Rule],
        (run, name): (&StoredRun, &str),
        view: &View,
        baseline: Option<&Baseline>,
    ) -> Result<()> {
        let before = self.all.len();
        self.judge(rules, run, view, baseline)?;
        for verdict in self.all.iter_mut().skip(before) {
            name.clone_into(&mut verdict.run);
            if let (Some(_), Some(note)) = (verdict.long_failures, &mut verdict.note) {
                note.push_str("; --include-failures counts them");
            }
        }
        Ok(())
    }

    fn judge(
        &mut self,
        rules: &[Rule],
        run: &StoredRun,
        view: &View,
        baseline: Option<&Baseline>,
    ) -> Result<()> {
        match check(rules, run, view, baseline) {
            Ok(verdicts) => {
                self.all.extend(verdicts);
                self.checked.extend(rules.iter().cloned());
                return Ok(());
            }
            Err(error) if !is_lack(&error) => return Err(error.into()),
            Err(_) => {}
        }
        for rule in rules {
            match check(std::slice::from_ref(rule), run, view, baseline) {
                Ok(verdicts) => {
                    self.all.extend(verdicts);
                    self.checked.push(rule.clone());
                }
                Err(error) if is_lack(&error) => {
                    self.all.push(Verdict::unchecked(rule, &run.info.key, error.to_string()));
                    self.unchecked.push((rule.clone(), error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Measures a run for rules about chance, and returns those that it can be judged by. A rule on a label or a phase that the
    /// run lacks is broken.
    ///
    /// # Errors
    /// Those of [`RuleFigures::new`], but for such a lack.
    pub(super) fn measured(
        &mut self,
        rules: &[Rule],
        (run, name): (&StoredRun, &str),
        view: &View,
    ) -> Result<(Vec<Rule>, RuleFigures)> {
        let mut known = rules.to_vec();
        match RuleFigures::new(rules, run, view) {
            Ok(figures) => {
                self.checked.extend(rules.iter().cloned());
                return Ok((known, figures));
            }
            Err(error) if !is_lack(&error) => return Err(error.into()),
            Err(_) => known.clear(),
        }
        for rule in rules {
            match RuleFigures::new(std::slice::from_ref(rule), run, view) {
                Err(error) if is_lack(&error) => {
                    let mut verdict = Verdict::unchecked(rule, &run.info.key, error.to_string());
                    name.clone_into(&mut verdict.run);
                    self.all.push(verdict);
                    self.unchecked.push((rule.clone(), error));
                }
                Err(error) => return Err(error.into()),
                Ok(_) => known.push(rule.clone()),
            }
        }
        self.checked.extend(known.iter().cloned());
        let figures = RuleFigures::new(&known, run, view)?;
        Ok((known, figures))
    }

    /// Adds the verdicts on rules about chance, each beside others on its run.
    pub(super) fn decided(&mut self, gate: Gate) {
        for verdict in gate.verdicts() {
            let last = self.all.iter().rposition(|other| other.run == verdict.run);
            self.all.insert(last.map_or(self.all.len(), |last| last + 1), verdict);
        }
    }

    /// Returns all verdicts.
    ///
    /// # Errors
    /// If a rule could be checked in no run: it is rather misspelt than broken.
    pub(super) fn end(self) -> Result<Vec<Verdict>> {
        let Self { all, unchecked, checked } = self;
        match unchecked.into_iter().find(|(rule, _)| !checked.contains(rule)) {
            Some((_, error)) => Err(error.into()),
            None => Ok(all),
        }
    }
}

/// Returns true if an error says that a run lacks a label or a phase.
pub(crate) fn is_lack(error: &Error) -> bool {
    matches!(error, Error::UnknownLabel { .. } | Error::NoPhase { .. })
}

/// Describes a verdict in a sentence.
pub(crate) fn sentence(verdict: &Verdict) -> String {
    let round = 10f64.powi(verdict.decimals().max(3).into());
    let figure = |value: Option<f64>| {
        value.map(|value| format!("{}{}", (value * round).round() / round, unit(verdict)))
    };
    let found = figure(verdict.value).unwrap_or_else(|| "no value".into());
    let limit = figure(verdict.limit).map(|limit| format!(", limit {limit}"));
    let seconds = verdict.span.map(|span| format!(", in seconds {} to {}", span.first, span.last));
    let note = verdict.note.as_ref().map(|note| format!(": {note}"));
    let outcome = match verdict.outcome() {
        RuleOutcome::Unknown => "is unknown",
        outcome => outcome.name(),
    };
    let rest = [limit, seconds, note].into_iter().flatten().collect::<String>();
    format!("{} {outcome} in {}: {found}{rest}", verdict.rule, verdict.run)
}

fn unit(verdict: &Verdict) -> String {
    if verdict.unit == Unit::None { String::new() } else { format!(" {}", verdict.unit) }
}

/// Returns true if a rule may have passed for want of data.
fn is_doubtful(verdict: &Verdict) -> bool {
    verdict.unknown || verdict.lacks_baseline
}

/// The environment variable with the path of the job's summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Writes annotations to standard error, where GitHub recognises them too.
pub(super) fn write_annotations(verdicts: &[Verdict]) -> Result<()> {
    let mut text = String::new();
    for verdict in verdicts.iter().filter(|verdict| !verdict.holds || is_doubtful(verdict)) {
        let level = if verdict.holds { "warning" } else { "error" };
        let title = property(&format!("perfpipe: {}", verdict.run));
        text.push_str(&format!("::{level} title={title}::{}\n", data(&sentence(verdict))));
    }
    std::io::stderr().write_all(text.as_bytes())?;
    Ok(())
}

/// Appends Markdown to the summary of the job, if there is one.
pub(super) fn append_to_summary(text: &str) -> Result<()> {
    let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()).map(PathBuf::from) else {
        return Ok(());
    };
    let file = OpenOptions::new().append(true).create(true).open(&path);
    file.and_then(|mut file| file.write_all(format!("\n{text}").as_bytes()))
        .with_context(|| format!("can't write {}", path.display()))
}

/// Escapes a message for a workflow command.
fn data(text: &str) -> String {
    one_line(text).replace('%', "%25")
}

/// Escapes a property's value for a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Returns the whole document.
pub(super) fn junit_document(verdicts: &[Verdict]) -> Result<Vec<u8>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer
        .create_element("testsuites")
        .with_attributes(counts("perfpipe", verdicts).iter().map(|(name, value)| (*name, &**value)))
        .write_inner_content(|writer| {
            verdicts.chunk_by(|a, b| a.run == b.run).try_for_each(|run| suite(writer, run))
        })?;
    let mut document = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_vec();
    document.extend(writer.into_inner());
    document.push(b'\n');
    Ok(document)
}

fn suite(writer: &mut Writer<Vec<u8>>, verdicts: &[Verdict]) -> std::io::Result<()> {
    let run = verdicts.first().map(|verdict| text(&verdict.run)).unwrap_or_default();
    writer
        .create_element("testsuite")
        .with_attributes(counts(&run, verdicts).iter().map(|(name, value)| (*name, &**value)))
        .write_inner_content(|writer| verdicts.iter().try_for_each(|verdict| case(writer, verdict)))?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, verdict: &Verdict) -> std::io::Result<()> {
    let (run, rule) = (text(&verdict.run), text(&verdict.rule));
    let element = writer.create_element("testcase").with_attributes([("classname", &*run), ("name", &*rule)]);
    if verdict.holds && !is_doubtful(verdict) {
        element.write_empty()?;
        return Ok(());
    }
    if verdict.holds {
        let said = text(&sentence(verdict));
        element.write_inner_content(|writer| {
            writer.create_element("system-out").write_text_content(BytesText::new(&said))?;
            Ok(())
        })?;
        return Ok(());
    }
    element.write_inner_content(|writer| {
        let message = text(&sentence(verdict));
        writer
            .create_element("failure")
            .with_attributes([("type", "rule"), ("message", &*message)])
            .write_empty()?;
        Ok(())
    })?;
    Ok(())
}

fn counts(name: &str, verdicts: &[Verdict]) -> [(&'static str, String); 3] {
    let broken = verdicts.iter().filter(|verdict| !verdict.holds).count();
    [("name", name.to_owned()), ("tests", verdicts.len().to_string()), ("failures", broken.to_string())]
}

/// Removes characters that XML can't contain.
fn text(text: &str) -> String {
    one_line(text).chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}
