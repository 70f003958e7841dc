//! What is read of logs and CPU exports, from files, archives and pipes.

mod changed_files;
mod cpu_exports;
mod fixtures;
mod injectors;
mod late_time_zero;
mod packed_files;
mod run_keys;
mod salvage;
mod standard_input;
mod sub_samples;
mod unusual_values;
