//! A progress bar on a terminal; elsewhere, silence.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use perfpipe_ingest::Progress;

use crate::output::{on_terminal, size_of};

/// How often the bar is drawn.
const BEAT: Duration = Duration::from_millis(100);

/// A bar that follows an ingest on a thread of its own.
pub(crate) struct Bar {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// Starts a bar over the packed bytes of these files; nothing where nobody looks.
    pub(crate) fn start(files: &[PathBuf], progress: Arc<Progress>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        if !on_terminal() {
            return Self { stop, thread: None };
        }
        // The size of a pipe is not known, and so neither is the time left.
        let total = files.iter().map(|file| size_of(file)).sum::<Option<u64>>();
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || follow(total, &progress, &stopped));
        Self { stop, thread: Some(thread) }
    }

    /// Takes the bar away.
    pub(crate) fn finish(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A bar that failed is no reason to fail.
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
        bar.set_position(progress.packed_bytes.load(Ordering::Relaxed));
        let samples = progress.samples.load(Ordering::Relaxed);
        let rate = samples as f64 / bar.elapsed().as_secs_f64().max(1e-9);
        bar.set_message(format!("{} samples  {}/s", HumanCount(samples), HumanCount(rate as u64)));
        std::thread::sleep(BEAT);
    }
    bar.finish_and_clear();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
