//! Starts and joins threads, and reports their panics.

use std::thread::JoinHandle;

use tokio::sync::mpsc;

use super::messages::Message;
use perfpipe_model::error::{Error, Result};

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
