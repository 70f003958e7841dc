//! How the samples of a run lie on the nodes of a Citus cluster.

/// The place of a run's samples on a Citus cluster. By default they are whole on one node, in rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placement {
    /// True if they are dealt out over all nodes by their second, for a run that is beyond one node.
    pub by_second: bool,
    /// True if they are stored in columns, which takes less space. The cluster needs the extension `citus_columnar`.
    pub columnar: bool,
}

impl Placement {
    /// Deals samples out over all nodes by their second.
    #[must_use]
    pub fn with_seconds_apart(mut self) -> Self {
        self.by_second = true;
        self
    }

    /// Stores samples in columns.
    #[must_use]
    pub fn with_columns(mut self) -> Self {
        self.columnar = true;
        self
    }
}
