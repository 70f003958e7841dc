//! `perfpipe compare`: runs side by side.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::{
    Change, Measured, Noise, Outcome, Side, Timeline, change_table, compare_sides, median_repeats,
};
use perfpipe_ingest::Store;
use perfpipe_ingest::{Error, RunKey};
use perfpipe_plot::{Page, Style};

use crate::args::{StoreArgs, StyleArgs, TableFormat, ViewArgs};
use crate::input::left_out::LeftOut;
use crate::input::{idle_flags, runs, store, view};
use crate::output::pages::{Pages, Subject, choices};
use crate::output::{Output, note, page_folder};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe compare go_2048 spring_2048\n  \
    perfpipe compare go_2048 spring_2048 nio_2048\n  \
    perfpipe compare go_2048#1 go_2048#2\n  \
    perfpipe compare go_2048 go_2048 --baseline-store released --out charts --phase hold")]
pub(crate) struct CompareArgs {
    /// The run to compare with: go_2048 with all its repeats, or go_2048#2 for the second alone
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The runs that are looked at, each against A
    #[arg(value_name = "B", required = true)]
    pub(crate) b: Vec<String>,
    /// Folder of the embedded store that holds A [default: the store of B]
    #[arg(long, value_name = "DIR")]
    pub(crate) baseline_store: Option<PathBuf>,
    /// Folder for a page of both runs over each other [default: none is drawn]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How the changes are printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) table: TableFormat,
    #[command(flatten)]
    pub(crate) style: StyleArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// What one name on the command line stands for, as it was read.
struct Read {
    side: Side,
    /// The run that is drawn for it: of repeats the one in the middle.
    drawn: Option<Timeline>,
}

/// Prints what changed from run A to each of the others, and draws both.
pub(crate) async fn run(args: &CompareArgs, store: &StoreArgs) -> Result<()> {
    if args.style.wants_html() {
        let remedy = "Give --format svg, pdf or png; `perfpipe report --format html` compares frameworks.";
        return Err(Error::usage("runs side by side can't be written as html", remedy).into());
    }
    if args.out.is_none() {
        idle_flags::check_no_pages(&args.style, "--out")?;
    }
    idle_flags::check_formats(&args.style)?;
    let store = store::existing(store).await?;
    let other = args.baseline_store.as_deref().map(store::existing_folder).transpose()?;
    let other = other.as_ref().unwrap_or(&store);
    let mut left_out = LeftOut::default();
    let runs = left_out.runs(&store).await?;
    // What else is damaged in the other store is not asked for.
    let others = if args.baseline_store.is_some() { other.look().await?.runs } else { runs.clone() };
    let is_one_store = args.baseline_store.is_none();
    // A run beside another of its repeats is one run, not all of them.
    let near = |at: usize| -> Vec<&str> {
        let near =
            args.b.iter().enumerate().filter(|(place, _)| place + 1 != at).map(|(_, name)| name.as_str());
        near.chain((at > 0).then_some(args.a.as_str())).collect()
    };
    let near_a = if is_one_store { near(0) } else { Vec::new() };
    let a = runs::with_repeats(&others, &args.a, &near_a)?;
    let chosen = args.b.iter().zip(1..).map(|(name, at)| runs::with_repeats(&runs, name, &near(at)));
    let chosen: Vec<Vec<RunKey>> = chosen.collect::<Result<_>>()?;
    args.out.as_deref().map(page_folder).transpose()?;
    let baseline = read(other, &a, args).await?;
    let mut sides = Vec::with_capacity(chosen.len());
    let mut pages = args.out.as_ref().map(|out| Pages::new(out, &args.style, &[]));
    for keys in &chosen {
        let read = read(&store, keys, args).await?;
        if let (Some(pages), Some(a), Some(b)) = (&mut pages, &baseline.drawn, &read.drawn) {
            let page = Page::comparison(a, b, &Style::from(&args.style));
            let subject = Subject::Against(&b.info.key, &a.info.key);
            pages.page(&page, subject, &choices(&args.view))?;
        }
        sides.push(read.side);
    }
    let changes = compare_sides(&baseline.side, &sides);
    let mut output = Output::open(None)?;
    change_table(&changes).write(args.table.into(), &mut output)?;
    output.finish()?;
    tell_noise(&baseline.side, &sides, &changes);
    pages.into_iter().for_each(Pages::tell);
    left_out.end()
}

/// Reads runs one after the other, and keeps of each only what is compared, and what is drawn.
async fn read(store: &Store, keys: &[RunKey], args: &CompareArgs) -> Result<Read> {
    let (mut runs, mut timelines) = (Vec::with_capacity(keys.len()), Vec::new());
    for key in keys {
        let run = view::read(store, key, &args.view).await?;
        runs.push(Measured::new(&run, &view::of(&args.view, &run.info))?);
        if args.out.is_some() {
            timelines.push(view::timeline(&run, &args.view)?);
        }
    }
    let drawn = median_repeats(&timelines).first().map(|timeline| timeline.info.key.clone());
    let drawn = timelines.into_iter().find(|timeline| Some(&timeline.info.key) == drawn.as_ref());
    Ok(Read { side: Side::of(runs), drawn })
}

/// Says what the differences were held against, and what would tell more.
fn tell_noise(baseline: &Side, sides: &[Side], changes: &[Change]) {
    for side in std::iter::once(baseline).chain(sides).filter(|side| side.runs.len() > 1) {
        note(&format!("{}: {} repeats, their means are compared", side.name, side.runs.len()));
    }
    if changes.iter().any(|change| change.noise == Noise::Seconds) {
        note(
            "noise is that of the seconds within the runs: what differs from one start of a server to the next shows only \
             in repeats (`ingest --append-repeat`), two of each run or three of one",
        );
    }
    let untold =
        |change: &Change| change.outcome == Outcome::Unknown && change.a.is_some() && change.b.is_some();
    if changes.iter().any(untold) {
        note(
            "unknown: the run is too short for how long its seconds act on each other; it takes 24 seconds, and seven \
             times as long as slow changes last",
        );
    }
}
