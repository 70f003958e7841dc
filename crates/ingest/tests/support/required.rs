//! Tests that need something beyond cargo: where it is missing they are skipped with a note, or fail on demand.

#![allow(unreachable_pub, clippy::print_stderr, reason = "shared by test programs")]

/// Skips the calling test, which must then return: says why, and fails instead where `PERFPIPE_REQUIRE_<what>` is set.
pub fn skip(what: &str, why: impl std::fmt::Display) {
    let switch = format!("PERFPIPE_REQUIRE_{what}");
    assert!(std::env::var_os(&switch).is_none(), "{switch} is set, but {why}");
    eprintln!("test skipped: {why}");
}
