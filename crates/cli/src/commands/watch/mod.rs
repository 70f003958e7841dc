//! `perfpipe watch`: follows the logs of a running test, shows its seconds, and stores the run at its end.

mod args;
mod judge;
mod lines;
mod screen;
mod serve;

use std::io;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use perfpipe_ingest::watch::{Followed, Look, Watch, WatchedCpu};
use perfpipe_ingest::{IngestOptions, Progress, RunKey, Store};
use tokio::task::JoinHandle;

pub(crate) use self::args::WatchArgs;
use self::judge::Judge;
use self::lines::WatchLines;
use self::screen::Screen;
use self::serve::Serving;
use super::check::of_stored;
use super::ingest::{SummaryOutput, is_new, keeping, reading, replaced, stored_before, summarise};
use crate::args::StoreArgs;
use crate::input::runs::RunNames;
use crate::input::store;
use crate::output::notes::shell_word;
use crate::output::progress::Bar;
use crate::output::{note, size_of, warn};

/// The time between two looks.
const BEAT: Duration = Duration::from_millis(200);

/// Follows the logs of a running test, and stores the run.
pub(crate) async fn run(args: &WatchArgs, store: &StoreArgs, progress: Progress) -> Result<()> {
    let options = options(args)?.with_progress(progress.clone());
    let mut judge = args.rules.as_deref().map(|rules| Judge::of(rules, args.abort_after())).transpose()?;
    // What can't be stored is refused before the test has run.
    let store = store::open_with(store, &args.keep.sent).await?;
    let watch = Watch::begin(&args.files, &options)?;
    let mut serving = match args.serve {
        Some(address) => Some(Serving::begin(address, &store, args.rules.as_deref()).await?),
        None => None,
    };
    let followed = follow(&watch, args, (judge.as_mut(), serving.as_mut()), &progress).await;
    let stored = match followed {
        Ok(()) => stored(watch, args, &store, &options, progress).await,
        Err(error) => Err(error),
    };
    if let Some(serving) = serving {
        serving.end(&ending(&stored, &store).await, stored.as_ref().ok()).await;
    }
    let key = stored?;
    match judge {
        Some(judge) => of_stored(&store, &key, &judge.rules(), args.output.is_notes()).await,
        None => Ok(()),
    }
}

/// Stores what was followed.
async fn stored(
    watch: Watch,
    args: &WatchArgs,
    store: &Store,
    options: &IngestOptions,
    progress: Progress,
) -> Result<RunKey> {
    let followed = watch.finish()?;
    warn_missing(&followed);
    let summary = SummaryOutput::begin(&args.output)?;
    let before = stored_before(store, options).await;
    let bar = Bar::start(args.files.iter().map(|file| size_of(file)).sum(), progress);
    let done = store.ingest_followed(&followed, options).await;
    bar.finish();
    let done = done?;
    summarise(&done, store, summary, is_new(&before, &done.info)).await?;
    replaced(&before, &done.info).into_iter().for_each(|sentence| warn(&sentence));
    Ok(done.info.key)
}

/// Returns the sentence by which an open page says how the test ended.
async fn ending(stored: &Result<RunKey>, store: &Store) -> String {
    match stored {
        Ok(key) => {
            let run = shell_word(&RunNames::in_store(store, key).await);
            format!(
                "The test has ended, and is stored: perfpipe report {run} --format html. This server ends with it; `perfpipe \
                 open` shows all runs."
            )
        }
        Err(error) => format!("Stopped following the test; it is not stored: {error}"),
    }
}

/// Converts the flags to the options of the ingest at the end.
pub(crate) fn options(args: &WatchArgs) -> Result<IngestOptions> {
    keeping(&args.keep, reading(&args.log, false, args.cores.cores)?)
}

/// Shows the seconds of a test until it ends.
async fn follow(
    watch: &Watch,
    args: &WatchArgs,
    (mut judge, mut serving): (Option<&mut Judge>, Option<&mut Serving>),
    progress: &Progress,
) -> Result<()> {
    let mut shown = Shown::begin(args, serving.as_deref().map(Serving::address))?;
    let mut readings = WatchedReadings::begin(watch);
    let mut waiting = Waiting::default();
    loop {
        let look = watch.look()?;
        // A reader who sees a line finds its second on the page.
        if let Some(serving) = &mut serving {
            serving.show(watch, &look, |run| {
                judge.as_deref().map_or_else(|| Ok(Vec::new()), |judge| judge.so_far(run))
            })?;
        }
        shown.show(watch, &look, readings.as_ref().and_then(WatchedReadings::trouble))?;
        if let Some(judge) = &mut judge {
            judge.judge(watch, &look)?;
        }
        if !shown.is_screen() {
            waiting.note_silent(&look);
            if let Some(trouble) = readings.as_mut().and_then(WatchedReadings::new_trouble) {
                warn(&format!("the CPU readings can't be shown yet: {trouble}"));
            }
        }
        if look.ended {
            return Ok(());
        }
        if progress.is_stopping() || waiting.is_over(&look, args.idle_end.map(Duration::from_millis)) {
            watch.stop();
        }
        tokio::time::sleep(BEAT).await;
    }
}

/// The wait for logs that have not begun.
struct Waiting {
    since: Instant,
    is_noted: bool,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { since: Instant::now(), is_noted: false }
    }
}

impl Waiting {
    /// Says once which logs have not begun.
    fn note_silent(&mut self, look: &Look) {
        if self.is_noted || look.unheard.is_empty() || self.since.elapsed() < Duration::from_secs(2) {
            return;
        }
        self.is_noted = true;
        let logs: Vec<String> = look.unheard.iter().map(|log| log.display().to_string()).collect();
        note(&format!("waiting for the first records of {}", logs.join(", ")));
    }

    /// Returns true if nothing was written for so long that the following ends.
    fn is_over(&self, look: &Look, most: Option<Duration>) -> bool {
        most.is_some_and(|most| look.silent.unwrap_or_else(|| self.since.elapsed()) >= most)
    }
}

/// Says which logs the run lacks.
fn warn_missing(followed: &Followed) {
    for log in followed.missing() {
        warn(&format!("nothing was written to {}: the run is stored without it", log.display()));
    }
}

/// The time between two looks at the readings.
const REST: Duration = Duration::from_secs(3);

/// The rest after a look, as a multiple of the time that it took.
const SHARE: u32 = 9;

/// The CPU readings of a running test.
struct WatchedReadings {
    task: JoinHandle<()>,
    trouble: Arc<Mutex<Option<String>>>,
    /// The trouble that was reported last.
    reported: Option<String>,
}

impl WatchedReadings {
    /// Begins to look at them now and then; `None` if there are none to look at.
    pub(super) fn begin(watch: &Watch) -> Option<Self> {
        let trouble = Arc::default();
        let task = tokio::spawn(keep_up(watch.cpu()?, Arc::clone(&trouble)));
        Some(Self { task, trouble, reported: None })
    }

    /// Why they can't be read at present.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why they can't be read, if that was not reported yet.
    fn new_trouble(&mut self) -> Option<String> {
        let now = self.trouble().filter(|trouble| self.reported.as_ref() != Some(trouble))?;
        self.reported = Some(now.clone());
        Some(now)
    }
}

impl Drop for WatchedReadings {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn keep_up(mut cpu: WatchedCpu, trouble: Arc<Mutex<Option<String>>>) {
    loop {
        let begun = Instant::now();
        let found = cpu.refresh().await.err().map(|error| error.to_string());
        *trouble.lock().unwrap_or_else(PoisonError::into_inner) = found;
        tokio::time::sleep((begun.elapsed() * SHARE).max(REST)).await;
    }
}

/// Where a test is shown.
enum Shown {
    Lines(WatchLines),
    Screen(Box<Screen>),
    /// Nowhere, since standard output has the summary alone.
    Nowhere,
}

impl Shown {
    /// Chooses the screen, if standard output is a terminal.
    pub(super) fn begin(args: &WatchArgs, page: Option<SocketAddr>) -> Result<Self> {
        if !args.output.is_notes() && args.output.file.output.is_none() {
            return Ok(Self::Nowhere);
        }
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_dumb || !io::stdout().is_terminal() {
            return Ok(Self::Lines(WatchLines::default()));
        }
        let files: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
        let page = page.map(|address| format!("   http://{address}/")).unwrap_or_default();
        Ok(Self::Screen(Box::new(Screen::new(files.join(", ") + &page)?)))
    }

    /// Shows how far a test has come, and on a terminal why its CPU readings can't be read.
    pub(super) fn show(&mut self, watch: &Watch, look: &Look, trouble: Option<String>) -> Result<()> {
        match self {
            Self::Lines(lines) => lines.show(watch, look),
            Self::Screen(screen) => screen.show(watch, look, trouble),
            Self::Nowhere => Ok(()),
        }
    }

    /// Returns true if the screen is in use, so that nothing else may be written to it.
    fn is_screen(&self) -> bool {
        matches!(self, Self::Screen(_))
    }
}
