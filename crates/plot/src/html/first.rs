//! The first screen: what was tested, when, how long and how much, verdicts, findings and the league.

use perfpipe_analyze::format::{decimals, lasting, one_line};
use perfpipe_analyze::table::Table;
use perfpipe_analyze::{Finding, Summary, Verdict};

use super::document::swatch;
use super::report::{Grouped, Report};
use super::table::{Beneath, TableLook};
use crate::output::svg::escaped;
use crate::pages::footer;
use crate::text::clock::{minutes, stamp, utc_minute};
use crate::text::number::{count, measured, percent, response};

/// The most findings of a run on the first screen of several runs, by kind and time; the runs have them in full.
const CHIPS: usize = 8;

/// Returns the heading, with what was chosen and the most important figures below it.
pub(super) fn head(title: &str, report: &Report<'_>, runs: &[Grouped<'_>]) -> String {
    let facts: String = facts(report, runs)
        .into_iter()
        .map(|fact| {
            format!("<div{}><dt>{}</dt><dd>{}</dd></div>\n", fact.class(), fact.name, escaped(&fact.value))
        })
        .collect();
    let chosen = chosen(runs);
    let chosen = match chosen.as_slice() {
        [] => String::new(),
        chosen => format!("<p class=\"chosen\"><b>Chosen:</b> {}</p>\n", escaped(&chosen.join("  ·  "))),
    };
    format!("<h1>{}</h1>\n{chosen}<dl class=\"facts\">\n{facts}</dl>\n", escaped(title))
}

/// Describes what was chosen of the runs, where that is not all.
fn chosen(runs: &[Grouped<'_>]) -> Vec<String> {
    let mut words = footer::chosen(runs.iter().map(|run| (&run.timeline.view, &run.timeline.info)));
    words.extend(runs.first().into_iter().flat_map(|run| footer::load(&run.timeline.view)));
    words
}

/// A figure with its name.
struct Fact {
    name: &'static str,
    value: String,
    failing: bool,
}

impl Fact {
    fn new(name: &'static str, value: String) -> Self {
        Self { name, value, failing: false }
    }

    fn class(&self) -> &'static str {
        if self.failing { " class=\"failing\"" } else { "" }
    }
}

/// Returns the figures of all runs combined.
fn facts(report: &Report<'_>, runs: &[Grouped<'_>]) -> Vec<Fact> {
    let frameworks = runs.iter().filter(|run| run.median).count();
    let mut facts = vec![Fact::new("Test", one_line(report.test))];
    match runs {
        [] => return facts,
        [run] => facts.push(Fact::new("Framework", one_line(&run.timeline.info.key.framework))),
        runs => facts.push(Fact::new(
            "Frameworks",
            if frameworks == runs.len() {
                count(frameworks as u64)
            } else {
                format!("{frameworks}, in {} runs", runs.len())
            },
        )),
    }
    facts.push(Fact::new("Started", started(runs)));
    facts.push(Fact::new("Duration", lasted(runs)));
    let sum = |of: fn(&Grouped<'_>) -> u64| runs.iter().map(of).fold(0, u64::saturating_add);
    let (requests, failures) =
        (sum(|run| run.timeline.summary.requests()), sum(|run| run.timeline.summary.failures));
    facts.push(Fact::new("Requests", count(requests)));
    facts.push(failed(failures, requests));
    let load = runs.iter().filter_map(|run| run.timeline.summary.load_max).reduce(f64::max);
    facts.extend(load.map(|load| Fact::new("Peak load", format!("{} threads", measured(load)))));
    match runs {
        [run] => facts.extend(of_one(&run.timeline.summary)),
        _ => facts.extend(best(report)),
    }
    facts
}

/// Returns how many requests failed, and their share.
fn failed(failures: u64, requests: u64) -> Fact {
    if failures == 0 {
        return Fact::new("Failures", "none".to_owned());
    }
    let share = failures as f64 / requests as f64;
    let value = format!("✗ {} ({})", count(failures), percent(share));
    Fact { name: "Failures", value, failing: true }
}

/// Returns the figures that only a single run has.
fn of_one(summary: &Summary) -> Vec<Fact> {
    let mut facts = vec![Fact::new("Throughput", format!("{}/s", measured(summary.throughput)))];
    let times = [("p50", summary.p50), ("p95", summary.p95), ("p99", summary.p99)];
    facts.extend(times.into_iter().filter_map(|(name, ms)| Some(Fact::new(name, response(ms?)))));
    facts.extend(summary.cpu_mean.map(|cpu| Fact::new("Mean CPU", format!("{} %", measured(cpu)))));
    facts
}

/// Names the frameworks that may have the first rank, or the fastest one if each may, with their throughput.
fn best(report: &Report<'_>) -> Option<Fact> {
    let league = report.league;
    let best = league.best();
    let (name, named) = match best.len() {
        0 => ("Highest throughput", league.fastest().into_iter().collect()),
        1 => ("Best", best),
        _ => ("May be best", best),
    };
    let named: Vec<String> = named
        .iter()
        .map(|one| format!("{} {}/s", one_line(&one.framework), measured(one.throughput)))
        .collect();
    (!named.is_empty()).then(|| Fact::new(name, named.join(", ")))
}

/// Says when the runs were started: the first and the last, if there are several.
fn started(runs: &[Grouped<'_>]) -> String {
    let starts = || runs.iter().map(|run| run.timeline.info.t0_ms);
    match (starts().min(), starts().max()) {
        (Some(first), Some(last)) if first / 60_000 != last / 60_000 => minutes(first, last),
        (Some(first), _) => utc_minute(first),
        _ => String::new(),
    }
}

/// Says how long the runs lasted.
fn lasted(runs: &[Grouped<'_>]) -> String {
    let seconds = || runs.iter().map(|run| run.timeline.duration.seconds);
    match (seconds().reduce(f64::min).map(lasting), seconds().reduce(f64::max).map(lasting)) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (Some(least), _) => least,
        _ => String::new(),
    }
}

/// Returns the contents: links to the sections and to the runs.
pub(super) fn contents(sections: &[(&str, &str)], runs: &[Grouped<'_>]) -> String {
    let section = |(id, name): &(&str, &str)| format!("<li><a href=\"#{id}\">{name}</a></li>\n");
    let sections: String = sections.iter().map(section).collect();
    let same = |a: &(usize, &Grouped<'_>), b: &(usize, &Grouped<'_>)| a.1.color == b.1.color;
    let numbered: Vec<(usize, &Grouped<'_>)> = runs.iter().enumerate().collect();
    let framework = |repeats: &[(usize, &Grouped<'_>)]| {
        let (at, first) = repeats.first()?;
        let failing = if first.failing { " <span class=\"failing\">✗ fails</span>" } else { "" };
        let name = escaped(&one_line(&first.timeline.info.key.framework));
        let link = |(at, run): &(usize, &Grouped<'_>)| {
            format!(" <a href=\"#run-{at}\">#{}</a>", run.timeline.info.key.repeat)
        };
        let repeats: String = if first.repeated { repeats.iter().map(link).collect() } else { String::new() };
        let target = if first.repeated { format!("framework-{}", first.color) } else { format!("run-{at}") };
        Some(format!("<li>{}<a href=\"#{target}\">{name}</a>{repeats}{failing}</li>\n", swatch(first.color)))
    };
    let frameworks: String = numbered.chunk_by(same).filter_map(framework).collect();
    format!(
        "<nav aria-label=\"Contents\">\n<ul>\n{sections}</ul>\n<ul class=\"frameworks\">\n{frameworks}</ul>\n</nav>\n"
    )
}

/// Returns the section of verdicts: the broken rules, and those that hold on demand; empty without rules.
pub(super) fn verdicts(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let (held, broken): (Vec<&Verdict>, Vec<&Verdict>) = verdicts.iter().partition(|verdict| verdict.holds);
    let mut section = "<section id=\"verdicts\">\n<h2>Rules</h2>\n".to_owned();
    let all = verdicts.len();
    if broken.is_empty() {
        section += &format!("<p class=\"holds\">✓ All {all} rules passed.</p>\n");
    } else {
        section += &format!("<p class=\"failing\">✗ {} of {all} rules failed.</p>\n", broken.len());
        section += &verdict_table(&broken);
    }
    if !held.is_empty() {
        let (number, table) = (held.len(), verdict_table(&held));
        section += &format!(
            "<details class=\"held\"><summary>✓ {number} of {all} passed</summary>\n{table}</details>\n"
        );
    }
    section + "</section>\n"
}

/// Returns a table of verdicts.
fn verdict_table(verdicts: &[&Verdict]) -> String {
    let figure = |verdict: &Verdict, value: Option<f64>| {
        value.map(|value| {
            format!("{} {}", decimals(value, verdict.decimals().into()), verdict.unit).trim().to_owned()
        })
    };
    let table = Table::of(verdicts)
        .column("verdict", |row| {
            Some(if row.holds { "✓ passed".to_owned() } else { "✗ failed".to_owned() })
        })
        .column("run", |row| Some(row.run.clone()))
        .column("rule", |row| Some(row.rule.clone()))
        .column("value", |row| figure(row, row.value))
        .column("limit", |row| figure(row, row.limit))
        .column("span", |row| row.span.map(|span| format!("{} to {}", span.first, span.last)))
        .title("seconds")
        .people_see(verdicts.iter().any(|row| row.span.is_some()))
        .column("note", |row| row.note.clone())
        .people_see(verdicts.iter().any(|row| row.note.is_some()))
        .done();
    let is_broken = |row: usize| verdicts.get(row).is_some_and(|verdict| !verdict.holds);
    let look = TableLook { row: &|row| if is_broken(row) { "broken" } else { "" }, ..TableLook::default() };
    look.table("verdicts", &table)
}

/// Returns the section of what stands out in the runs; empty if that is nothing.
pub(super) fn findings(runs: &[Grouped<'_>]) -> String {
    let found: Vec<(usize, &Grouped<'_>)> = runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.findings.iter().any(|finding| !finding.is_note()))
        .collect();
    let body = match (found.as_slice(), runs.len()) {
        ([], _) => return String::new(),
        ([(at, run)], 1) => in_full(*at, run),
        _ => {
            let row = |(at, run): &(usize, &Grouped<'_>)| {
                let found: Vec<&Finding> = run.findings.iter().filter(|finding| !finding.is_note()).collect();
                let chips: Vec<String> = found.iter().take(CHIPS).map(|finding| chip(*at, finding)).collect();
                let more = found.len().saturating_sub(CHIPS);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let name = escaped(&one_line(&run.name()));
                format!(
                    "<li>{}<a href=\"#run-{at}\">{name}</a>: {}{more}</li>\n",
                    swatch(run.color),
                    chips.join(" ")
                )
            };
            format!("<ul class=\"findings\">\n{}</ul>\n", found.iter().map(row).collect::<String>())
        }
    };
    format!("<section id=\"findings\">\n<h2>What stands out</h2>\n{body}</section>\n")
}

/// Returns a finding as a link to its seconds, with the rest as a tooltip.
fn chip(at: usize, finding: &Finding) -> String {
    let (kind, what) = (finding.kind.name(), escaped(&one_line(&finding.what)));
    format!(
        "<a class=\"chip\" href=\"#run-{at}\"{} title=\"{what}\">{kind} {}</a>",
        seconds(finding),
        span(finding)
    )
}

/// Returns the findings of a run as sentences with their evidence.
pub(super) fn in_full(at: usize, run: &Grouped<'_>) -> String {
    let item = |finding: &Finding| {
        let (kind, what) = (finding.kind.name(), escaped(&one_line(&finding.what)));
        let link = format!("<a href=\"#run-{at}\"{}>{}</a>", seconds(finding), span(finding));
        let evidence = escaped(&one_line(&finding.evidence));
        format!("<li><b>{kind}</b> {link} {what} <small>{evidence}</small></li>\n")
    };
    let items: String = run.findings.iter().map(item).collect();
    if items.is_empty() { String::new() } else { format!("<ul class=\"findings\">\n{items}</ul>\n") }
}

fn seconds(finding: &Finding) -> String {
    format!(" data-from=\"{}\" data-to=\"{}\"", finding.span.first, finding.span.last)
}

fn span(finding: &Finding) -> String {
    let (first, last) = (stamp(finding.span.first), stamp(finding.span.last));
    if first == last { first } else { format!("{first}–{last}") }
}

/// A name of a framework up to this many characters stays on one line.
const SHORT: usize = 32;

/// The range of the repeats' throughput, shown beneath the median.
const RANGE: [Beneath; 1] = [Beneath {
    column: "throughput",
    names: &["throughput_min", "throughput_max"],
    heading: "least – greatest",
    before: "",
}];

/// Returns the section of the league, with its notes. The frameworks are links to their runs.
pub(super) fn league(report: &Report<'_>, runs: &[Grouped<'_>]) -> String {
    let league = report.league;
    let standing = |row: usize| league.standings.get(row);
    let content = |column: &str, row: usize, text: String| {
        let Some(standing) = standing(row).filter(|_| column == "framework") else { return text };
        let mut own =
            runs.iter().enumerate().filter(|(_, run)| run.timeline.info.key.framework == standing.framework);
        let Some((at, run)) = own.next() else { return text };
        let target = if run.repeated { format!("framework-{}", run.color) } else { format!("run-{at}") };
        let failing = if run.failing { " <span class=\"failing\">✗ fails</span>" } else { "" };
        // A short name, such as host and port, is not broken into lines.
        let class = if standing.framework.chars().count() <= SHORT { " class=\"short\"" } else { "" };
        let name = format!("{}<a href=\"#{target}\">{text}</a>", swatch(run.color));
        format!("<span{class}>{name}</span>{failing}")
    };
    let table = TableLook { beneath: &RANGE, content: &content, ..TableLook::default() }
        .table("league", &league.table());
    let note = |note: &String| format!("<p>{}</p>\n", escaped(&one_line(note)));
    let notes: String = league.notes().iter().chain(&league.note_on_hold()).map(note).collect();
    format!("<section id=\"league\">\n<h2>League</h2>\n{table}{notes}</section>\n")
}
