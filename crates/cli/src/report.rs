//! `perfpipe report`: pages of a test's runs, and its league table.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use perfpipe_analyze::{Details, Format, League, Phase, Sweep, Timeline, View, one_line};
use perfpipe_ingest::StoredRun;
use perfpipe_plot::{ColorBy, Page, Palette, Paper, Style};

use crate::args::{ChartArg, ColorArg, PageFormat, PaletteArg, PaperArg, ReportArgs, StoreArgs, StyleArgs};
use crate::left_out::LeftOut;
use crate::output::{Output, file_name, note, page_folder, write_file};
use crate::{choose, store, view};

impl From<&StyleArgs> for Style {
    fn from(args: &StyleArgs) -> Self {
        Self {
            paper: match args.paper {
                PaperArg::A4 => Paper::A4,
                PaperArg::Letter => Paper::Letter,
            },
            color_by: match args.color_by {
                ColorArg::Load => ColorBy::Load,
                ColorArg::Cpu => ColorBy::Cpu,
                ColorArg::Throughput => ColorBy::Throughput,
            },
            palette: match args.palette {
                PaletteArg::Original => Palette::Original,
                PaletteArg::Viridis => Palette::Viridis,
            },
            cpu_max: args.cpu_max,
            cores: args.cores,
        }
    }
}

impl StyleArgs {
    /// Whether the one-file report is among the formats.
    pub(crate) fn wants_html(&self) -> bool {
        self.format.contains(&PageFormat::Html)
    }
}

/// Draws the pages of a test and prints its league table.
pub(crate) async fn run(args: &ReportArgs, store: &StoreArgs) -> Result<()> {
    page_folder(&args.out)?;
    let store = store::open(store).await?;
    let mut left_out = LeftOut::default();
    let keys = choose::runs(&left_out.runs(&store).await?, &args.runs)?;
    let mut timelines = Vec::new();
    let mut details = Vec::new();
    let mut sweeps = Vec::new();
    for key in &keys {
        let read = view::read(&store, key, &args.view).await;
        let Some(run) = left_out.or_leave_out(key, read)? else { continue };
        timelines.push(view::timeline(&run, &args.view)?);
        if args.style.wants_html() {
            details.push(Details::new(&run, &view::of(&args.view, &run.info))?);
        }
        if args.chart.contains(&ChartArg::Sweep) {
            sweeps.push(Sweep::new(&run, &view::of(&args.view, &run.info))?);
        }
    }
    if timelines.is_empty() {
        return left_out.end();
    }
    let mut league = League::new(&timelines)?;
    if let Some(column) = &args.order_by {
        league.order_by(column)?;
    }
    let mut written = Vec::new();
    if args.chart.contains(&ChartArg::Time) {
        written.extend(time_pages(args, &timelines)?);
    }
    if let Some(timeline) = timelines.first().filter(|_| args.style.wants_html()) {
        let name = page_name(&format!("report_{}", args.runs.test), &timeline.view);
        let html = perfpipe_plot::html(
            &args.runs.test,
            timelines.iter().zip(&details),
            &league,
            &Style::from(&args.style),
        )?;
        written.push(write_html(&html, &name, &args.out)?);
    }
    for sweep in &sweeps {
        let name = page_name(&sweep.info.key.name(), &sweep.view);
        let page = Page::sweep(sweep, &Style::from(&args.style));
        written.extend(write_page(&page, &format!("{name}_sweep"), &args.style, &args.out)?);
    }
    let mut output = Output::open(None)?;
    write_league(&league, args.table.into(), &mut output)?;
    output.finish()?;
    tell(&written);
    left_out.end()
}

/// Writes the table, and for people what they should know of it beneath.
fn write_league(league: &League, format: Format, output: &mut Output) -> Result<()> {
    league.table().write(format, &mut *output)?;
    for note in league.notes().iter().filter(|_| format.is_for_people()) {
        writeln!(output, "\n{}", one_line(note))?;
    }
    Ok(())
}

/// Draws the page of each run over time, and the one of all of them.
fn time_pages(args: &ReportArgs, timelines: &[Timeline]) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for timeline in timelines {
        written.extend(run_page(timeline, &args.style, &args.out)?);
    }
    let page = Page::test(&args.runs.test, timelines, &Style::from(&args.style));
    if let Some(timeline) = timelines.first() {
        let name = page_name(&format!("all-frameworks_{}", args.runs.test), &timeline.view);
        written.extend(write_page(&page, &name, &args.style, &args.out)?);
    }
    Ok(written)
}

/// Draws the page of one run that was just stored, and its report; returns the files.
pub(crate) fn run_report(run: &StoredRun, style: &StyleArgs, out: &Path) -> Result<Vec<PathBuf>> {
    let view = view::plain(&run.info);
    let timeline = Timeline::new(run, &view)?;
    let mut written = run_page(&timeline, style, out)?;
    if style.wants_html() {
        let (details, league) = (Details::new(run, &view)?, League::new([&timeline])?);
        let html = perfpipe_plot::html(&league.test, [(&timeline, &details)], &league, &Style::from(style))?;
        written.push(write_html(&html, &format!("report_{}", run.info.key.name()), out)?);
    }
    Ok(written)
}

/// Draws the page of one run; returns the files.
fn run_page(timeline: &Timeline, style: &StyleArgs, out: &Path) -> Result<Vec<PathBuf>> {
    let page = Page::run(timeline, &Style::from(style));
    write_page(&page, &page_name(&timeline.info.key.name(), &timeline.view), style, out)
}

/// A page's name: that of one label or of one phase must not take the place of the whole run's.
pub(crate) fn page_name(name: &str, view: &View) -> String {
    let parts = [Some(name), view.label.as_deref(), view.phase.map(Phase::name)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("_")
}

/// Says which files were written.
pub(crate) fn tell(written: &[PathBuf]) {
    for path in written {
        note(&format!("wrote {}", path.display()));
    }
}

pub(crate) fn write_page(page: &Page, name: &str, style: &StyleArgs, out: &Path) -> Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for format in &style.format {
        let (ending, bytes) = match format {
            // One file for all pages, not one for each.
            PageFormat::Html => continue,
            PageFormat::Svg => ("svg", page.svg()?.into_bytes()),
            PageFormat::Png => ("png", perfpipe_plot::png(page, style.scale)?),
            PageFormat::Pdf => ("pdf", perfpipe_plot::pdf(std::slice::from_ref(page))?),
        };
        let path = out.join(format!("{}.{ending}", file_name(name)));
        write_file(&path, &bytes)?;
        written.push(path);
    }
    Ok(written)
}

fn write_html(html: &str, name: &str, out: &Path) -> Result<PathBuf> {
    let path = out.join(format!("{}.html", file_name(name)));
    write_file(&path, html.as_bytes())?;
    Ok(path)
}
