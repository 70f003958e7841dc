//! Lets more readers begin where those that read do not keep up with the workers.
//!
//! A reader more than are needed costs time: it takes a core from the workers, and its blocks leave the cache before they are
//! parsed.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The number of blocks in a row for which no reader waited that lets another one begin.
const STRAIGHT: usize = 64;

/// The readers that have begun.
pub(super) struct Gate {
    state: Mutex<State>,
    /// Signalled when more readers may begin.
    opened: Condvar,
}

struct State {
    /// The number of readers that may read.
    open: usize,
    /// The number of blocks since a reader waited or was let in.
    straight: usize,
}

impl State {
    fn admits(&self, reader: usize) -> bool {
        reader < self.open
    }
}

impl Gate {
    /// Lets so many readers begin at once.
    pub(super) fn new(open: usize) -> Self {
        Self { state: Mutex::new(State { open, straight: 0 }), opened: Condvar::new() }
    }

    /// Waits until the reader with this number may begin.
    pub(super) fn enter(&self, reader: usize) {
        let is_closed = |state: &mut State| !state.admits(reader);
        drop(self.opened.wait_while(self.lock(), is_closed).unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a block that a reader brought.
    pub(super) fn brought(&self) {
        let mut state = self.lock();
        state.straight += 1;
        if state.straight >= STRAIGHT {
            *state = State { open: state.open.saturating_add(1), straight: 0 };
            self.opened.notify_all();
        }
    }

    /// Notes that a reader is ahead of the workers, and waits for them.
    pub(super) fn waited(&self) {
        self.lock().straight = 0;
    }

    /// Lets all readers begin: one has ended, so there is nothing left to read, or nobody works any more.
    pub(super) fn open(&self) {
        self.lock().open = usize::MAX;
        self.opened.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Gate {
    /// Returns true if a reader with this number may begin.
    pub(super) fn admits(&self, reader: usize) -> bool {
        self.lock().admits(reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_begins_once_those_before_it_brought_blocks_without_waiting() {
        let gate = Gate::new(1);
        gate.enter(0);
        for _ in 0..9 {
            (1..STRAIGHT).for_each(|_| gate.brought());
            gate.waited();
        }
        assert!(!gate.admits(1), "the first is ahead of the workers");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                gate.enter(1);
                assert!(gate.admits(1));
            });
            (0..STRAIGHT).for_each(|_| gate.brought());
            second.join().unwrap();
            assert!(!gate.admits(2));
            let others = [2, 7].map(|reader| {
                let gate = &gate;
                scope.spawn(move || gate.enter(reader))
            });
            gate.open();
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    }
}
