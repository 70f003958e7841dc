//! Runs jobs in parallel and reports their panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use perfpipe_model::error::{Error, Result};

/// The name of a job and its work.
pub type Job<'a, T> = (&'static str, Box<dyn FnOnce() -> Result<T> + Send + 'a>);

/// Runs jobs in parallel, such as waits for a disk, and returns their results in order. The last one runs on this thread.
///
/// # Errors
/// Returns the error of the first job that failed.
pub fn side_by_side<T: Send>(mut jobs: Vec<Job<'_, T>>) -> Result<Vec<(&'static str, T)>> {
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
