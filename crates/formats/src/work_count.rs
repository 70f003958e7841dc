//! Counts the steps that parsers take, so that tests show that none takes more than linear time, whatever the input.
//!
//! Every loop over bytes or items calls [`count`] with their number, which is a no-op except in tests: those of this
//! crate, and those of others, which build it with the feature `fuzzing` and without optimisation.
//! `worst_shapes/mod.rs` has the tests, and says how a parser is added to them.

#[cfg(any(test, all(feature = "fuzzing", debug_assertions)))]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts bytes or items that a parser processes.
#[inline(always)]
pub fn count(steps: usize) {
    #[cfg(any(test, all(feature = "fuzzing", debug_assertions)))]
    STEPS.with(|all| all.set(all.get() + steps as u64));
    #[cfg(not(any(test, all(feature = "fuzzing", debug_assertions))))]
    let _ = steps;
}

/// The number of steps that some work takes on this thread.
#[cfg(any(test, all(feature = "fuzzing", debug_assertions)))]
pub fn of(work: impl FnOnce()) -> u64 {
    let before = STEPS.with(std::cell::Cell::get);
    work();
    STEPS.with(std::cell::Cell::get) - before
}
