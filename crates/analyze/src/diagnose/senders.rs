//! The injectors that the log distinguishes: when each sends, and how much.

use perfpipe_ingest::StoredRun;

use crate::error::Result;
use crate::stats::histogram::mean;
use crate::timeline::cells::by_second;
use crate::timeline::load::reported;
use crate::view::phases::Span;

/// The requests of one injector.
pub(super) struct Sender<'a> {
    pub(super) name: &'a str,
    pub(super) requests: f64,
    /// The sum of the injector's threads over the seconds from its first to its last. A second without a request has as
    /// many threads as the one before.
    pub(super) thread_seconds: f64,
    /// The injector's first and last second.
    pub(super) span: Span,
    threads: f64,
}

impl Sender<'_> {
    /// Returns the requests per second and thread.
    pub(super) fn rate(&self) -> f64 {
        self.requests / self.thread_seconds
    }

    fn add(&mut self, second: u32, samples: f64, threads: f64) {
        let first = if self.requests > 0.0 { self.span.first } else { second };
        let silent = if self.requests > 0.0 { second.saturating_sub(self.span.last + 1) } else { 0 };
        self.thread_seconds += f64::from(silent) * self.threads + threads;
        (self.requests, self.threads) = (self.requests + samples, threads);
        self.span = Span { first, last: second };
    }
}

/// Collects the injectors that sent anything in a span, by name; none if the log distinguishes fewer than two.
pub(super) fn gather(run: &StoredRun, window: Span) -> Result<Vec<Sender<'_>>> {
    let none = |name| Sender { name, requests: 0.0, thread_seconds: 0.0, span: window, threads: 0.0 };
    let names = run.cells.injectors.iter().map(String::as_str);
    let mut gathered: Vec<Sender<'_>> = names.map(none).collect();
    if gathered.iter().filter(|sender| !sender.name.is_empty()).count() < 2 {
        return Ok(Vec::new());
    }
    for second in by_second(run.cells.between(window.first, window.last), window) {
        let (second, cells) = second?;
        for load in reported(&cells) {
            let sender = gathered.get_mut(load.injector as usize);
            if let Some((sender, threads)) = sender.zip(mean(load.threads, load.samples)) {
                sender.add(second, load.samples as f64, threads);
            }
        }
    }
    gathered.retain(|sender| sender.requests > 0.0 && !sender.name.is_empty());
    gathered.sort_by_key(|sender| sender.name);
    Ok(gathered)
}
