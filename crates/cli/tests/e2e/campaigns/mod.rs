//! Folders of logs, and several runs of one test.

mod folders;
mod parts;
mod repeats;
