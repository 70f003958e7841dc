//! Programs and devices that the tests work with.

pub(crate) mod altered;
pub(crate) mod answers;
pub(crate) mod chromium;
pub(crate) mod mount;
pub(crate) mod proxy;
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
pub(crate) mod tracer;
