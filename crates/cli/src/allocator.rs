//! How the system's allocator keeps what is freed, so that the command takes little more than it uses.

/// Sets glibc's malloc, which otherwise makes an arena a thread, up to eight a core, and gives large pieces from them once
/// one was freed: 16 threads of an ingest left 60 MB lying about, and the page of a run of twelve days 60 MB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "there is no other way but variables of the environment, read before main")]
pub(crate) fn keep_little() {
    // As few as that no thread has been seen to wait for another.
    const ARENAS: libc::c_int = 4;
    // Pieces as large as this go back to the system at once; a log's blocks are smaller, and go round.
    const LARGE: libc::c_int = 4 << 20;
    // What is free at an arena's end is kept for what comes next, up to this; it would be 128 KiB.
    const KEPT: libc::c_int = 2 << 20;
    // SAFETY: it takes two numbers and no memory of ours, and is called before there is a second thread.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_little() {}
