//! Counts the steps that parsers take, so that tests show that none takes more than linear time, whatever the input.
//!
//! Every loop over bytes or items calls [`count`] with their number, which is a no-op except in this crate's own tests.
//! `worst_shapes/mod.rs` has the tests, and says how a parser is added to them.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts bytes or items that a parser processes.
#[inline(always)]
pub(crate) fn count(steps: usize) {
    #[cfg(test)]
    STEPS.with(|all| all.set(all.get() + steps as u64));
    #[cfg(not(test))]
    let _ = steps;
}

/// The number of steps that some work takes on this thread.
#[cfg(test)]
pub(crate) fn of(work: impl FnOnce()) -> u64 {
    let before = STEPS.with(std::cell::Cell::get);
    work();
    STEPS.with(std::cell::Cell::get) - before
}
