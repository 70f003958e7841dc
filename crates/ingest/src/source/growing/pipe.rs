//! A pipe that is kept in a temporary file as it is read, so that it can be read again.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::grown::Grown;
use super::kept::Kept;

/// The number of bytes that are read at once: what a pipe of Linux holds.
const PIECE: usize = 64 << 10;

/// A pipe, read by a thread of its own, since a read waits for as long as nobody writes.
pub(super) struct GrowingPipe(Arc<Mutex<State>>);

struct State {
    kept: Kept,
    /// How the pipe ended.
    end: Option<io::Result<()>>,
}

impl GrowingPipe {
    /// Starts to read what `open` returns.
    pub(super) fn begin<R: Read>(open: impl FnOnce() -> io::Result<R> + Send + 'static) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(State { kept: Kept::new()?, end: None }));
        let of_thread = Arc::clone(&state);
        let read = move || {
            let end = open().and_then(|pipe| keep(pipe, &of_thread));
            lock(&of_thread).end = Some(end);
        };
        // It is not joined: it may wait for whoever never writes again.
        std::thread::Builder::new().name("perfpipe-pipe".to_owned()).spawn(read)?;
        Ok(Self(state))
    }

    /// Reads from a byte on.
    pub(super) fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<Grown> {
        let mut state = lock(&self.0);
        if at < state.kept.bytes() {
            return state.kept.read_at(at, out).map(Grown::Bytes);
        }
        match &state.end {
            None => Ok(Grown::Nothing),
            Some(Ok(())) => Ok(Grown::Ended),
            Some(Err(error)) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    /// Shows what was read so far.
    pub(super) fn with_kept<T>(&self, show: impl FnOnce(&Kept) -> T) -> T {
        show(&lock(&self.0).kept)
    }
}

/// Keeps all that a pipe gives.
fn keep(mut pipe: impl Read, state: &Mutex<State>) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => lock(state).kept.push(piece.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
