//! Buffers that go round: there are only so many, and each comes back by itself, whatever becomes of its holder.

#[cfg(test)]
mod model;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Where buffers come from.
pub(crate) trait Buffers {
    /// A buffer that may hold anything, waiting for one if need be; `None` when the work was given up.
    fn take(&mut self) -> Option<PooledBuffer>;
}

/// New buffers for ever, of no pool.
pub(crate) struct NewBuffers;

impl Buffers for NewBuffers {
    fn take(&mut self) -> Option<PooledBuffer> {
        Some(PooledBuffer::default())
    }
}

/// A fixed number of buffers, shared by those who read.
///
/// Readers take turns, and blocks are stored in the order of the turns and, within a turn, in that in which they were
/// read. A block keeps its buffer until it is counted, so blocks that were read early wait, each with a buffer, for those
/// before them. All the same nobody waits for ever, with any number of readers, workers and buffers:
///
/// - A buffer comes back when it is dropped, so none is lost on any way out, a panic among them.
/// - The block that is stored next is on its way already, or else the next that the first turn reads, which is the
///   earliest that has not ended. Turns begin in their order, so the first one has a reader.
/// - What is on its way arrives: whoever parses and stores waits for no buffer.
/// - The first turn may take the last free buffer, all others leave it. So where it finds none free, one at least is with
///   a block of its own or of turns before it, which is stored before anything else is waited for, and comes back.
/// - When the first turn ends, another becomes the first, and all who wait are woken to look again.
/// - Where the work is given up, a channel that nobody reads may keep a block to its own end. So the pool must be dropped by
///   whoever stores: then nobody gets a buffer any more, and all who wait are woken.
///
/// The module `model` goes through every interleaving of small cases.
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// A buffer came back, a turn ended, or all is given up.
    changed: Condvar,
}

struct State {
    free: Vec<Vec<u8>>,
    /// Turns that have begun.
    begun: u64,
    /// Those that have not ended.
    turns: BTreeSet<u64>,
    /// Nobody gets a buffer any more.
    closed: bool,
}

/// Whether a turn may take a buffer while so many are free.
fn may_take(free: usize, is_first: bool) -> bool {
    free > usize::from(!is_first)
}

impl Pool {
    /// A pool of so many buffers, at least one, each with room for so many bytes.
    pub(crate) fn new(buffers: usize, bytes: usize) -> Self {
        let free = (0..buffers.max(1)).map(|_| Vec::with_capacity(bytes)).collect();
        let state = Mutex::new(State { free, begun: 0, turns: BTreeSet::new(), closed: false });
        Self(Arc::new(Shared { state, changed: Condvar::new() }))
    }

    /// Begins the next turn.
    pub(crate) fn turn(&self) -> Turn {
        let mut state = self.0.lock();
        let number = state.begun;
        state.begun += 1;
        state.turns.insert(number);
        Turn { pool: Arc::clone(&self.0), number }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// The state; a panic elsewhere leaves it whole, as nothing in here panics.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader's turn, which ends when it is dropped.
pub(crate) struct Turn {
    pool: Arc<Shared>,
    number: u64,
}

impl Buffers for Turn {
    fn take(&mut self) -> Option<PooledBuffer> {
        let mut state = self.pool.lock();
        loop {
            if state.closed {
                return None;
            }
            let is_first = state.turns.first() == Some(&self.number);
            if may_take(state.free.len(), is_first)
                && let Some(bytes) = state.free.pop()
            {
                return Some(PooledBuffer { bytes, home: Some(Arc::clone(&self.pool)) });
            }
            state = self.pool.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.pool.lock().turns.remove(&self.number);
        self.pool.changed.notify_all();
    }
}

/// A buffer that goes back to its pool when it is dropped; what it holds is left in it.
#[derive(Default)]
pub(crate) struct PooledBuffer {
    bytes: Vec<u8>,
    home: Option<Arc<Shared>>,
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            home.lock().free.push(std::mem::take(&mut self.bytes));
            home.changed.notify_all();
        }
    }
}

/// A buffer of no pool.
impl From<Vec<u8>> for PooledBuffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, home: None }
    }
}

impl Deref for PooledBuffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for PooledBuffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl PartialEq for PooledBuffer {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for PooledBuffer {}

impl fmt::Debug for PooledBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.fmt(f)
    }
}
