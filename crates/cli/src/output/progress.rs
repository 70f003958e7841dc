//! The progress bar, which is shown only on a terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use perfpipe_ingest::Progress;

use super::on_terminal;
use super::say::is_quiet;

/// The time between two updates of the bar.
const BEAT: Duration = Duration::from_millis(100);

/// A bar that shows the progress of an ingest, on its own thread.
pub(crate) struct Bar {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// Starts a bar for this many compressed bytes, if standard error is a terminal and progress is wanted. For a pipe, whose size is not
    /// known, the bar shows no time left.
    pub(crate) fn start(total: Option<u64>, progress: Progress) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        if !on_terminal() || is_quiet() {
            return Self { stop, thread: None };
        }
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || follow(total, &progress, &stopped));
        Self { stop, thread: Some(thread) }
    }

    /// Removes the bar.
    pub(crate) fn finish(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A failed bar is not a failure of the command.
            let _ = thread.join();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.stop();
    }
}

fn follow(total: Option<u64>, progress: &Progress, stop: &AtomicBool) {
    let bar = match total {
        Some(total) => ProgressBar::new(total)
            .with_style(style("{bar:30} {percent:>3} %  {bytes} of {total_bytes}  {msg}  {eta} left")),
        None => ProgressBar::new_spinner().with_style(style("{spinner}  {bytes}  {msg}  {elapsed}")),
    };
    while !stop.load(Ordering::Relaxed) {
        let samples = progress.samples();
        bar.set_position(progress.packed_bytes());
        let rate = samples as f64 / bar.elapsed().as_secs_f64().max(1e-9);
        bar.set_message(format!(
            "{}{} samples  {}/s",
            runs(progress),
            HumanCount(samples),
            HumanCount(rate as u64)
        ));
        std::thread::sleep(BEAT);
    }
    bar.finish_and_clear();
}

/// Describes how many runs of a campaign have ended.
fn runs(progress: &Progress) -> String {
    match progress.runs() {
        0 => String::new(),
        all => format!("{} of {all} runs  ", progress.ended()),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
