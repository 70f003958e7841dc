//! The key of a run: framework, test and repeat.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The largest repeat number.
pub const LAST_REPEAT: u32 = i32::MAX as u32;

/// Identifies a run: the framework under test, the test, and the number of the repeat.
///
/// Displayed as `spring_2048`; from the second repeat on as `spring_2048#2`.
///
/// ```
/// use perfpipe_ingest::RunKey;
///
/// let key = RunKey::new("spring", "2048");
/// assert_eq!((key.repeat, key.to_string(), key.name()), (1, "spring_2048".into(), "spring_2048".into()));
/// let key = key.with_repeat(2);
/// assert_eq!((key.to_string(), key.name()), ("spring_2048#2".into(), "spring_2048_r2".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunKey {
    /// The system under test, as in `perfectnio`.
    pub framework: String,
    /// The test, named after its endpoint, as in `2048`.
    pub test: String,
    /// The repeat of this framework and test, from 1 to [`LAST_REPEAT`].
    pub repeat: u32,
}

impl RunKey {
    /// Creates the key of the first repeat of a framework and a test.
    pub fn new(framework: impl Into<String>, test: impl Into<String>) -> Self {
        Self { framework: framework.into(), test: test.into(), repeat: 1 }
    }

    /// Returns the key of another repeat (from 1) of the same framework and test.
    #[must_use]
    pub fn with_repeat(self, repeat: u32) -> Self {
        Self { repeat, ..self }
    }

    /// A name for tables and files, such as `spring_2048` or `spring_2048_r2`. Different keys may share a name.
    pub fn name(&self) -> String {
        match self.repeat {
            1 => format!("{}_{}", self.framework, self.test),
            repeat => format!("{}_{}_r{repeat}", self.framework, self.test),
        }
    }

    /// The sort key in lists of runs: test, framework, repeat.
    pub(crate) fn in_lists(&self) -> (&str, &str, u32) {
        (&self.test, &self.framework, self.repeat)
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.framework, self.test)?;
        if self.repeat == 1 { Ok(()) } else { write!(f, "#{}", self.repeat) }
    }
}

/// The repeat number under which a run is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repeat {
    /// This number, from 1 to [`LAST_REPEAT`]. An earlier run with the same number is replaced.
    Number(u32),
    /// The lowest number that no stored run has, and none that is being stored at the same time.
    Next,
}

impl Default for Repeat {
    fn default() -> Self {
        Self::Number(1)
    }
}
