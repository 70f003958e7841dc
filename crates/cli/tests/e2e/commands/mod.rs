//! Commands one by one: their flags, help and output.

mod alternate;
mod attach_cpu;
mod capacity;
mod check;
mod compare;
mod cpu_from;
mod diagnose;
mod flags;
mod help;
mod inspect;
mod json;
mod list;
mod notes;
mod output_files;
mod pairs;
mod plan;
mod run_names;
mod series;
mod trend;
