//! The input files: recognised by their content, opened, unpacked and checked.

pub(crate) mod checked;
mod codec;
mod container;
mod content;
pub(crate) mod fault;
mod gunzip;
pub(crate) mod head;
mod inputs;
pub(crate) mod log;
mod lzma;
pub(crate) mod packed;
mod pipe;
mod salvaged;
mod seen;
pub(crate) mod stored;
pub(crate) mod zip_dir;
mod zip_header;
mod zip_pipe;
mod zip_rest;
mod zip_scan;

pub use inputs::{Inputs, SourceOptions};
pub use log::{LogReader, LogSource, LogStream};
