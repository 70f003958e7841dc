//! Commands that are killed, that run at once, or whose disk or server fails.

mod concurrent_commands;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod crash_points;
mod disk;
mod failures;
pub(crate) mod kills;
mod lost_connections;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod races;
mod signals;
