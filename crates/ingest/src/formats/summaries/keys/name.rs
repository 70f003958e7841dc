//! Names of files that have parts of keys.

use regex_lite::Regex;

/// The fields that a pattern may have; all others are ignored.
const FIELDS: [&str; 7] = ["framework", "test", "concurrency", "workers", "repeat", "tool", "port"];

/// The fields that are numbers.
const NUMBERS: [&str; 4] = ["concurrency", "workers", "repeat", "port"];

/// How files are named, as in `result_w{workers}_{repeat}.log`, or with the folders that they are in, as in
/// `{framework}/{test}/raw.txt`: as many as the pattern has slashes.
///
/// The fields are `{framework}`, `{test}`, `{concurrency}`, `{workers}`, `{repeat}`, `{tool}` and `{port}`. Any other
/// one, such as `{*}`, matches any text.
///
/// ```
/// use perfpipe_ingest::points::NamePattern;
///
/// let pattern = NamePattern::new("result_w{workers}_{repeat}.log")?;
/// let parts = pattern.read("result_w8_3.log").ok_or("no match")?;
/// assert_eq!((parts.workers, parts.repeat, parts.test), (Some(8), Some(3), None));
/// assert!(pattern.read("bigbox_w8.txt").is_none());
/// let tree = NamePattern::new("{framework}/{test}/raw.txt")?;
/// let parts = tree.read("/runs/go/json/raw.txt").ok_or("no match")?;
/// assert_eq!((parts.framework.as_deref(), parts.test.as_deref()), (Some("go"), Some("json")));
/// assert!(NamePattern::new("w{workers}_{workers}").is_err(), "a field is one part");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct NamePattern {
    regex: Regex,
    /// The number of folders before the file's name.
    folders: usize,
}

/// The parts of a key that a file's name has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedParts {
    /// The framework.
    pub framework: Option<String>,
    /// The test.
    pub test: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The concurrency.
    pub concurrency: Option<u32>,
    /// The number of workers.
    pub workers: Option<u32>,
    /// The repeat.
    pub repeat: Option<u32>,
    /// The port, which may name the framework.
    pub port: Option<u16>,
}

impl NamePattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If a brace is not closed, a field occurs twice, or there is no field. The error is a clause that says so.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let (mut regex, mut rest, mut seen) = (String::from("^"), pattern, Vec::new());
        while let Some((before, after)) = rest.split_once('{') {
            let (field, behind) = after
                .split_once('}')
                .ok_or_else(|| format!("\"{pattern}\" has a brace that is not closed"))?;
            regex.push_str(&regex_lite::escape(before));
            if seen.contains(&field) {
                return Err(format!("\"{pattern}\" has the field {{{field}}} twice"));
            }
            match (FIELDS.contains(&field), NUMBERS.contains(&field)) {
                (true, true) => regex.push_str(&format!("(?P<{field}>[0-9]+)")),
                (true, false) => regex.push_str(&format!("(?P<{field}>[^/]+?)")),
                _ => regex.push_str("[^/]*?"),
            }
            if FIELDS.contains(&field) {
                seen.push(field);
            }
            rest = behind;
        }
        if seen.is_empty() {
            return Err(format!("\"{pattern}\" has none of the fields {{{}}}", FIELDS.join("}, {")));
        }
        regex.push_str(&regex_lite::escape(rest));
        regex.push('$');
        let regex = Regex::new(&regex).map_err(|problem| format!("\"{pattern}\": {problem}"))?;
        Ok(Self { regex, folders: pattern.matches('/').count() })
    }

    /// The parts that a file's path has, of which the last ones count; `None` if it does not follow the pattern, or a number
    /// does not fit.
    pub fn read(&self, path: &str) -> Option<NamedParts> {
        let begin = path.rmatch_indices('/').nth(self.folders).map_or(0, |(slash, _)| slash + 1);
        let found = self.regex.captures(path.get(begin..)?)?;
        let text = |field: &str| found.name(field).map(|part| part.as_str());
        let number = |field: &str| text(field).map(str::parse::<u32>).transpose().ok();
        Some(NamedParts {
            framework: text("framework").map(str::to_owned),
            test: text("test").map(str::to_owned),
            tool: text("tool").map(str::to_owned),
            concurrency: number("concurrency")?,
            workers: number("workers")?,
            repeat: number("repeat")?.filter(|repeat| *repeat > 0),
            port: text("port").map(str::parse).transpose().ok()?,
        })
    }
}
