//! Description of summaries of load tools: their sections, and the points that an ingest would make of them.

use std::path::Path;

use anyhow::Result;
use perfpipe_analyze::format::counted;
use perfpipe_analyze::table::{Format, Table};
use perfpipe_ingest::points::{FoundSection, Point, PointNames};

use crate::input::summaries::{self, SummaryFile};
use crate::output::terminal::write_table;
use crate::output::{Output, note, warn};

/// A section, with its point if its key is known.
struct SectionRow<'a> {
    file: &'a SummaryFile,
    section: &'a FoundSection,
    point: Option<&'a Point>,
}

/// Prints a row for each section, and fails as an ingest would.
pub(super) fn run(
    files: &[SummaryFile],
    names: &PointNames,
    format: Format,
    output: Option<&Path>,
) -> Result<()> {
    let points = summaries::named(files, names);
    let keyed = points.as_deref().unwrap_or_default();
    let sections =
        files.iter().flat_map(|file| file.found.sections.iter().map(move |section| (file, section)));
    let rows: Vec<SectionRow<'_>> = sections
        .enumerate()
        .map(|(at, (file, section))| SectionRow { file, section, point: keyed.get(at) })
        .collect();
    let mut output = Output::open(output)?;
    write_table(&table(&rows), format, &mut output)?;
    output.finish()?;
    files.iter().for_each(summaries::note_ignored);
    let points = points?;
    for point in &points {
        if let Some(reason) = &point.figures.aborted {
            warn(&format!("{}: no figures: {reason}", point.key));
        }
    }
    note(&format!("{}: an ingest would take them", counted(points.len() as u64, "point")));
    Ok(())
}

fn table(rows: &[SectionRow<'_>]) -> Table {
    let any = |test: &dyn Fn(&SectionRow<'_>) -> bool| rows.iter().any(test);
    Table::of(rows)
        .schema("perfpipe-sections/1")
        .column("file", |row| Some(row.file.shown.clone()))
        .column("line", |row| Some(row.section.line as u64))
        .column("tool", |row| {
            Some(row.point.map_or_else(|| row.section.tool.to_owned(), |point| point.key.tool.clone()))
        })
        .column("framework", |row| row.point.map(|point| point.key.framework.clone()))
        .column("test", |row| row.point.map(|point| point.key.test.clone()))
        .column("concurrency", |row| {
            row.point.map_or(row.section.concurrency, |point| point.key.concurrency).map(u64::from)
        })
        .column("workers", |row| row.point?.key.workers.map(u64::from))
        .people_see(any(&|row| row.point.is_some_and(|point| point.key.workers.is_some())))
        .column("repeat", |row| row.point.map(|point| u64::from(point.key.repeat)))
        .column("url", |row| row.section.url.clone())
        .people_see(any(&|row| row.point.is_none()))
        .column("successes", |row| row.section.figures.successes)
        .column("failures", |row| row.section.figures.failures.map(|failures| failures.greatest))
        .column("throughput", |row| row.section.figures.throughput())
        .unit("1/s", 1)
        .column("latency_source", |row| {
            row.section.figures.latencies.source.map(|source| source.name().to_owned())
        })
        .title("latency is")
        .column("aborted", |row| row.section.figures.aborted.clone())
        .people_see(any(&|row| row.section.figures.aborted.is_some()))
        .column("notes", |row| Some(row.section.figures.notes.join("; ")).filter(|notes| !notes.is_empty()))
        .people_see(any(&|row| !row.section.figures.notes.is_empty()))
        .done()
}
