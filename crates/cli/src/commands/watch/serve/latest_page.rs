//! The latest page of a running test, shared with all connections: slow clients skip states.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use perfpipe_analyze::format::one_line;
use tokio::sync::watch::{Receiver, Sender};

/// The newest state of a test.
#[derive(Debug, Clone, Default)]
pub(super) struct PageState {
    /// The number of the page: none has been drawn at 0.
    pub(super) number: u64,
    /// The page as HTML.
    pub(super) page: Bytes,
    /// How the test ended.
    pub(super) ended: Option<String>,
}

/// The newest state, and who wants to know it.
#[derive(Debug, Default)]
pub(super) struct LatestPage {
    state: Sender<PageState>,
    /// True if the page was asked for since it was drawn.
    asked: AtomicBool,
}

impl LatestPage {
    /// Returns true if somebody follows the page or has asked for it, or if it was never drawn.
    pub(super) fn is_wanted(&self) -> bool {
        self.state.receiver_count() > 0 || self.asked.load(Ordering::Relaxed) || self.next_state() == 1
    }

    /// Returns the number of the next state.
    pub(super) fn next_state(&self) -> u64 {
        self.state.borrow().number + 1
    }

    /// Publishes a new page.
    pub(super) fn show(&self, page: String) {
        self.asked.store(false, Ordering::Relaxed);
        self.state.send_modify(|state| {
            state.number += 1;
            state.page = page.into();
        });
    }

    /// Publishes the end of the test; returns true if somebody follows it.
    pub(super) fn end(&self, sentence: &str) -> bool {
        self.state.send_modify(|state| state.ended = Some(one_line(sentence)));
        self.state.receiver_count() > 0
    }

    /// Returns the page, empty if none was drawn yet.
    pub(super) fn page(&self) -> Bytes {
        self.asked.store(true, Ordering::Relaxed);
        self.state.borrow().page.clone()
    }

    /// Follows the states, from the present one on.
    pub(super) fn follow(&self) -> Receiver<PageState> {
        let mut states = self.state.subscribe();
        states.mark_changed();
        states
    }
}
