//! Flags on goals for response times.

use clap::Args;
use perfpipe_analyze::Goal;

/// Goals for response times.
#[derive(Debug, Args)]
#[command(next_help_heading = "View")]
pub(crate) struct GoalArgs {
    /// Add the percentage of all requests that succeed within a time: 200ms, 1.5s; repeatable
    #[arg(long, value_name = "TIME", value_parser = Goal::within)]
    pub(crate) within: Vec<Goal>,
    /// Add the Apdex for a threshold T (Apdex Technical Specification 1.1): 500ms; repeatable
    #[arg(long, value_name = "TIME", value_parser = Goal::apdex)]
    pub(crate) apdex: Vec<Goal>,
}

impl GoalArgs {
    /// Returns all goals.
    pub(crate) fn goals(&self) -> Vec<Goal> {
        [&self.within[..], &self.apdex].concat()
    }
}
