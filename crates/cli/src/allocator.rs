//! The allocator, and settings of the system's that keep the command's memory close to what it uses.

/// The allocator of a static program: with musl's own, an ingest takes a third longer, and one of short records twice as
/// long, since its threads wait for each other. Without huge pages, which would take 40 MB more.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Configures glibc's malloc. By default it creates an arena per thread, up to eight per core, and keeps large pieces
/// in them once one was freed: 16 threads of an ingest left 60 MB unused, and so did the page of a run of twelve days.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "there is no other way but variables of the environment, read before main")]
pub(crate) fn keep_little() {
    // Few, but enough that no thread has been seen to wait for another.
    const ARENAS: libc::c_int = 4;
    // Pieces of at least this size go back to the system at once; a log's blocks are smaller, and are reused.
    const LARGE: libc::c_int = 4 << 20;
    // Free memory at an arena's end is kept up to this size; the default is 128 KiB.
    const KEPT: libc::c_int = 2 << 20;
    // An arena grows by this size at a time. By default those of threads grow page by page: 1,000 runs were listed with 300
    // calls of the system for it, and while one is made, no other thread gets its memory.
    const GROWTH: libc::c_int = 1 << 20;
    // SAFETY: mallopt takes two numbers and no memory of ours, and is called before there is a second thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_TOP_PAD, GROWTH);
    }
}

/// Gives memory that was freed within the arenas back to the system: the details of a run of twelve days leave 50 MB there
/// in pieces too small for what follows.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "there is no other way")]
pub(crate) fn give_back() {
    // SAFETY: malloc_trim takes a number and no memory of ours, and may be called at any time by any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Does nothing: other allocators give memory back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

/// Does nothing: other allocators keep their settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_little() {}
