//! Folders of logs, and several runs of one test.

mod file_names;
mod folders;
mod parts;
mod repeats;
