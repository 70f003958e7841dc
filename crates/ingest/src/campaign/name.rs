//! The names by which a log and its CPU export are known to belong together.

use std::path::Path;

use crate::source::log::{last_part, stem};

/// What the name of a CPU export may end in besides the name of its log.
const MARKS: [&str; 3] = [".cpu", "-cpu", "_cpu"];

/// A file's name, in lower case and without the endings of packed and CSV files.
pub(crate) fn bare(file: &Path) -> String {
    stem(last_part(&file.to_string_lossy())).to_lowercase()
}

/// The name of the log that a CPU export of this bare name is named after, if its name says that it is one.
pub(crate) fn log_of(bare: &str) -> Option<&str> {
    let log = MARKS.iter().find_map(|mark| bare.strip_suffix(mark))?;
    Some(stem(log)).filter(|log| !log.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_export_is_named_after_its_log() {
        for name in [
            "Results-2048-8181.cpu.csv.zip",
            "results-2048-8181.CPU.csv",
            "Results-2048-8181-cpu.csv.gz",
            "x/Results-2048-8181.csv.cpu.txt",
            "Results-2048-8181_cpu",
        ] {
            let export = bare(Path::new(name));
            assert_eq!(log_of(&export), Some(&*bare(Path::new("/y/Results-2048-8181.csv.zip"))), "{name}");
        }
        for name in ["Results-2048-8181.csv", "cpu.csv", ".cpu.csv"] {
            assert_eq!(log_of(&bare(Path::new(name))), None, "{name}");
        }
    }
}
