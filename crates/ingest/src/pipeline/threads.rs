//! Starts and joins threads, and reports their panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use tokio::sync::mpsc;

use super::messages::Message;
use crate::error::{Error, Result};

/// Runs `work` on a new thread. A panic is reported as a message, since others would wait for its results.
pub(super) fn spawn<C, F>(name: &str, alarm: mpsc::Sender<Message<C>>, work: F) -> Result<JoinHandle<()>>
where
    C: Send + 'static,
    F: FnOnce() + Send + 'static,
{
    let name = format!("perfpipe-{name}");
    let alarm = Alarm { name: name.clone(), messages: alarm };
    let work = move || {
        let _alarm = alarm;
        work();
    };
    std::thread::Builder::new().name(name).spawn(work).map_err(Error::no_thread)
}

/// Reports a panic of the thread that holds it to the collecting task.
struct Alarm<C> {
    name: String,
    messages: mpsc::Sender<Message<C>>,
}

impl<C> Drop for Alarm<C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let stopped = Error::stopped(format!("the thread {}", self.name));
            let _ = self.messages.blocking_send(Message::Failed(stopped));
        }
    }
}

pub(super) fn join(threads: Vec<JoinHandle<()>>) -> Result<()> {
    for thread in threads {
        let name = thread.thread().name().unwrap_or("worker").to_owned();
        if thread.join().is_err() {
            return Err(Error::stopped(format!("the thread {name}")));
        }
    }
    Ok(())
}

/// The name of a job and its work.
pub(crate) type Job<'a, T> = (&'static str, Box<dyn FnOnce() -> Result<T> + Send + 'a>);

/// Runs jobs in parallel, such as waits for a disk, and returns their results in order. The last one runs on this thread.
///
/// # Errors
/// Returns the error of the first job that failed.
pub(crate) fn side_by_side<T: Send>(mut jobs: Vec<Job<'_, T>>) -> Result<Vec<(&'static str, T)>> {
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        let last = jobs.pop();
        for (name, work) in jobs {
            let thread = std::thread::Builder::new().spawn_scoped(scope, work).map_err(Error::no_thread)?;
            threads.push((name, thread));
        }
        let last = last.map(|(name, work)| (name, catch_unwind(AssertUnwindSafe(work))));
        let ended = threads.into_iter().map(|(name, thread)| (name, thread.join())).chain(last);
        let done = ended.map(|(name, ended)| {
            let done = ended.map_err(|_| Error::stopped(format!("the work on {name}")))?;
            Ok((name, done?))
        });
        done.collect()
    })
}
