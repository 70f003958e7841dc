//! The store in a bucket: the same figures as in a folder, and tables of Delta Lake for other programs.

mod checkpoints;
pub(crate) mod engines;
mod faults;
mod hostile;
mod parity;
mod races;
mod repair;
mod replace;
pub(crate) mod tables;
mod trial;
