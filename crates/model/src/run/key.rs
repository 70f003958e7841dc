//! The key of a run: framework, test and repeat.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The largest repeat number.
pub const LAST_REPEAT: u32 = i32::MAX as u32;

/// The maximum length of the name of a framework or a test, in bytes.
const LONGEST_NAME: usize = 64 << 10;

/// Returns why a framework or a test can't have this name, as a clause; `None` if it can.
pub fn name_fault(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        Some("is empty".to_owned())
    } else if name.len() > LONGEST_NAME {
        Some(format!("has {} bytes, and may have {LONGEST_NAME}", name.len()))
    } else if name.contains('\0') {
        Some("has a NUL, which PostgreSQL can't store".to_owned())
    } else {
        None
    }
}

/// Identifies a run: the framework under test, the test, and the number of the repeat.
///
/// Displayed as `spring_2048`; from the second repeat on as `spring_2048#2`.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::RunKey;
///
/// let key = RunKey::new("spring", "2048");
/// assert_eq!((key.repeat, key.to_string(), key.name()), (1, "spring_2048".into(), "spring_2048".into()));
/// let key = key.with_repeat(2);
/// assert_eq!((key.to_string(), key.name()), ("spring_2048#2".into(), "spring_2048_r2".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

    /// Returns why no run can have this key, as a clause; `None` if one can.
    pub fn fault(&self) -> Option<String> {
        let names = [("framework", &self.framework), ("test", &self.test)];
        let fault = names.into_iter().find_map(|(what, name)| Some((what, name_fault(name)?)));
        let range = || {
            let repeat = self.repeat;
            let is_far = !(1..=LAST_REPEAT).contains(&repeat);
            is_far.then(|| format!("the repeat is {repeat}, and must be from 1 to {LAST_REPEAT}"))
        };
        fault.map(|(what, fault)| format!("the name of the {what} {fault}")).or_else(range)
    }

    /// A name for tables and files, such as `spring_2048` or `spring_2048_r2`. Different keys may share a name.
    pub fn name(&self) -> String {
        match self.repeat {
            1 => format!("{}_{}", self.framework, self.test),
            repeat => format!("{}_{}_r{repeat}", self.framework, self.test),
        }
    }

    /// Returns true if a name means this run. `spring_2048` means all repeats, `spring_2048#2` the second alone;
    /// `spring/2048` shows where the framework ends. A name that ends in `#` and a number is never that of all repeats.
    ///
    /// ```
    /// # extern crate perfpipe_model as perfpipe_ingest;
    /// use perfpipe_ingest::RunKey;
    ///
    /// let key = RunKey::new("spring", "2048").with_repeat(2);
    /// assert!(["spring_2048", "spring/2048", "spring_2048#2", "spring/2048#2"].iter().all(|name| key.is_called(name)));
    /// assert!(["spring_2048#1", "spring", "spring_2048#02"].iter().all(|name| !key.is_called(name)));
    /// ```
    pub fn is_called(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.framework.as_str());
        let rest = rest.and_then(|rest| rest.strip_prefix(['_', '/']));
        rest.and_then(|rest| rest.strip_prefix(self.test.as_str())).is_some_and(|repeat| match repeat {
            "" => !is_numbered(name),
            repeat => repeat == format!("#{}", self.repeat),
        })
    }

    /// The sort key in lists of runs: test, framework, repeat.
    pub fn in_lists(&self) -> (&str, &str, u32) {
        (&self.test, &self.framework, self.repeat)
    }
}

/// Returns true if a name ends in the number of a repeat, as in `spring_2048#2`.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::run::is_numbered;
///
/// assert!(is_numbered("spring_2048#2") && !is_numbered("spring_2048") && !is_numbered("spring_#a"));
/// ```
pub fn is_numbered(name: &str) -> bool {
    let number = name.rsplit_once('#').map_or("", |(_, number)| number);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.framework, self.test)?;
        if self.repeat == 1 { Ok(()) } else { write!(f, "#{}", self.repeat) }
    }
}

/// The repeat number under which a run is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
