//! `perfpipe export`: writes the figures of runs in machine formats.

mod args;
pub(crate) mod samples;

use std::io::{IsTerminal, Seek, Write, stdout};

use anyhow::Result;
use perfpipe_analyze::breakdown::{
    SampleFigures, SecondTables, cpu_table, error_table, label_stats, label_table, phase_table, series_table,
};
use perfpipe_analyze::interchange::{
    LabelTimes, TrackedRun, bencher_metrics, bigger_is_better, jmeter_statistics, k6_summary, k6_view,
    line_protocol, open_metrics, otava_csv, percentile_distribution, run_document, smaller_is_better,
};
use perfpipe_analyze::points::{point_second_table, point_table};
use perfpipe_analyze::table::{Format, Table};
use perfpipe_analyze::{Sweep, Timeline, View};
use perfpipe_ingest::points::Point;
use perfpipe_ingest::run::Reject;
use perfpipe_ingest::{RunInfo, RunKey, SampleBatch, Store, StoredRun};

pub(crate) use self::args::ExportArgs;
use self::args::{ExportFormat, SummaryFormat, What};
use crate::args::{Choice, StoreArgs, TestArgs};
use crate::error::CliError;
use crate::input::left_out::LeftOut;
use crate::input::runs::Selection;
use crate::input::{points, store, view};
use crate::output::{Output, note};

/// The largest number of rejects that are written at once.
const PIECE_ROWS: usize = 4096;

/// The approximate size, in bytes, of the rejected records that are written at once.
const PIECE_BYTES: usize = 4 << 20;

/// Writes the export of runs.
pub(crate) async fn run(args: &ExportArgs, store: &StoreArgs) -> Result<()> {
    check_format(args)?;
    check_terminal(args)?;
    args::refuse_idle(args)?;
    let mut output = Output::open(args.output.output.as_deref())?;
    match export(args, store, &mut output).await {
        Ok(()) => output.finish(),
        Err(error) => {
            output.discard();
            Err(error)
        }
    }
}

async fn export(args: &ExportArgs, store: &StoreArgs, output: &mut Output) -> Result<()> {
    let store = store::existing(store).await?;
    if args.what.is_of_points() {
        return points(&store, args, output).await;
    }
    let chosen = Selection::any(&store, &args.runs.run, &args.runs.of).await?;
    chosen.say_repeats(&args.runs.run);
    if let [key] = chosen.keys.as_slice() {
        match args.what {
            What::Run => return document(&store, key, args, run_document, output).await,
            What::Hgrm => return document(&store, key, args, percentile_distribution, output).await,
            What::Statistics => return statistics(&store, key, args, output).await,
            What::Counts => return counts(&store, key, output).await,
            _ => {}
        }
    }
    match args.what {
        What::Run | What::Hgrm | What::Statistics | What::Counts => {
            let problem = format!(
                "--what run, counts, statistics and hgrm are of one run, found {}",
                chosen.printed().join(", ")
            );
            Err(CliError::usage(problem, "Name one of them with its number.").into())
        }
        What::Samples => samples::export(&store, &chosen, args, output).await,
        What::Rejects => rejects(&store, &chosen, args, output).await,
        What::Seconds => seconds(&store, &chosen, args, output).await,
        What::Summary if args.form().of_table().is_none() && args.form() != ExportFormat::Parquet => {
            for_services(&store, &chosen, args, output).await
        }
        _ => {
            let mut tables = Vec::with_capacity(chosen.keys.len());
            for key in &chosen.keys {
                let figures = chosen.named(key, figures(&store, key, args).await)?;
                tables.push(of_run(figures, key, &chosen.keys));
            }
            let table = Table::joined(tables);
            let mut writer = args.writer(&table, output)?;
            writer.write(&table)?;
            writer.finish()?;
            Ok(())
        }
    }
}

/// Writes summaries in a format of a service.
async fn for_services(
    store: &Store,
    chosen: &Selection,
    args: &ExportArgs,
    output: &mut Output,
) -> Result<()> {
    if args.form() == ExportFormat::Summary(SummaryFormat::K6) {
        let [key] = chosen.keys.as_slice() else {
            let problem = format!("--format k6 is of one run, found {}", chosen.printed().join(", "));
            return Err(CliError::usage(problem, "Name one of them with its number.").into());
        };
        if args.view.percentiles.is_some() {
            let problem = "--percentiles has no effect on --format k6: its percentiles are 50, 90 and 95";
            return Err(CliError::usage(problem, "Leave it out.").into());
        }
        return k6(store, key, args, output).await;
    }
    let (mut summaries, mut tracked) = (Vec::new(), Vec::new());
    for key in &chosen.keys {
        let run = chosen.named(key, view::read(store, key, &args.view).await)?;
        let timeline = Timeline::new(&run, &view_of(args, &run.info))?;
        tracked.push(TrackedRun::new(&timeline));
        summaries.push((run.info, timeline.summary_table()));
    }
    let text = match args.form() {
        ExportFormat::Summary(SummaryFormat::Bencher) => bencher_metrics(&tracked)?,
        ExportFormat::Summary(SummaryFormat::SmallerIsBetter) => smaller_is_better(&tracked)?,
        ExportFormat::Summary(SummaryFormat::BiggerIsBetter) => bigger_is_better(&tracked)?,
        ExportFormat::Summary(SummaryFormat::Otava) => otava_csv(&tracked)?,
        _ => return Ok(open_metrics(&summaries, output)?),
    };
    output.write_all(text.as_bytes())?;
    Ok(())
}

/// Writes a run as k6's summary; reads the samples for that if they are stored.
async fn k6(store: &Store, key: &RunKey, args: &ExportArgs, output: &mut Output) -> Result<()> {
    let run = view::read(store, key, &args.view).await?;
    let view = view_of(args, &run.info);
    let mut figures = None;
    if run.info.samples_stored {
        let seen = figures.insert(SampleFigures::new(&run, &k6_view(&view))?);
        let mut each = |batch: SampleBatch| {
            seen.add(&batch);
            Ok(())
        };
        store.samples(&run.info, &mut each).await?;
    } else {
        note(&format!("the samples of {key} are not stored, so that http_req_waiting is left out"));
    }
    output.write_all(k6_summary(&run, &view, figures.as_ref())?.as_bytes())?;
    Ok(())
}

/// Returns a table with the run of its rows in it, if several are exported.
fn of_run(table: Table, key: &RunKey, keys: &[RunKey]) -> Table {
    if keys.len() > 1 { table.of_run(key) } else { table }
}

/// Computes the figures of a run as a table.
async fn figures(store: &Store, key: &RunKey, args: &ExportArgs) -> Result<Table> {
    match args.what {
        // Neither is about single labels: the samples do not have failures by message, and readings have no label.
        What::Errors | What::Cpu | What::Series => {
            let mut run = store.read(key).await?;
            view::top_level(store, &mut run, &args.view.scope).await?;
            table(&run, args)
        }
        What::Percentiles | What::Codes => sample_figures(store, key, args).await,
        _ => table(&view::read(store, key, &args.view).await?, args),
    }
}

/// A function that writes an export which is not a table.
type Document = fn(&StoredRun, &View) -> perfpipe_analyze::Result<String>;

/// Writes a run as one document.
async fn document(
    store: &Store,
    key: &RunKey,
    args: &ExportArgs,
    write: Document,
    output: &mut Output,
) -> Result<()> {
    let run = view::read(store, key, &args.view).await?;
    output.write_all(write(&run, &view_of(args, &run.info))?.as_bytes())?;
    Ok(())
}

/// Writes the points of a test.
async fn points(store: &Store, args: &ExportArgs, output: &mut Output) -> Result<()> {
    let TestArgs { framework, test, repeat, tag } = &args.runs.of;
    let (Some(test), true) = (test, repeat.is_empty() && tag.is_empty()) else {
        let problem = "--what points and point-seconds are about all points of a test";
        return Err(
            CliError::usage(problem, "Give --test, and --framework for one of its frameworks.").into()
        );
    };
    let mut left_out = LeftOut::default();
    let frameworks = framework.as_slice();
    let table = if args.what == What::PointSeconds {
        by_second(test, &points::of_test(store, test, frameworks, &[]).await?)
    } else {
        let all = points::with_runs(store, test, &mut left_out).await?;
        point_table(&points::among(&all, test, frameworks, &[])?)
    };
    let mut writer = args.writer(&table, output)?;
    writer.write(&table)?;
    writer.finish()?;
    left_out.end()
}

/// Returns the table of points by second, and notes where there is nothing in it.
fn by_second(test: &str, points: &[Point]) -> Table {
    let table = point_second_table(points);
    if table.is_empty() {
        note(&format!("no point of {test} has counts per second: only Locust's --json reports them"));
    }
    table
}

/// Writes JMeter's statistics; reads the samples for that if they are stored.
async fn statistics(store: &Store, key: &RunKey, args: &ExportArgs, output: &mut Output) -> Result<()> {
    let run = view::read(store, key, &args.view).await?;
    let view = view_of(args, &run.info);
    let mut times = None;
    if run.info.samples_stored {
        let seen = times.insert(LabelTimes::new(&run, &view)?);
        let mut each = |batch: SampleBatch| {
            seen.add(&batch);
            Ok(())
        };
        store.samples(&run.info, &mut each).await?;
    } else {
        note(&format!(
            "the samples of {key} are not stored, and only they show when a label began and ended: \
             throughput and bytes a second are null"
        ));
    }
    output.write_all(jmeter_statistics(&run, &view, times.as_ref())?.as_bytes())?;
    Ok(())
}

/// Writes a run without its samples as one file.
async fn counts(store: &Store, key: &RunKey, output: &mut Output) -> Result<()> {
    // Written from the start to the end, which the output may be a pipe for.
    let mut file = tempfile::tempfile()?;
    store.pack(key, file.try_clone()?).await?;
    file.rewind()?;
    std::io::copy(&mut file, output)?;
    Ok(())
}

/// What to do where a format is asked for that an export can't have.
const OWN_FORM: &str = "Leave out --format, and give the file no ending of another one.";

/// Refuses a format that the export does not have.
fn check_format(args: &ExportArgs) -> Result<()> {
    if !args.form().fits(args.what) {
        let (problem, remedy) = match args.form() {
            ExportFormat::Summary(_) => ("is for the figures of whole runs", "Give --what summary."),
            ExportFormat::OpenMetrics => ("is for figures", "Give --what seconds or --what summary."),
            _ => ("is for figures over time", "Give --what seconds."),
        };
        let problem = format!("--format {} {problem}", args.form().name());
        return Err(CliError::usage(problem, remedy).into());
    }
    if let (What::Counts, Some(format)) = (args.what, args.format()) {
        let problem = format!("--what counts has a form of its own, not {}", format.name());
        return Err(CliError::usage(problem, OWN_FORM).into());
    }
    let only = match args.what {
        What::Run | What::Statistics => ExportFormat::Table(Format::Json),
        What::Hgrm => ExportFormat::Table(Format::Text),
        _ => return Ok(()),
    };
    if args.format().is_none_or(|format| format == only) {
        return Ok(());
    }
    Err(CliError::usage("--what run and statistics are JSON, and hgrm is a text", OWN_FORM).into())
}

/// Refuses to write bytes that are no text to a terminal.
fn check_terminal(args: &ExportArgs) -> Result<()> {
    let what = match (args.what, args.form()) {
        (What::Counts, _) => "--what counts",
        (_, ExportFormat::Parquet) => "--format parquet",
        _ => return Ok(()),
    };
    if args.output.output.is_some() || !stdout().is_terminal() {
        return Ok(());
    }
    let problem = format!("{what} is not text, and standard output is a terminal");
    Err(CliError::usage(problem, "Write it to a file: -o FILE.").into())
}

/// Computes figures that need the samples, as a table.
async fn sample_figures(store: &Store, key: &RunKey, args: &ExportArgs) -> Result<Table> {
    let run = view::read(store, key, &args.view).await?;
    let mut figures = SampleFigures::new(&run, &view_of(args, &run.info))?;
    let mut each = |batch: SampleBatch| {
        figures.add(&batch);
        Ok(())
    };
    store.samples(&run.info, &mut each).await?;
    Ok(if args.what == What::Codes { figures.code_table() } else { figures.percentile_table() })
}

/// Returns the view that the flags describe.
pub(crate) fn view_of(args: &ExportArgs, info: &RunInfo) -> View {
    view::of(&args.view, info).with_goals(args.goals.goals()).with_corrected(args.corrected)
}

fn table(run: &StoredRun, args: &ExportArgs) -> Result<Table> {
    let view = view_of(args, &run.info);
    Ok(match args.what {
        What::Errors => error_table(run, &view)?,
        What::Cpu => cpu_table(run, &view)?,
        What::Series => series_table(run, &view)?,
        What::Phases => phase_table(run, &view)?,
        What::Sweep => Sweep::new(run, &view)?.table(),
        What::Labels => label_table(&label_stats(run, &view)?),
        What::Summary => Timeline::new(run, &view)?.summary_table(),
        _ => Timeline::new(run, &view)?.table(),
    })
}

/// Writes the seconds in pieces, since a run may have a million of them.
async fn seconds(store: &Store, chosen: &Selection, args: &ExportArgs, output: &mut Output) -> Result<()> {
    let keys = &chosen.keys;
    match args.form() {
        // A metric's values follow each other, so all seconds are read before any is written.
        ExportFormat::OpenMetrics => {
            let mut runs = Vec::with_capacity(keys.len());
            for key in keys {
                let run = chosen.named(key, view::read(store, key, &args.view).await)?;
                let table = Timeline::new(&run, &view_of(args, &run.info))?.table();
                runs.push((run.info, table));
            }
            Ok(open_metrics(&runs, output)?)
        }
        ExportFormat::Influx => {
            for key in keys {
                let run = chosen.named(key, view::read(store, key, &args.view).await)?;
                let view = view_of(args, &run.info);
                let mut pieces = SecondTables::new(&run, &view)?;
                while let Some(piece) = pieces.next_piece()? {
                    line_protocol(&run.info, &piece, &mut *output)?;
                }
            }
            Ok(())
        }
        _ => second_rows(store, chosen, args, output).await,
    }
}

/// Writes the seconds as one table.
async fn second_rows(
    store: &Store,
    chosen: &Selection,
    args: &ExportArgs,
    output: &mut Output,
) -> Result<()> {
    let keys = &chosen.keys;
    let mut like = Vec::with_capacity(keys.len());
    for info in chosen.stored.iter().filter(|info| keys.contains(&info.key)) {
        like.push(of_run(SecondTables::columns_of(info, &view_of(args, info))?, &info.key, keys));
    }
    let like = Table::joined(like);
    let mut writer = args.writer(&like, output)?;
    for key in keys {
        let run = chosen.named(key, view::read(store, key, &args.view).await)?;
        let view = view_of(args, &run.info);
        let mut pieces = SecondTables::new(&run, &view)?;
        while let Some(piece) = pieces.next_piece()? {
            writer.write(&of_run(piece, key, keys).like(like.columns()))?;
        }
    }
    writer.finish()?;
    Ok(())
}

/// Writes the rejects in pieces.
async fn rejects(store: &Store, chosen: &Selection, args: &ExportArgs, output: &mut Output) -> Result<()> {
    let keys = &chosen.keys;
    let table = |key: &RunKey, rejects: &[Reject]| of_run(reject_table(rejects), key, keys);
    let Some(first) = keys.first() else { return Ok(()) };
    let mut writer = args.writer(&table(first, &[]), output)?;
    for key in keys {
        let (mut piece, mut bytes, mut failure) = (Vec::new(), 0, None);
        let read = store
            .rejects(key, &mut |reject| {
                bytes += reject.record.len();
                piece.push(reject);
                if piece.len() < PIECE_ROWS && bytes < PIECE_BYTES {
                    return Ok(());
                }
                bytes = 0;
                let written = writer.write(&table(key, &std::mem::take(&mut piece)));
                samples::keep(written.map_err(Into::into), &mut failure)
            })
            .await;
        if let Some(failure) = failure {
            return Err(failure);
        }
        chosen.named(key, read.map_err(Into::into))?;
        writer.write(&table(key, &piece))?;
    }
    writer.finish()?;
    Ok(())
}

fn reject_table(rejects: &[Reject]) -> Table {
    Table::of(rejects)
        .column("file", |reject| Some(reject.file.clone()))
        .column("member", |reject| reject.member.clone())
        .column("line", |reject| Some(reject.line))
        .column("byte", |reject| Some(reject.byte))
        .column("code", |reject| reject.code.clone())
        .column("reason", |reject| Some(reject.reason.clone()))
        .column("record", |reject| Some(reject.record.clone()))
        .done()
}
