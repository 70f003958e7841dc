//! The data of a site, one page over a whole store: scripts that hand their data to the page. A page that is opened from a
//! folder may load neighbouring scripts, but no other files.
//!
//! The formats are those of `app/src/types.ts`, which says what each field is.

use std::collections::BTreeMap;

use perfpipe_analyze::breakdown::{Details, ErrorKind, LabelStats};
use perfpipe_analyze::format::{decimals, lasting, one_line};
use perfpipe_analyze::{Finding, League, RunFigures, Span, Timeline, Verdict, View};
use perfpipe_model::{RunInfo, RunKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::data::{DetailData, HtmlPart, SeriesData, deflated, deflated_bytes, inflated_bytes};
use super::site_test::{SiteTestFiles, site_test};
use crate::error::{Error, Result};
use crate::output::drawing::TextLine;
use crate::output::svg::escaped;
use crate::pages::footer;
use crate::style::{ColorBy, Style, Times};
use crate::text::clock::{RunClock, utc_minute};
use crate::text::number::{count, measured, percent};
use crate::time_columns;

/// The version of the formats. A page reads all up to its own.
pub(super) const FORMAT: u32 = 2;

/// The most findings that stand with a run in the list of all.
const FINDINGS: usize = 3;

/// The most letters of a run's name in the names of its file.
const NAMED: usize = 40;

/// The most columns of a run in small.
const SPARK: u32 = 40;

/// The number of bytes of a digest in a name.
const DIGEST: usize = 6;

/// The largest number of kinds of failures listed for a run.
pub(super) const ERRORS: usize = 200;

/// The most labels that are named for a kind of failure.
const LABELS: usize = 3;

/// The page of a site, without the runs for readers without scripts.
pub(super) const PAGE: &str = include_str!("../../app/dist/index.html");

/// Where these are to stand.
pub(super) const RUNS: &str = "<!-- runs -->\n";

/// What the page loads beside the runs: names of files, each with its text.
pub const SITE_FILES: [(&str, &str); 3] = [
    ("app.js", include_str!("../../app/dist/app.js")),
    ("app.css", include_str!("../../app/dist/app.css")),
    ("engine.js", include_str!("../../app/dist/engine.js")),
];

/// Returns the content security policy of the page, which a server repeats as a header.
pub fn site_policy() -> &'static str {
    let policy =
        PAGE.split_once("\"Content-Security-Policy\" content=\"").and_then(|(_, rest)| rest.split_once('"'));
    // Without one, nothing is allowed.
    policy.map_or("default-src 'none'", |(policy, _)| policy)
}

/// A run that is shown.
#[derive(Debug, Clone, Copy)]
pub struct ReportRun<'a> {
    /// The seconds of the run.
    pub timeline: &'a Timeline,
    /// The details, of the same view.
    pub details: &'a Details,
    /// What stands out in the run.
    pub findings: &'a [Finding],
    /// The verdicts of the rules that it was checked against; empty without rules.
    pub verdicts: &'a [Verdict],
}

/// All runs of a store with the figures by which they are found and ranked: the file `runs.js`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteIndex {
    format: u32,
    version: String,
    /// The name of the store.
    pub name: String,
    /// The address of a version's own page, with `{}` for its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_url: Option<String>,
    /// The link of what is shown first, if that is not the list of all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    frameworks: Vec<FrameworkSlot>,
    tests: Vec<SiteTest>,
    runs: Vec<SiteRun>,
    /// The number of points of sweeps, which have no page.
    #[serde(default, skip_serializing_if = "is_none")]
    points: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    served: Option<Served>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(points: &u64) -> bool {
    *points == 0
}

/// The state of a list that a server shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Served {
    /// The number of the list.
    list: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<ServedRun>,
}

/// A run that grows while it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ServedRun {
    /// Its name in links.
    run: String,
    /// The number of the state that its file has.
    state: u64,
}

/// The run of a test that is running, as it is in a state. In links its name is `live`, whatever it will be once the run is
/// stored.
#[derive(Debug, Clone)]
pub struct LiveRun {
    /// The test, in case that the store has no other run of it.
    test: SiteTest,
    row: SiteRun,
    state: u64,
}

/// The name of a running test's run in links.
const LIVE: &str = "live";

impl LiveRun {
    /// Describes the run in a state, and writes the files of the state: their names and texts. In the list of all runs it
    /// neither passes nor fails before its end, and nothing is compared with it. `league` is that of the run alone.
    ///
    /// # Errors
    /// [`crate::Error::Html`] if the data can't be written.
    pub fn new(run: &ReportRun<'_>, league: &League, state: u64) -> Result<(Self, Vec<(String, String)>)> {
        let timelines = std::slice::from_ref(run.timeline);
        let SiteTestFiles { mut test, files } = site_test(league, timelines, &[], "")?;
        test.file = format!("tests/{LIVE}.js");
        let listed = ReportRun { verdicts: &[], ..*run };
        // Its number is known once it is stored.
        let row = SiteRun {
            id: LIVE.to_owned(),
            repeat: 0,
            ..SiteRun::new(&listed, format!("runs/{LIVE}-{state}.js"))
        };
        // The line of the run in the list stands before the run's own data.
        let own = format!("perfpipe.live({}{END}", json(&row)?.replace(PLAIN, COMPUTED));
        let script = own + &named_run_script(LIVE, run, &[], &Style::default())?;
        let of_test = files.into_iter().next().map(|(_, text)| (test.file.clone(), text));
        let files = [(row.file.clone(), script)].into_iter().chain(of_test).collect();
        Ok((Self { test, row, state }, files))
    }

    /// The number of the state.
    pub fn state(&self) -> u64 {
        self.state
    }
}

/// A framework's place among the colours, markers and dashes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FrameworkSlot {
    name: String,
    slot: usize,
}

/// A test in the list of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteTest {
    /// Its name in links.
    pub(super) id: String,
    /// Its file within the site.
    pub file: String,
    /// Its name.
    pub name: String,
    /// What makes runs one version in its trend.
    pub by: String,
    /// The file of its trend, if a framework has several versions.
    pub trend: Option<String>,
}

/// A run in the list of all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteRun {
    /// Its name in links.
    id: String,
    /// Its file within the site. Another version of the run has another file, so that nobody reads half of each.
    pub file: String,
    framework: String,
    test: String,
    repeat: u32,
    t0: i64,
    duration: f64,
    requests: u64,
    failures: u64,
    throughput: f64,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    cpu: Option<f64>,
    load: Option<f64>,
    tool: String,
    tags: BTreeMap<String, String>,
    partial: bool,
    /// What was chosen of the run and how it is counted, where that is not all of it as it was stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    chosen: Vec<String>,
    verdict: Option<SiteVerdict>,
    findings: Vec<ShortFinding>,
    spark: Spark,
}

/// Successes a second over time, in at most [`SPARK`] columns of equal width. A second that is cut short is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Spark {
    /// In whole percent of the greatest.
    heights: Vec<u8>,
    /// The columns with failures.
    failed: Vec<usize>,
}

impl Spark {
    fn of(timeline: &Timeline) -> Self {
        let (first, end) = time_columns::span(timeline);
        let end = time_columns::cut(timeline).map_or(end, |cut| cut.min(end)).max(first + 1);
        let width = (end - first).div_ceil(SPARK);
        let columns = (end - first).div_ceil(width);
        let mut sums = vec![(0_u64, 0_u64); columns as usize];
        for second in timeline.seconds.iter().filter(|second| second.second < end) {
            if let Some(sum) = sums.get_mut(((second.second - first) / width) as usize) {
                *sum = (sum.0 + second.successes, sum.1 + second.failures);
            }
        }
        let length = |at: u32| f64::from((end - first - at * width).min(width));
        let rates: Vec<f64> = (0..).zip(&sums).map(|(at, sum)| sum.0 as f64 / length(at)).collect();
        let most = rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        Self {
            heights: rates.iter().map(|rate| (100.0 * rate / most).round() as u8).collect(),
            failed: (0..).zip(&sums).filter(|(_, sum)| sum.1 > 0).map(|(at, _)| at).collect(),
        }
    }
}

/// How many rules passed and failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SiteVerdict {
    passed: usize,
    failed: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ShortFinding {
    kind: String,
    what: String,
}

impl SiteIndex {
    /// Lists tests and runs, given the site as it was: frameworks keep their places, and new ones get the next; the address of
    /// versions' pages stays.
    pub fn new(
        name: impl Into<String>,
        tests: Vec<SiteTest>,
        mut runs: Vec<SiteRun>,
        before: Option<&Self>,
    ) -> Self {
        let mut frameworks = before.map(|before| before.frameworks.clone()).unwrap_or_default();
        runs.sort_by(|a, b| (a.t0, &a.id).cmp(&(b.t0, &b.id)));
        for run in &runs {
            if !frameworks.iter().any(|slot| slot.name == run.framework) {
                let slot = frameworks.iter().map(|slot| slot.slot.saturating_add(1)).max().unwrap_or(0);
                frameworks.push(FrameworkSlot { name: run.framework.clone(), slot });
            }
        }
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self {
            format: FORMAT,
            version,
            name: name.into(),
            version_url: before.and_then(|before| before.version_url.clone()),
            start: None,
            frameworks,
            tests,
            runs,
            points: 0,
            served: None,
        }
    }

    /// Notes how many points of sweeps the store has beside its runs.
    #[must_use]
    pub fn with_points(self, points: u64) -> Self {
        Self { points, ..self }
    }

    /// Shows a test or a run first: the only run, or the only test of several.
    #[must_use]
    pub(super) fn starting(mut self) -> Self {
        self.start = match (self.runs.as_slice(), self.tests.as_slice()) {
            ([run], _) => Some(format!("#/run/{}", run.id)),
            (_, [test]) => Some(format!("#/test/{}", test.id)),
            _ => None,
        };
        self
    }

    /// Returns the list as a server shows it, with the run of a test that is running, if there is one. The page then follows
    /// `/events`, a stream of server-sent events. At an event `list`, whose data is the number of another list, it loads
    /// `runs.js` again; at an event `live`, whose data is the number of another state of the run, it loads the file of the
    /// run by that number. The data of an event `stored` is the name of the stored run in links, and that of an event
    /// `ended` the sentence by which the page announces the end of the test.
    #[must_use]
    pub fn served(&self, list: u64, live: Option<&LiveRun>) -> Self {
        let mut index = self.clone();
        let mut run = None;
        if let Some(LiveRun { test, row, state }) = live {
            let (mut tests, mut runs) = (index.tests, index.runs);
            if !tests.iter().any(|known| known.id == test.id) {
                tests.push(test.clone());
            }
            runs.push(row.clone());
            index = Self::new(index.name, tests, runs, Some(self)).with_points(self.points);
            index.start = Some(format!("#/run/{}", row.id));
            run = Some(ServedRun { run: row.id.clone(), state: *state });
        }
        Self { served: Some(Served { list, live: run }), ..index }
    }

    /// An empty list with the name of a store.
    pub fn empty(name: impl Into<String>) -> Self {
        Self::new(name, Vec::new(), Vec::new(), None)
    }

    /// Returns the name in links of a run that is in the list.
    pub fn link_of(&self, key: &RunKey) -> Option<&str> {
        self.runs.iter().find(|run| run.key() == *key).map(|run| run.id.as_str())
    }

    /// The runs, ascending by their begin.
    pub fn runs(&self) -> &[SiteRun] {
        &self.runs
    }

    /// The tests.
    pub fn tests(&self) -> &[SiteTest] {
        &self.tests
    }

    /// Writes the file `runs.js`.
    ///
    /// # Errors
    /// [`crate::Error::Html`] if the data can't be written.
    pub fn script(&self) -> Result<String> {
        // Such a key of a tag would be taken as the object's own.
        Ok(format!("{INDEX}{}{END}", json(self)?.replace(PLAIN, COMPUTED)))
    }

    /// Writes the file `index.html`: the page, with a table of the runs for readers without scripts, newest first.
    pub fn page(&self) -> String {
        PAGE.replace(RUNS, &self.table())
    }

    /// Writes the table of the runs.
    pub(super) fn table(&self) -> String {
        let mut table =
            "<table>\n<tr><th>Run<th>Started<th>Duration<th>Requests<th>Successes a second<th>p95, ms<th>Failures\n"
                .to_owned();
        for run in self.runs.iter().rev() {
            let cells = [
                run.title(),
                utc_minute(run.t0),
                lasting(run.duration),
                count(run.requests),
                measured(run.throughput),
                run.p95.map_or_else(String::new, measured),
                count(run.failures),
            ];
            let cells: String =
                cells.iter().map(|cell| format!("<td>{}", escaped(&one_line(cell)))).collect();
            table += &format!("<tr>{cells}\n");
        }
        table + "</table>\n"
    }

    /// Reads a file that [`SiteIndex::script`] wrote; `None` if it is another one, or of another version of the formats.
    pub fn parse(script: &str) -> Option<Self> {
        let json = script.strip_prefix(INDEX)?.strip_suffix(END)?;
        serde_json::from_str(&json.replace(COMPUTED, PLAIN))
            .ok()
            .filter(|index: &Self| index.format == FORMAT)
    }
}

/// A key that scripts read otherwise than JSON, and how they read it as a key. Within texts its quotes are escaped.
const PLAIN: &str = "\"__proto__\":";
const COMPUTED: &str = "[\"__proto__\"]:";

/// What stands around the data of the list of all runs.
const INDEX: &str = "perfpipe.store(";
pub(super) const END: &str = ");\n";

impl SiteRun {
    /// Describes a run for the list of all, with its file.
    pub fn new(run: &ReportRun<'_>, file: String) -> Self {
        let ReportRun { timeline: Timeline { info, summary, view, .. }, verdicts, .. } = run;
        let mut findings: Vec<&Finding> = run.findings.iter().filter(|finding| !finding.is_note()).collect();
        // Of one kind, the most harmful one stands for the others where few are shown.
        let place = |finding: &Finding| run.findings.iter().position(|other| other.kind == finding.kind);
        findings.sort_by(|a, b| place(a).cmp(&place(b)).then(b.cost().total_cmp(&a.cost())));
        let failed = verdicts.iter().filter(|verdict| !verdict.holds).count();
        Self {
            id: run_id(&info.key),
            file,
            framework: info.key.framework.clone(),
            test: info.key.test.clone(),
            repeat: info.key.repeat,
            t0: info.t0_ms,
            duration: summary.duration,
            requests: summary.requests(),
            failures: summary.failures,
            throughput: summary.throughput,
            p50: summary.p50,
            p95: summary.p95,
            p99: summary.p99,
            cpu: summary.cpu_mean,
            load: summary.load_max,
            tool: info.tool(),
            tags: info.options.tags.clone(),
            partial: info.is_partial(),
            chosen: chosen(view, info),
            verdict: (!verdicts.is_empty()).then(|| SiteVerdict { passed: verdicts.len() - failed, failed }),
            findings: findings
                .into_iter()
                .take(FINDINGS)
                .map(|finding| ShortFinding {
                    kind: finding.kind.name().to_owned(),
                    what: one_line(&finding.what),
                })
                .collect(),
            spark: Spark::of(run.timeline),
        }
    }

    /// The title of the run.
    pub(super) fn title(&self) -> String {
        format!("{} {} #{}", self.framework, self.test, self.repeat)
    }

    /// The key of the run.
    pub fn key(&self) -> RunKey {
        RunKey::new(&self.framework, &self.test).with_repeat(self.repeat)
    }
}

/// Says what was chosen of a run and how it is counted, where that is not all of it as it was stored.
fn chosen(view: &View, info: &RunInfo) -> Vec<String> {
    // In a list, the words on the load begin no sentence.
    let load = footer::load(view).map(|words| words.replacen("Load", "load", 1));
    footer::chosen([(view, info)]).into_iter().chain(load).map(|words| one_line(&words)).collect()
}

/// Returns the file of a run within a site. It is another one where what the store knows of the run is, its sources included,
/// as after a replacement or where readings were attached; and where the rules are.
pub fn run_file(info: &RunInfo, rules: &str) -> String {
    let row = serde_json::to_string(info).unwrap_or_default();
    let version = hex_digest(&[FORMAT.to_string().as_str(), env!("CARGO_PKG_VERSION"), &row, rules]);
    format!("runs/{}-{version}.js", run_id(&info.key))
}

/// Returns the name of a run in links: letters of its name, for people, and a digest, so that no two are the same on any file
/// system.
pub(super) fn run_id(key: &RunKey) -> String {
    link_name(&[&key.framework, &key.test, &key.repeat.to_string()])
}

pub(super) fn link_name(parts: &[&str]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = parts.join("-").chars().map(plain).take(NAMED).collect();
    format!("{}-{}", name.trim_matches('-'), hex_digest(parts))
}

/// Returns a digest of some texts as hexadecimal digits.
pub(super) fn hex_digest(texts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    digest.finalize().iter().take(DIGEST).map(|byte| format!("{byte:02x}")).collect()
}

/// All that is shown of a run: the file `runs/ID.js`.
#[derive(Serialize)]
struct RunData<'a> {
    format: u32,
    head: SiteHead,
    series: SeriesData<'a>,
    detail: DetailData<'a>,
    findings: Vec<SiteFinding>,
    rules: Vec<RuleRow>,
    labels: Vec<LabelRow>,
    /// All labels together, if there are several.
    total: Option<LabelRow>,
    errors: Vec<ErrorRow>,
    /// The number of kinds of failures that are not listed.
    #[serde(rename = "moreErrors")]
    more_errors: usize,
    /// What is damaged of the log.
    damage: Vec<String>,
    remarks: Vec<String>,
    /// The files that the run was made from.
    sources: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SiteHead {
    first: u32,
    seconds: u32,
    last_part: f64,
    percentiles: Vec<f64>,
    cpu_top: Option<f64>,
    /// True if times, waits, bytes and CPU are of all requests.
    include_failures: bool,
    /// What the colours of the requests show, if that is not the load.
    color_by: Option<&'static str>,
    /// What the clock showed at second 0, in seconds since midnight, if time axes have the time of day.
    clock: Option<u32>,
    parts: Vec<HtmlPart>,
}

/// A rule, and what became of it.
#[derive(Serialize)]
struct RuleRow {
    rule: String,
    passed: bool,
    /// The figure judged by, and its limit, with their unit.
    value: Option<String>,
    limit: Option<String>,
    /// The seconds that break it.
    span: Option<[u32; 2]>,
    note: Option<String>,
}

#[derive(Serialize)]
struct SiteFinding {
    kind: &'static str,
    note: bool,
    /// By which those of one kind are ordered.
    cost: f64,
    first: u32,
    last: u32,
    what: String,
    evidence: String,
}

#[derive(Serialize)]
struct LabelRow {
    label: String,
    requests: u64,
    failures: u64,
    throughput: Option<f64>,
    mean: Option<f64>,
    p50: Option<f64>,
    p90: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    sd: Option<f64>,
    latency: Option<f64>,
    connect: Option<f64>,
    received: Option<i64>,
    sent: Option<i64>,
}

#[derive(Serialize)]
struct ErrorRow {
    code: String,
    message: String,
    labels: String,
    count: u64,
    first: u32,
    last: u32,
}

/// Writes the file of a run: all that is shown of it, and its figures ([`RunFigures::bytes`]) for comparisons, both packed.
///
/// # Errors
/// [`crate::Error::Html`] if the data can't be written.
pub fn run_script(run: &ReportRun<'_>, figures: &[u8]) -> Result<String> {
    styled_run_script(run, figures, &Style::default())
}

/// Writes the script of a run that is shown in a style.
pub(super) fn styled_run_script(run: &ReportRun<'_>, figures: &[u8], style: &Style) -> Result<String> {
    named_run_script(&run_id(&run.timeline.info.key), run, figures, style)
}

/// Writes the script of a run that has a name in links.
fn named_run_script(id: &str, run: &ReportRun<'_>, figures: &[u8], style: &Style) -> Result<String> {
    let ReportRun { timeline, details, findings, verdicts } = *run;
    let duration = timeline.summary.duration;
    let all = Some(&details.total).filter(|_| details.labels.len() > 1);
    let data = RunData {
        format: FORMAT,
        head: SiteHead::new(timeline, details, style),
        series: SeriesData::new(timeline, details),
        detail: DetailData::new(details),
        findings: findings.iter().map(SiteFinding::new).collect(),
        rules: verdicts.iter().map(RuleRow::new).collect(),
        labels: details.labels.iter().map(|label| LabelRow::new(label, duration)).collect(),
        total: all.map(|label| LabelRow::new(label, duration)),
        errors: details.errors.iter().take(ERRORS).map(ErrorRow::new).collect(),
        more_errors: details.errors.len().saturating_sub(ERRORS),
        damage: footer::damage(&timeline.info).map(|damage| one_line(&damage)).collect(),
        remarks: remarks(timeline),
        sources: footer::source_names(timeline).map(|name| one_line(&name)).collect(),
    };
    let mut script = format!("perfpipe.run({},\"", json(&id)?);
    deflated(&mut script, &data)?;
    script.push_str(FIGURES);
    deflated_bytes(&mut script, figures)?;
    script.push_str(END_OF_RUN);
    Ok(script)
}

/// Returns sentences on what the figures of a run are of.
fn remarks(timeline: &Timeline) -> Vec<String> {
    let wait = timeline.duration.long_wait();
    let wait = wait.map(|wait| format!("the last answer was awaited for {} s", measured(wait)));
    let coverage = Some(timeline.summary.cpu_coverage).filter(|share| *share > 0.0 && *share < 1.0);
    let coverage = coverage.map(|share| format!("CPU readings for {} of the seconds", percent(share)));
    let caveats = timeline.info.caveats().into_iter().chain(timeline.remarks());
    caveats.chain(wait).chain(coverage).map(|remark| footer::capitalised(&one_line(&remark))).collect()
}

/// What stands before and after the figures of a run.
const FIGURES: &str = "\",\"";
const END_OF_RUN: &str = "\");\n";

/// Reads the figures of a file that [`run_script`] wrote; `None` if it is another one, or of another version.
pub fn figures_of_script(script: &str) -> Option<RunFigures> {
    let (_, figures) = script.strip_suffix(END_OF_RUN)?.rsplit_once(FIGURES)?;
    RunFigures::parse(&inflated_bytes(figures)?).ok()
}

impl SiteHead {
    fn new(timeline: &Timeline, details: &Details, style: &Style) -> Self {
        let (first, end) = time_columns::span(timeline);
        let clock =
            || RunClock::new(timeline.info.t0_ms, &style.time_zone).start().rem_euclid(86_400.0) as u32;
        let cores = timeline.info.options.cores.map(|cores| f64::from(cores) * 100.0);
        let cut = timeline.duration.cut().filter(|cut| cut.saturating_add(1) == end);
        let whole = HtmlPart::new("whole", Span { first, last: end - 1 }, &timeline.summary);
        let phases = details.phases.iter();
        let phases = phases.map(|(phase, span, summary)| HtmlPart::new(phase.name(), *span, summary));
        Self {
            first,
            seconds: end - first,
            last_part: cut.map_or(1.0, |cut| timeline.duration.seconds - f64::from(cut)),
            percentiles: timeline.percentiles.clone(),
            cpu_top: style.cpu_top().or(cores),
            include_failures: timeline.view.include_failures,
            color_by: (style.color_by != ColorBy::Load).then(|| style.color_by.name()),
            clock: (style.times == Times::Clock).then(clock),
            parts: std::iter::once(whole).chain(phases).collect(),
        }
    }
}

impl RuleRow {
    fn new(verdict: &Verdict) -> Self {
        let figure = |value: f64| {
            format!("{} {}", decimals(value, verdict.decimals().into()), verdict.unit).trim().to_owned()
        };
        Self {
            rule: one_line(&verdict.rule),
            passed: verdict.holds,
            value: verdict.value.map(figure),
            limit: verdict.limit.map(figure),
            span: verdict.span.map(|span| [span.first, span.last]),
            note: verdict.note.as_deref().map(one_line),
        }
    }
}

impl SiteFinding {
    fn new(finding: &Finding) -> Self {
        Self {
            kind: finding.kind.name(),
            note: finding.is_note(),
            cost: finding.cost(),
            first: finding.span.first,
            last: finding.span.last,
            what: one_line(&finding.what),
            evidence: one_line(&finding.evidence),
        }
    }
}

impl LabelRow {
    fn new(label: &LabelStats, duration: f64) -> Self {
        Self {
            label: TextLine::clean(&label.label),
            requests: label.successes.saturating_add(label.failures),
            failures: label.failures,
            throughput: (duration > 0.0).then(|| label.successes as f64 / duration),
            mean: label.elapsed_mean,
            p50: label.p50,
            p90: label.p90,
            p95: label.p95,
            p99: label.p99,
            min: label.elapsed_min,
            max: label.elapsed_max,
            sd: label.elapsed_sd,
            latency: label.latency_mean,
            connect: label.connect_mean,
            received: label.bytes,
            sent: label.sent_bytes,
        }
    }
}

impl ErrorRow {
    fn new(kind: &ErrorKind) -> Self {
        Self {
            code: TextLine::clean(&kind.response_code),
            message: TextLine::clean(&kind.message),
            labels: TextLine::clean(&label_list(&kind.labels)),
            count: kind.count,
            first: kind.first,
            last: kind.last,
        }
    }
}

/// Names the labels of a failure, the most frequent ones with their number.
pub(super) fn label_list(labels: &[(String, u64)]) -> String {
    let named = labels.iter().take(LABELS).map(|(label, failures)| match labels.len() {
        1 => label.clone(),
        _ => format!("{label} ({})", count(*failures)),
    });
    let more = labels.len().saturating_sub(LABELS);
    let more = (more > 0).then(|| format!("{more} more"));
    named.chain(more).collect::<Vec<_>>().join(", ")
}

/// Writes data as JSON that may also stand in a script within a page: nothing in it ends the script.
pub(super) fn json(data: &impl Serialize) -> Result<String> {
    let json = serde_json::to_string(data).map_err(|error| Error::Html(error.to_string()))?;
    Ok(json.replace('<', "\\u003c"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(framework: &str, repeat: u32, t0: i64) -> SiteRun {
        let key = RunKey::new(framework, "a test").with_repeat(repeat);
        SiteRun {
            id: run_id(&key),
            file: run_file(&RunInfo::new(key, t0, t0 + 12_500), ""),
            framework: framework.to_owned(),
            test: "a test".to_owned(),
            repeat,
            t0,
            duration: 12.5,
            requests: 3,
            failures: 1,
            throughput: 0.16,
            p50: Some(1.0 / 3.0),
            p95: None,
            p99: None,
            cpu: None,
            load: Some(2.0),
            tool: "jmeter".to_owned(),
            tags: BTreeMap::from([("commit".to_owned(), "</script>\u{2028}".to_owned())]),
            partial: false,
            chosen: vec!["phase hold".to_owned()],
            verdict: Some(SiteVerdict { passed: 1, failed: 2 }),
            findings: vec![ShortFinding { kind: "stall".to_owned(), what: "no requests".to_owned() }],
            spark: Spark { heights: vec![100, 50], failed: vec![1] },
        }
    }

    #[test]
    fn index_is_read_as_it_was_written() {
        let index = SiteIndex::new("nightly", vec![], vec![run("go", 2, 5), run("go", 1, 3)], None);
        assert_eq!(SiteIndex::parse(&index.script().unwrap()), Some(index.clone()));
        let mut tagged = run("go", 1, 3);
        tagged.tags.insert("__proto__".to_owned(), "[\"__proto__\"]:".to_owned());
        let tagged = SiteIndex::new("nightly", vec![], vec![tagged], None);
        let script = tagged.script().unwrap();
        assert!(script.contains("[\"__proto__\"]:\"[\\\"__proto__"), "{script}");
        assert_eq!(SiteIndex::parse(&script), Some(tagged));
        assert_eq!(index.runs()[0].repeat, 1, "ascending by begin");
        assert_eq!(SiteIndex::parse("perfpipe.store({});\n"), None);
        let page = index.page();
        assert!(page.contains("<td>go a test #2") && page.contains("app.js") && !page.contains(RUNS));
    }

    #[test]
    fn list_of_a_running_test_names_its_run_and_its_state() {
        let test = SiteTest {
            id: "t".to_owned(),
            file: "tests/live.js".to_owned(),
            name: "a test".to_owned(),
            by: String::new(),
            trend: None,
        };
        let stored =
            SiteIndex::new("nightly", vec![test.clone()], vec![run("node", 1, 1), run("go", 1, 2)], None);
        let row = SiteRun { id: LIVE.to_owned(), ..run("go", 1, 3) };
        let live = LiveRun { test, row, state: 7 };
        for (index, runs) in [(SiteIndex::empty("nightly"), 1), (stored.clone(), 3)] {
            let shown = index.served(5, Some(&live));
            let script = shown.script().unwrap();
            let served = ",\"served\":{\"list\":5,\"live\":{\"run\":\"live\",\"state\":7}}});\n";
            assert!(script.ends_with(served) && script.contains("\"start\":\"#/run/live\""), "{script}");
            // The live run hides no stored one of its name.
            assert_eq!((shown.tests.len(), shown.runs.len()), (1, runs));
        }
        assert_eq!(
            stored.link_of(&RunKey::new("go", "a test")),
            Some(&*run_id(&RunKey::new("go", "a test")))
        );
        let script = stored.served(6, None).script().unwrap();
        assert!(script.ends_with(",\"served\":{\"list\":6}});\n"), "{script}");
        assert!(!stored.script().unwrap().contains("served"));
    }

    #[test]
    fn policy_is_that_of_the_page() {
        assert!(site_policy().starts_with("default-src 'none'; script-src 'self'"), "{}", site_policy());
        assert!(site_policy().contains("connect-src 'self'") && !site_policy().contains("unsafe-inline"));
    }

    #[test]
    fn frameworks_keep_their_places_and_none_is_given_twice() {
        let first = SiteIndex::new("a", vec![], vec![run("go", 1, 3), run("node", 1, 4)], None);
        let second = SiteIndex::new("a", vec![], vec![run("spring", 1, 1), run("node", 1, 4)], Some(&first));
        let slots: Vec<(&str, usize)> =
            second.frameworks.iter().map(|slot| (&*slot.name, slot.slot)).collect();
        assert_eq!(slots, [("go", 0), ("node", 1), ("spring", 2)]);
    }

    #[test]
    fn names_of_files_are_plain_and_differ() {
        let keys = [("Go", "a/b"), ("go", "a/b"), ("go", "a-b"), ("go-a", "b"), ("../x", "…"), ("con", "")];
        let ids: Vec<String> = keys.iter().map(|(one, other)| run_id(&RunKey::new(*one, *other))).collect();
        let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(ids.iter().all(|id| id.chars().all(is_plain) && id.len() < 60), "{ids:?}");
    }
}
