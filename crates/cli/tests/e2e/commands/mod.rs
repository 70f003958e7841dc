//! Commands one by one: their flags, help and output.

mod attach_cpu;
mod check;
mod compare;
mod cpu_from;
mod diagnose;
mod flags;
mod help;
mod inspect;
mod notes;
mod output_files;
mod pairs;
mod plan;
mod run_names;
mod series;
mod trend;
