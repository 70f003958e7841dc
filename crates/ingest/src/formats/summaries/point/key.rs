//! The key of a point.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identifies a point. The tool is a part of it: two tools measure the same server differently.
///
/// ```
/// use perfpipe_ingest::points::PointKey;
///
/// let key = PointKey::new("wrk", "go", "/hello").with_concurrency(64);
/// assert_eq!(key.to_string(), "go /hello by wrk at c64");
/// assert_eq!(key.with_workers(4).with_repeat(2).to_string(), "go /hello by wrk at c64 w4 #2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PointKey {
    /// The test, such as the path of the URL.
    pub test: String,
    /// The system under test.
    pub framework: String,
    /// The load tool.
    pub tool: String,
    /// Connections or users of the tool, if known.
    pub concurrency: Option<u32>,
    /// Workers of the system under test, if known.
    pub workers: Option<u32>,
    /// The repeat, from 1.
    pub repeat: u32,
}

impl PointKey {
    /// The first repeat of a framework and a test, at an unknown concurrency.
    pub fn new(tool: impl Into<String>, framework: impl Into<String>, test: impl Into<String>) -> Self {
        let (tool, framework, test) = (tool.into(), framework.into(), test.into());
        Self { tool, framework, test, concurrency: None, workers: None, repeat: 1 }
    }

    /// The same at this concurrency.
    #[must_use]
    pub fn with_concurrency(self, concurrency: u32) -> Self {
        Self { concurrency: Some(concurrency), ..self }
    }

    /// The same with this number of workers.
    #[must_use]
    pub fn with_workers(self, workers: u32) -> Self {
        Self { workers: Some(workers), ..self }
    }

    /// Another repeat (from 1) of the same.
    #[must_use]
    pub fn with_repeat(self, repeat: u32) -> Self {
        Self { repeat, ..self }
    }
}

impl fmt::Display for PointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} by {}", self.framework, self.test, self.tool)?;
        if self.concurrency.is_some() || self.workers.is_some() {
            write!(f, " at")?;
        }
        if let Some(concurrency) = self.concurrency {
            write!(f, " c{concurrency}")?;
        }
        if let Some(workers) = self.workers {
            write!(f, " w{workers}")?;
        }
        if self.repeat == 1 { Ok(()) } else { write!(f, " #{}", self.repeat) }
    }
}
