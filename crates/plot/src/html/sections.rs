//! The sections of the report: all frameworks, and each run with its charts, failures and labels.

use perfpipe_analyze::breakdown::{Details, ErrorKind, LabelStats};
use perfpipe_analyze::format::{lasting, one_line};
use perfpipe_analyze::table::Table;
use perfpipe_analyze::{Finding, Phase, Span, Summary, Sweep, Timeline};

use super::data::averaged;
use super::document::{sheet, swatch};
use super::report::Grouped;
use super::site::{ERRORS, label_list};
use super::table::{Beneath, TableLook, heading, times};
use crate::html::first;
use crate::output::page::Page;
use crate::output::svg::escaped;
use crate::pages::{footer, sweep};
use crate::style::Style;
use crate::text::clock::utc_minute;
use crate::text::number::{count, measured, percent};

/// Returns the section of all frameworks, with an element for the charts.
pub(super) fn all_frameworks(page: &Page) -> String {
    format!(
        "<section id=\"all\">\n<h2>{}</h2>\n<div class=\"interactive\" id=\"compare\"></div>\n{}</section>\n",
        escaped(page.title()),
        sheet(page, "Page as printed", "lying")
    )
}

/// Returns the sections of all runs, grouped by framework.
pub(super) fn runs(runs: &[Grouped<'_>], style: &Style) -> String {
    let mut all = String::new();
    let numbered: Vec<(usize, &Grouped<'_>)> = runs.iter().enumerate().collect();
    for repeats in numbered.chunk_by(|a, b| a.1.color == b.1.color) {
        let Some((_, first)) = repeats.first() else { continue };
        if first.repeated {
            let name = escaped(&one_line(&first.timeline.info.key.framework));
            let failing = if first.failing { " <span class=\"failing\">✗ fails</span>" } else { "" };
            all += &format!(
                "<section id=\"framework-{}\">\n<h2>{}{name}{failing}</h2>\n",
                first.color,
                swatch(first.color)
            );
        }
        for (at, run) in repeats {
            all += &section(*at, run, style, runs.len() == 1);
        }
        if first.repeated {
            all += "</section>\n";
        }
    }
    all
}

/// Returns the section of a run.
fn section(at: usize, run: &Grouped<'_>, style: &Style, alone: bool) -> String {
    let Grouped { timeline, details, .. } = run;
    let title = escaped(&one_line(&run.title()));
    let level = if run.repeated { 3 } else { 2 };
    let median = if run.repeated && run.median { " <small>median repeat</small>" } else { "" };
    let mark = if run.repeated { String::new() } else { swatch(run.color) };
    let mut section =
        format!("<section class=\"run\" id=\"run-{at}\">\n<h{level}>{mark}{title}{median}</h{level}>\n");
    if !alone {
        section += &format!("<p class=\"figures\">{}</p>\n", escaped(&facts(run).join("  ·  ")));
    }
    for figures in footer::figures(timeline) {
        section += &format!("<p class=\"figures\">{}</p>\n", escaped(&figures.join("  ·  ")));
    }
    for damage in footer::damage(&timeline.info) {
        section += &format!("<p class=\"failing\">{}</p>\n", escaped(&damage));
    }
    if !alone || run.findings.iter().all(Finding::is_note) {
        section += &first::in_full(at, run);
    }
    section += &format!("<div class=\"interactive\" id=\"live-{at}\"></div>\n");
    // Pages follow each other, so that no table between them takes a sheet of paper alone.
    section += &sheet(&Page::run(timeline, style), "Page as printed", "upright");
    let sweep = details.by_load();
    if let Some(sweep) = sweep {
        section += &sheet(&Page::sweep(sweep, style), "Page by load as printed", "upright");
    }
    section += &phases(&title, &details.phases, timeline);
    section += &sweep.map(|sweep| by_load(at, &title, sweep)).unwrap_or_default();
    section += &failures(at, &title, &details.errors, &timeline.summary);
    section += &tables(&title, timeline, details);
    section += "</section>\n";
    section
}

/// Returns when and how long a run was, and how much was requested.
fn facts(run: &Grouped<'_>) -> Vec<String> {
    let (info, summary) = (&run.timeline.info, &run.timeline.summary);
    let mut facts = vec![
        format!("started {}", utc_minute(info.t0_ms)),
        format!("duration {}", lasting(run.timeline.duration.seconds)),
        format!("{} requests", count(summary.requests())),
        format!("{} failures", count(summary.failures)),
    ];
    facts.extend(summary.load_max.map(|load| format!("peak load {} threads", measured(load))));
    facts
}

/// Returns the table of phases, with what they are; empty without phases.
fn phases(title: &str, phases: &[(Phase, Span, Summary)], timeline: &Timeline) -> String {
    if phases.is_empty() {
        return String::new();
    }
    let all = phases.iter().map(|(phase, span, summary)| (phase.name(), Some(*span), summary));
    let rows: Vec<(&str, Option<Span>, &Summary)> =
        std::iter::once(("whole", None, &timeline.summary)).chain(all).collect();
    let table = Table::of(&rows)
        .counted_in(timeline.info.resolution)
        .column("phase", |row| Some(row.0.to_owned()))
        .column("span", |row| row.1.map(|span| format!("{} to {}", span.first, span.last)))
        .title("seconds")
        .column("requests", |row| Some(row.2.requests()))
        .column("throughput", |row| Some(row.2.throughput))
        .unit("1/s", 1)
        .column("failures_percent", |row| row.2.failure_share().map(|share| share * 100.0))
        .title("failures")
        .unit("%", 2);
    let table = times(table, |row| [row.2.elapsed_mean, row.2.p50, row.2.p95, row.2.p99])
        .column("cpu_mean", |row| row.2.cpu_mean)
        .title("mean CPU")
        .unit("%", 1)
        .column("load_max", |row| row.2.load_max)
        .unit("", 1)
        .done();
    let note = "<p>Hold: the load is level. Ramp: before it. Tail: after it.</p>\n";
    format!(
        "<div class=\"phases\">\n{}{}{note}</div>\n",
        heading(title, "Phases"),
        TableLook::default().table("", &table)
    )
}

/// Returns the part of a run by load: charts, and a table with a row for each load.
fn by_load(at: usize, title: &str, sweep: &Sweep) -> String {
    let mut part = heading(title, "By load");
    part += &format!("<p>{}</p>\n", escaped(&sweep::figures(sweep).join("  ·  ")));
    part += &format!("<div class=\"interactive\" id=\"load-{at}\"></div>\n");
    let knee = sweep.knee.map(|knee| knee.step);
    let look = TableLook {
        beneath: &STEPS,
        without: &["failure_share", "knee"],
        row: &|row| if Some(row) == knee { "knee-row" } else { "" },
        content: &|column, row, text| {
            if column == "load" && Some(row) == knee { format!("<b>knee</b> {text}") } else { text }
        },
        ..TableLook::default()
    };
    part + &look.table("loads", &sweep.table())
}

/// The columns shown beneath the figures of a load step.
const STEPS: [Beneath; 2] = [
    Beneath { column: "load", names: &["load_min", "load_max"], heading: "least – greatest", before: "" },
    Beneath {
        column: "throughput",
        names: &["throughput_sd"],
        heading: "± standard deviation",
        before: "± ",
    },
];

/// Returns the failures: an element for their chart by label and code over time, and the table by response code and
/// message, with their labels.
fn failures(at: usize, title: &str, errors: &[ErrorKind], summary: &Summary) -> String {
    let mut part = heading(title, "Failures by response code and message");
    let Some(share) = summary.failure_share().filter(|_| !errors.is_empty()) else {
        return part + "<p>None.</p>\n";
    };
    part += &format!(
        "<p class=\"failing\">✗ {} of {} requests failed: {}</p>\n",
        count(summary.failures),
        count(summary.requests()),
        percent(share)
    );
    part += &format!("<div class=\"interactive\" id=\"failing-{at}\"></div>\n");
    let shown = errors.get(..ERRORS).unwrap_or(errors);
    let requests = summary.requests().max(1) as f64;
    let table = Table::of(shown)
        .column("response_code", |row| Some(row.response_code.clone()))
        .column("message", |row| Some(row.message.clone()))
        .column("labels", |row| Some(label_list(&row.labels)))
        .column("count", |row| Some(row.count))
        .column("share", |row| Some(row.count as f64 / requests * 100.0))
        .title("of all requests")
        .unit("%", 2)
        .column("first", |row| Some(u64::from(row.first)))
        .unit("s", 0)
        .column("last", |row| Some(u64::from(row.last)))
        .unit("s", 0)
        .done();
    part += &TableLook::default().table("failures", &table);
    if errors.len() > shown.len() {
        part += &format!("<p>and {} other kinds</p>\n", errors.len() - shown.len());
    }
    part
}

/// Returns the two tables of the labels of a run.
fn tables(title: &str, timeline: &Timeline, details: &Details) -> String {
    let mut rows: Vec<LabelStats> = details.labels.clone();
    let total = rows.len() > 1;
    if total {
        let mut all = details.total.clone();
        all.label = "All labels".to_owned();
        rows.push(all);
    }
    let duration = timeline.summary.duration;
    requests(title, &rows, total, duration) + &network(title, &rows, total, timeline)
}

/// Returns the table of requests, failures and times.
fn requests(title: &str, rows: &[LabelStats], total: bool, duration: f64) -> String {
    let requests = |row: &LabelStats| row.successes.saturating_add(row.failures);
    let failed =
        |row: &LabelStats| (requests(row) > 0).then(|| row.failures as f64 / requests(row) as f64 * 100.0);
    let table = Table::of(rows)
        .counted_in(rows.first().map(|row| row.resolution).unwrap_or_default())
        .column("label", |row| Some(row.label.clone()))
        .column("requests", |row| Some(requests(row)))
        .column("throughput", |row| (duration > 0.0).then(|| row.successes as f64 / duration))
        .unit("1/s", 2)
        .column("failures", |row| Some(row.failures))
        .column("failures_percent", failed)
        .title("failures")
        .unit("%", 2);
    let table = times(table, |row| [row.elapsed_mean, row.p50, row.p95, row.p99]).done();
    let fails = |row: usize| rows.get(row).is_some_and(|row| row.failures > 0);
    let content = |column: &str, row: usize, text: String| {
        if column == "failures_percent" && fails(row) {
            format!("<span class=\"failing\">{text}</span>")
        } else {
            text
        }
    };
    heading(title, "Labels")
        + &TableLook { total, content: &content, ..TableLook::default() }.table("labels", &table)
}

/// Returns the table of the spread of times, of waits and of bytes per second. Columns that the log does not record are
/// left out, and named below it.
fn network(title: &str, rows: &[LabelStats], total: bool, timeline: &Timeline) -> String {
    let duration = timeline.summary.duration;
    // In kB, which are 1000 bytes, as everywhere.
    let rate =
        |bytes: Option<i64>| bytes.filter(|_| duration > 0.0).map(|bytes| bytes as f64 / 1000.0 / duration);
    let recorded = |of: fn(&LabelStats) -> bool| rows.iter().any(of);
    let latency = recorded(|row| row.latency_mean.is_some());
    let connect = recorded(|row| row.connect_mean.is_some());
    let received = recorded(|row| row.bytes.is_some());
    let sent = recorded(|row| row.sent_bytes.is_some());
    let table = Table::of(rows)
        .counted_in(timeline.info.resolution)
        .column("label", |row| Some(row.label.clone()))
        .time("min", |row| row.elapsed_min)
        .time("max", |row| row.elapsed_max)
        .column("sd", |row| row.elapsed_sd)
        .title("standard deviation")
        .unit("ms", 1)
        .column("p90", |row| row.p90)
        .unit("ms", 1)
        .column("latency", |row| row.latency_mean)
        .title("mean latency")
        .unit("ms", 1)
        .people_see(latency)
        .column("connect", |row| row.connect_mean)
        .title("mean connect")
        .unit("ms", 2)
        .people_see(connect)
        .column("received", |row| rate(row.bytes))
        .unit("kB/s", 2)
        .people_see(received)
        .column("sent", |row| rate(row.sent_bytes))
        .unit("kB/s", 2)
        .people_see(sent)
        .done();
    let columns = [("latency", latency), ("connect", connect), ("received", received), ("sent", sent)];
    let missing: Vec<&str> = columns.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect();
    let missing = match missing.as_slice() {
        [] => String::new(),
        names => format!(" Not in the log, or 0 throughout: {}.", names.join(", ")),
    };
    format!(
        "<div class=\"spread\">\n{}{}<p>All of {}. Latency is the time to the first byte; 1 kB is 1000 bytes.{missing}</p>\n</div>\n",
        heading(title, "Labels: spread, latency and network"),
        TableLook { total, ..TableLook::default() }.table("labels", &table),
        averaged(timeline)
    )
}
