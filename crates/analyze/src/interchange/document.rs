//! A run as a JSON document with a documented, versioned schema.

use perfpipe_model::StoredRun;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::breakdown::labels::{label_stats, label_table};
use crate::breakdown::tables::phase_table;
use crate::error::{Error, Result};
use crate::table::{Format, Table};
use crate::timeline::Timeline;
use crate::view::View;

/// The schema's name and version. The number increases if a field changes its meaning or is removed, not if one is
/// added.
const SCHEMA: &str = "perfpipe-run/1";

#[derive(Serialize)]
struct RunDocument<'a> {
    schema: &'static str,
    framework: &'a str,
    test: &'a str,
    repeat: u32,
    t0_ms: i64,
    ingested_at: &'a str,
    tool_version: &'a str,
    partial: bool,
    samples_stored: bool,
    sources: Vec<DocumentSource<'a>>,
    view: DocumentView<'a>,
    summary: Option<Box<RawValue>>,
    phases: Vec<Box<RawValue>>,
    labels: Vec<Box<RawValue>>,
}

#[derive(Serialize)]
struct DocumentSource<'a> {
    file: &'a str,
    member: Option<&'a str>,
    kind: &'a str,
    bytes: u64,
    crc32: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
}

/// The view of the run.
#[derive(Serialize)]
struct DocumentView<'a> {
    from: Option<u32>,
    to: Option<u32>,
    phase: Option<&'static str>,
    label: Option<&'a str>,
    transactions: bool,
    include_failures: bool,
    top_level: bool,
    injectors: u32,
    cpu_offset: i64,
    cpu_lookback: u32,
}

/// Returns a run as a JSON document with the schema `perfpipe-run/1`:
///
/// | field | content |
/// |---|---|
/// | `schema` | `"perfpipe-run/1"` |
/// | `framework`, `test`, `repeat` | the run's key |
/// | `t0_ms` | the start of the run, epoch ms |
/// | `ingested_at`, `tool_version` | when it was stored, and by which version |
/// | `partial` | true if it was made from damaged files that could be read only in part |
/// | `samples_stored` | true if its samples are in the store |
/// | `sources` | the files it was made from: `file`, `member`, `kind`, `bytes` (uncompressed), `crc32`, `tool` if it is not JMeter |
/// | `view` | the choices of the [`View`] that change figures |
/// | `summary` | the columns of [`Timeline::summary_table`] |
/// | `phases` | the rows of [`phase_table`](crate::breakdown::phase_table) |
/// | `labels` | the rows of [`label_table`](crate::breakdown::label_table); only the view's label if it has one |
///
/// Times are in ms, shares from 0 to 1; an absent value is `null`. The schema's number changes if a field changes its
/// meaning or is removed, not if one is added. The fields of `view` are `from`, `to`, `phase`, `label`, `transactions`,
/// `include_failures`, `top_level`, `injectors`, `cpu_offset` and `cpu_lookback`.
///
/// # Errors
/// The same errors as [`Timeline::new`].
pub fn run_document(run: &StoredRun, view: &View) -> Result<String> {
    let timeline = Timeline::new(run, view)?;
    let document = RunDocument {
        schema: SCHEMA,
        framework: &run.info.key.framework,
        test: &run.info.key.test,
        repeat: run.info.key.repeat,
        t0_ms: run.info.t0_ms,
        ingested_at: &run.info.ingested_at,
        tool_version: &run.info.tool_version,
        partial: run.info.is_partial(),
        samples_stored: run.info.samples_stored,
        sources: sources(run),
        view: looked(view, &timeline),
        summary: rows(&timeline.summary_table())?.pop(),
        phases: rows(&phase_table(run, view)?)?,
        labels: rows(&label_table(&label_stats(run, view)?))?,
    };
    serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(|e| Error::convert("JSON", e))
}

fn sources(run: &StoredRun) -> Vec<DocumentSource<'_>> {
    run.info
        .sources
        .iter()
        .map(|source| DocumentSource {
            file: &source.file,
            member: source.member.as_deref(),
            kind: source.kind.name(),
            bytes: source.bytes,
            crc32: source.crc32,
            tool: source.tool.as_deref(),
        })
        .collect()
}

fn looked<'a>(view: &'a View, timeline: &Timeline) -> DocumentView<'a> {
    DocumentView {
        from: view.from,
        to: view.to,
        phase: view.phase.map(crate::view::phases::Phase::name),
        label: view.label.as_deref(),
        transactions: view.transactions,
        include_failures: view.include_failures,
        top_level: view.top_level,
        injectors: timeline.view.injectors,
        cpu_offset: view.cpu.offset,
        cpu_lookback: view.cpu.lookback,
    }
}

/// Returns the rows of a table as JSON objects, with figures as the table writes them.
fn rows(table: &Table) -> Result<Vec<Box<RawValue>>> {
    let mut json = Vec::new();
    table.write(Format::Json, &mut json)?;
    serde_json::from_slice(&json).map_err(|e| Error::convert("JSON", e))
}
