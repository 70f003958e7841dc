//! Several logs of one run.

mod many_logs;
mod side_by_side;
