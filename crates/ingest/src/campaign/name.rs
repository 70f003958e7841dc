//! The names that mark a log and its CPU export as belonging together.

use std::path::Path;

use crate::source::log::{last_part, stem};

/// The suffixes that the name of a CPU export may add to the name of its log.
const MARKS: [&str; 3] = [".cpu", "-cpu", "_cpu"];

/// The file's name in lower case, without folders and the extensions of packed and CSV files.
pub(crate) fn bare(file: &Path) -> String {
    stem(last_part(&file.to_string_lossy())).to_lowercase()
}

/// The bare name of the log to which a CPU export belongs, if its bare name has one of the suffixes.
pub(crate) fn log_of(bare: &str) -> Option<&str> {
    let log = MARKS.iter().find_map(|mark| bare.strip_suffix(mark))?;
    Some(stem(log)).filter(|log| !log.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_export_is_named_after_its_log() {
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
