//! The store in a bucket: the same figures as in a folder, and tables of Delta Lake for other programs.

mod checkpoints;
mod engines;
mod faults;
mod parity;
mod races;
mod repair;
mod replace;
mod tables;
mod trial;
