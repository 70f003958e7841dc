//! `perfpipe compare`: two runs side by side.

use anyhow::Result;
use perfpipe_analyze::{Change, change_table, compare};
use perfpipe_ingest::Error;
use perfpipe_plot::{Page, Style};

use crate::args::{CompareArgs, StoreArgs};
use crate::left_out::LeftOut;
use crate::output::{Output, note, page_folder};
use crate::pages::{Pages, Subject, choices};
use crate::{choose, store, view};

/// Prints what changed from run A to run B, and draws both.
pub(crate) async fn run(args: &CompareArgs, store: &StoreArgs) -> Result<()> {
    if args.style.wants_html() {
        let remedy = "Give --format svg, pdf or png; `perfpipe report --format html` compares frameworks.";
        return Err(Error::usage("two runs side by side can't be written as html", remedy).into());
    }
    let store = store::existing(store).await?;
    let other = args.baseline_store.as_deref().map(store::existing_folder).transpose()?;
    let other = other.as_ref().unwrap_or(&store);
    let mut left_out = LeftOut::default();
    let runs = left_out.runs(&store).await?;
    // What else is damaged in the other store is not asked for.
    let others = if args.baseline_store.is_some() { other.look().await?.runs } else { runs.clone() };
    let a = view::read(other, &choose::named(&others, &args.a)?, &args.view).await?;
    let b = view::read(&store, &choose::named(&runs, &args.b)?, &args.view).await?;
    let views = (view::of(&args.view, &a.info), view::of(&args.view, &b.info));
    args.out.as_deref().map(page_folder).transpose()?;
    let changes = compare((&a, &views.0), (&b, &views.1))?;
    let mut pages = None;
    if let Some(out) = &args.out {
        let (a, b) = (view::timeline(&a, &args.view)?, view::timeline(&b, &args.view)?);
        let page = Page::comparison(&a, &b, &Style::from(&args.style));
        let subject = Subject::Against(&b.info.key, &a.info.key);
        pages.insert(Pages::new(out, &args.style, &[])).page(&page, subject, &choices(&args.view))?;
    }
    let mut output = Output::open(None)?;
    change_table(&changes).write(args.table.into(), &mut output)?;
    output.finish()?;
    let untold = |change: &Change| change.interval.is_none() && change.a.is_some() && change.b.is_some();
    if changes.iter().any(untold) {
        note(
            "unknown: too few seconds to tell a change from noise; it takes eight stretches of 3 to 10 seconds of each run",
        );
    }
    pages.into_iter().for_each(Pages::tell);
    left_out.end()
}
