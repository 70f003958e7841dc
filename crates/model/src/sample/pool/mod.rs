//! A fixed number of buffers that return to their pool when dropped.

#[cfg(test)]
mod model;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A source of buffers.
pub trait Buffers {
    /// Waits for a buffer and returns it; its content is unspecified. `None` if the work was given up.
    fn take(&mut self) -> Option<PooledBuffer>;
}

/// An unlimited source of new buffers that belong to no pool.
pub struct NewBuffers;

impl Buffers for NewBuffers {
    fn take(&mut self) -> Option<PooledBuffer> {
        Some(PooledBuffer::default())
    }
}

/// A fixed number of buffers, shared by all readers.
///
/// Readers take turns. Blocks are stored in the order of the turns and, within a turn, in the order in which they were
/// read. A block keeps its buffer until it is counted, so blocks that were read early hold their buffers until all
/// blocks before them are stored. The memory of a buffer may be given back earlier, and is then that of the next one; so
/// is the buffer of as many blocks as may wait without one. There is no deadlock, for any number of readers, workers and
/// buffers:
///
/// - A buffer returns when it is dropped, so none is lost on any path, including a panic.
/// - The block that is stored next is either in flight already or the next one that the first turn reads. The first
///   turn is the earliest that has not ended. Turns begin in order, so it always has a reader.
/// - Blocks in flight arrive: parsing and storing wait for no buffer.
/// - Only the first turn may take the last free buffer. If it finds none free, at least one buffer is held by a block
///   of its own or of an earlier turn; that block is stored without waiting for anything else, and its buffer returns.
/// - When the first turn ends, another becomes the first, and all waiting readers wake up to check again.
/// - If the work is given up, a channel that nobody reads may keep a block as long as it exists. So the storing task must
///   drop the pool: then nobody gets a buffer any more, and all waiting readers wake up.
///
/// The module `model` checks every interleaving of small cases.
pub struct Pool(Arc<SharedBuffers>);

struct SharedBuffers {
    /// The number of buffers.
    buffers: usize,
    state: Mutex<PoolState>,
    /// Signalled when a buffer returns, a turn ends, or the work is given up.
    changed: Condvar,
}

struct PoolState {
    /// The number of free buffers.
    free: usize,
    /// The number of further blocks that may wait without a buffer.
    room: usize,
    /// The memory of buffers, for those that are taken next. What was given back last is most likely in the cache.
    memory: Vec<Vec<u8>>,
    /// The number of turns that have begun.
    begun: u64,
    /// The turns that have not ended.
    turns: BTreeSet<u64>,
    /// True if nobody gets a buffer any more.
    closed: bool,
}

impl PoolState {
    /// Keeps memory for other buffers, if there is any.
    fn keep(&mut self, memory: Vec<u8>) {
        if memory.capacity() > 0 {
            self.memory.push(memory);
        }
    }
}

/// Returns true if a turn may take a buffer while `free` buffers are free.
fn may_take(free: usize, is_first: bool) -> bool {
    free > usize::from(!is_first)
}

impl Pool {
    /// Creates a pool of `buffers` buffers (at least one). They take memory once they are filled.
    pub fn new(buffers: usize) -> Self {
        let buffers = buffers.max(1);
        Self::of(buffers, 0)
    }

    /// The same number of buffers, beside which so many blocks may wait without one.
    pub fn with_waiting(self, waiting: usize) -> Self {
        Self::of(self.0.buffers, waiting)
    }

    fn of(buffers: usize, waiting: usize) -> Self {
        let (memory, turns) = (Vec::new(), BTreeSet::new());
        let state = PoolState { free: buffers, room: waiting, memory, begun: 0, turns, closed: false };
        Self(Arc::new(SharedBuffers { buffers, state: Mutex::new(state), changed: Condvar::new() }))
    }

    /// Begins the next turn.
    pub fn turn(&self) -> Turn {
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

impl SharedBuffers {
    /// Locks the state. A poisoned lock is safe to use: no code that holds it panics half-way through a change.
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reader's turn. It ends when dropped.
pub struct Turn {
    pool: Arc<SharedBuffers>,
    number: u64,
}

impl Turn {
    /// Returns a buffer if it need not be waited for.
    pub fn take_free(&self) -> Option<PooledBuffer> {
        self.take_of(&mut self.pool.lock())
    }

    fn take_of(&self, state: &mut PoolState) -> Option<PooledBuffer> {
        let is_first = state.turns.first() == Some(&self.number);
        if state.closed || !may_take(state.free, is_first) {
            return None;
        }
        state.free -= 1;
        let bytes = state.memory.pop().unwrap_or_default();
        Some(PooledBuffer { bytes, home: Some(Arc::clone(&self.pool)), is_back: false })
    }
}

impl Buffers for Turn {
    fn take(&mut self) -> Option<PooledBuffer> {
        let mut state = self.pool.lock();
        loop {
            if let Some(buffer) = self.take_of(&mut state) {
                return Some(buffer);
            }
            if state.closed {
                return None;
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

/// A buffer that returns to its pool when dropped. Its content is not cleared.
#[derive(Default)]
pub struct PooledBuffer {
    bytes: Vec<u8>,
    home: Option<Arc<SharedBuffers>>,
    /// True if it was given back, and only its block waits.
    is_back: bool,
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            let mut state = home.lock();
            let number = if self.is_back { &mut state.room } else { &mut state.free };
            *number += 1;
            state.keep(std::mem::take(&mut self.bytes));
            drop(state);
            home.changed.notify_all();
        }
    }
}

impl PooledBuffer {
    /// Gives the memory to the pool, for the next buffer that is taken. This one is empty from now on. It stays taken, unless
    /// its block may wait without one.
    pub fn give_memory_back(&mut self) {
        let Some(home) = &self.home else { return };
        let mut state = home.lock();
        state.keep(std::mem::take(&mut self.bytes));
        if let Some(room) = state.room.checked_sub(1).filter(|_| !self.is_back) {
            (state.room, self.is_back) = (room, true);
            state.free += 1;
            drop(state);
            home.changed.notify_all();
        }
    }
}

/// Creates a buffer that belongs to no pool.
impl From<Vec<u8>> for PooledBuffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, home: None, is_back: false }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_given_back_is_taken_next_but_its_buffer_counts() {
        let pool = Pool::new(3);
        let turn = pool.turn();
        let take = || turn.take_free().unwrap();
        let [mut first, mut second] = [take(), take()];
        first.extend([1; 9]);
        second.extend([2; 9]);
        first.give_memory_back();
        assert!(first.is_empty());
        let third = take();
        assert_eq!(*third, [1; 9], "the content is not cleared");
        assert!(turn.take_free().is_none());
        drop(second);
        drop(first);
        let last = take();
        assert_eq!(*last, [2; 9]);
        drop((third, last));
        assert_eq!([take(), take(), take()].map(|buffer| buffer.len()), [9, 9, 0]);
    }

    #[test]
    fn buffer_of_a_block_that_may_wait_without_one_is_free() {
        let pool = Pool::new(2).with_waiting(1);
        let turn = pool.turn();
        let take = || turn.take_free().unwrap();
        let [mut first, mut second] = [take(), take()];
        assert!(turn.take_free().is_none());
        first.give_memory_back();
        first.give_memory_back();
        let third = take();
        second.give_memory_back();
        assert!(turn.take_free().is_none(), "only one block may wait without a buffer");
        drop(third);
        let third = take();
        drop(first);
        assert!(turn.take_free().is_none(), "its buffer came back before");
        drop(second);
        drop(third);
    }
}
