//! ab's files beside its summary: `-e`, percentiles in microseconds, and `-g`, every request without its success.

use std::collections::BTreeMap;

use super::super::point::{Figures, Latencies};
use super::super::units;

/// One of ab's files that mean something only beside its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AbFile {
    /// `-e`: percentiles.
    Percentiles,
    /// `-g`: the times of every request, sorted by duration, failed ones unmarked.
    Requests,
}

impl AbFile {
    /// Recognises a file by its beginning.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"Percentage served,Time in ms") {
            Some(Self::Percentiles)
        } else if bytes.starts_with(b"starttime\tseconds\tctime") {
            Some(Self::Requests)
        } else {
            None
        }
    }

    /// Refines the latencies of a summary.
    ///
    /// # Errors
    /// The line, from 1, that can't be read.
    pub fn refine(self, bytes: &[u8], figures: &mut Figures) -> Result<(), usize> {
        let text = String::from_utf8_lossy(bytes);
        let rows = text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty());
        match self {
            Self::Percentiles => {
                let read = |(at, line)| percentile(line).ok_or(at + 1);
                let percentiles: Vec<(f64, f64)> = rows.map(read).collect::<Result<_, usize>>()?;
                let (mean, max) = (figures.latencies.mean_ms, percentiles.last().map(|(_, ms)| *ms));
                figures.latencies = Latencies::printed(mean, max, percentiles);
            }
            Self::Requests => {
                let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
                for (at, line) in rows {
                    let total = line.split('\t').nth(4).and_then(units::count).ok_or(at + 1)?;
                    *counts.entry(total).or_default() += 1;
                }
                figures.latencies = Latencies::counted(&counts.into_iter().collect::<Vec<_>>(), 1.0);
                figures.notes.push(
                    "latencies are counted from ab's -g: whole ms, failed requests among them".to_owned(),
                );
            }
        }
        Ok(())
    }
}

/// Reads `50,18.478`.
fn percentile(line: &str) -> Option<(f64, f64)> {
    let (percent, ms) = line.split_once(',')?;
    Some((units::number(percent)?, units::number(ms)?))
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::{only, path};
    use super::*;

    #[test]
    fn files_beside_the_summary_refine_its_latencies() {
        let mut figures = only("ab/http500.txt").figures;
        let file = std::fs::read(path("ab/http500.csv")).unwrap();
        AbFile::of(&file).unwrap().refine(&file, &mut figures).unwrap();
        assert_eq!(figures.latencies.percentiles.len(), 100 + usize::from(file.starts_with(b"Percentage")));
        let precise = figures.latencies.percentile(50.0).unwrap();
        let file = std::fs::read(path("ab/http500.tsv")).unwrap();
        AbFile::of(&file).unwrap().refine(&file, &mut figures).unwrap();
        assert!((figures.latencies.percentile(50.0).unwrap() - precise).abs() <= 1.0, "{precise}");
        assert_eq!(figures.latencies.source.map(|source| source.name()), Some("exact"));
    }

    #[test]
    fn damaged_lines_are_told() {
        let mut figures = Figures::default();
        assert_eq!(
            AbFile::Percentiles.refine(b"Percentage served,Time in ms\n0,1\nx,2\n", &mut figures),
            Err(3)
        );
        assert_eq!(AbFile::Requests.refine(b"starttime\tseconds\tctime\nMon\t1\t2\n", &mut figures), Err(2));
        assert_eq!(AbFile::of(b"timeStamp,elapsed"), None);
    }
}
