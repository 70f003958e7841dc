//! Encodes the columns of a row group in parallel. Each column belongs to one thread, which encodes it in row order.

use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, never};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowLeafColumn};

use crate::error::{Error, Result};

/// The maximum number of threads: enough to keep up with the decompression of one log. Dealing the columns out in turn
/// balances the threads, since no column takes longer than a few others together.
const THREADS: usize = 4;

/// The maximum number of batches that wait for a thread, so that a temporarily slow thread does not hold up the others.
const WAITING: usize = 8;

/// Threads that encode columns, which are assigned to them in turn.
pub(super) struct ColumnThreads {
    threads: Vec<ColumnThread>,
}

/// A thread with its channels. Dropping it ends the thread.
struct ColumnThread {
    tasks: Sender<Task>,
    ended: Receiver<Result<Vec<ArrowColumnChunk>>>,
    thread: Option<JoinHandle<()>>,
}

/// A task for a thread and its columns.
enum Task {
    /// Begins a row group.
    Begin(Vec<ArrowColumnWriter>),
    /// Encodes a batch's part of each column.
    Rows(Vec<ArrowLeafColumn>),
    /// Ends the row group and returns its columns.
    End,
}

impl ColumnThreads {
    /// Starts threads that wait for the first row group.
    pub(super) fn start() -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = (0..cores.min(THREADS)).map(|_| ColumnThread::start()).collect::<Result<_>>()?;
        Ok(Self { threads })
    }

    /// Begins a row group of these columns.
    pub(super) fn begin(&self, columns: Vec<ArrowColumnWriter>) -> Result<()> {
        self.deal(columns, Task::Begin)
    }

    /// Encodes a batch, given by column. Waits while too many batches are queued.
    pub(super) fn write(&self, columns: Vec<ArrowLeafColumn>) -> Result<()> {
        self.deal(columns, Task::Rows)
    }

    /// Ends the row group. Its columns have to be taken before the next one ends.
    pub(super) fn end(&self) -> Result<()> {
        self.threads.iter().try_for_each(|thread| thread.give(Task::End))
    }

    /// Waits for the row group that ended last and returns its columns in their order.
    pub(super) fn ended(&self) -> Result<Vec<ArrowColumnChunk>> {
        let shares = self.threads.iter().map(ColumnThread::ended).collect::<Result<Vec<_>>>()?;
        Ok(in_turn(shares))
    }

    /// Assigns each thread its share of the columns.
    fn deal<T>(&self, columns: Vec<T>, task: impl Fn(Vec<T>) -> Task) -> Result<()> {
        let mut shares: Vec<Vec<T>> = self.threads.iter().map(|_| Vec::new()).collect();
        for (at, column) in columns.into_iter().enumerate() {
            if let Some(share) = shares.get_mut(at % self.threads.len().max(1)) {
                share.push(column);
            }
        }
        self.threads.iter().zip(shares).try_for_each(|(thread, share)| thread.give(task(share)))
    }
}

/// Restores the order of columns that were dealt out.
fn in_turn<T>(shares: Vec<Vec<T>>) -> Vec<T> {
    let mut shares: Vec<_> = shares.into_iter().map(Vec::into_iter).collect();
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(shares.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            return all;
        }
    }
}

impl ColumnThread {
    fn start() -> Result<Self> {
        let (tasks, queue) = bounded(WAITING);
        let (end, ended) = bounded(1);
        let work = move || encode(&queue, &end);
        let thread =
            Builder::new().name("perfpipe-encode".to_owned()).spawn(work).map_err(Error::no_thread)?;
        Ok(Self { tasks, ended, thread: Some(thread) })
    }

    /// Sends the thread a task. If the thread has stopped, its error is returned.
    fn give(&self, task: Task) -> Result<()> {
        match self.tasks.send(task) {
            Ok(()) => Ok(()),
            Err(_) => self.ended().and(Err(stopped())),
        }
    }

    fn ended(&self) -> Result<Vec<ArrowColumnChunk>> {
        self.ended.recv().map_err(|_| stopped())?
    }
}

impl Drop for ColumnThread {
    fn drop(&mut self) {
        // Nobody waits at either end any more: the thread finds no further task, and does not block on its last result.
        (self.tasks, self.ended) = (bounded(0).0, never());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported to whoever waited for its result.
            let _ = thread.join();
        }
    }
}

fn stopped() -> Error {
    Error::stopped("encoding samples")
}

/// Runs tasks until there are no more or one fails.
fn encode(tasks: &Receiver<Task>, ended: &Sender<Result<Vec<ArrowColumnChunk>>>) {
    let mut columns = Vec::new();
    for task in tasks {
        let done = match task {
            Task::Begin(begun) => {
                columns = begun;
                continue;
            }
            Task::Rows(rows) => match write(&mut columns, &rows) {
                Ok(()) => continue,
                Err(error) => Err(error),
            },
            Task::End => columns.drain(..).map(ArrowColumnWriter::close).collect(),
        };
        let failed = done.is_err();
        // A closed channel means that no more results are wanted.
        if ended.send(done.map_err(|error| Error::store("encoding samples", error))).is_err() || failed {
            return;
        }
    }
}

fn write(columns: &mut [ArrowColumnWriter], rows: &[ArrowLeafColumn]) -> parquet::errors::Result<()> {
    columns.iter_mut().zip(rows).try_for_each(|(column, rows)| column.write(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_dealt_out_come_back_in_order() {
        for threads in 1..6 {
            let mut shares = vec![Vec::new(); threads];
            (0..14).for_each(|column: usize| shares[column % threads].push(column));
            assert_eq!(in_turn(shares), (0..14).collect::<Vec<_>>());
        }
    }
}
