//! ab's files in addition to its summary: `-e`, percentiles in microseconds, and `-g`, every request without its success.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use super::super::point::{Figures, Latencies};
use super::super::units;
use crate::formats::steps;

/// One of ab's files that are only used together with its summary.
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

    /// Refines the latencies of a summary by the text of the file. The inner error is the line, from 1, that can't be read.
    ///
    /// # Errors
    /// If reading fails.
    pub fn refine(self, text: &mut dyn BufRead, figures: &mut Figures) -> io::Result<Result<(), usize>> {
        match self {
            Self::Percentiles => {
                let mut percentiles = Vec::new();
                let read = each_row(text, |line| {
                    percentiles.push(percentile(line)?);
                    (percentiles.len() <= MOST_PERCENTILES).then_some(())
                })?;
                let (mean, max) = (figures.latencies.mean_ms, percentiles.last().map(|(_, ms)| *ms));
                figures.latencies = Latencies::printed(mean, max, percentiles);
                Ok(read)
            }
            Self::Requests => {
                let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
                let read = each_row(text, |line| {
                    *counts.entry(line.split('\t').nth(4).and_then(units::count)?).or_default() += 1;
                    (counts.len() <= MOST_TIMES).then_some(())
                })?;
                figures.latencies = Latencies::counted(&counts.into_iter().collect::<Vec<_>>(), 1.0);
                figures.notes.push(
                    "latencies are counted from ab's -g: whole ms, failed requests among them".to_owned(),
                );
                Ok(read)
            }
        }
    }
}

/// The most rows of percentiles, and the most different times of requests, in whole ms.
const MOST_PERCENTILES: usize = 1000;
const MOST_TIMES: usize = 1_000_000;

/// The longest row, in bytes.
const LONGEST: u64 = 64 << 10;

/// Passes the rows below the header to `read`. The inner error is the first line, from 1, that it can't read.
fn each_row(
    text: &mut dyn BufRead,
    mut read: impl FnMut(&str) -> Option<()>,
) -> io::Result<Result<(), usize>> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let length = (&mut *text).take(LONGEST).read_until(b'\n', &mut line)?;
        steps::count(length);
        if length == 0 {
            break;
        }
        let row = String::from_utf8_lossy(&line);
        let is_read = length < LONGEST as usize
            && (number == 1 || row.trim().is_empty() || read(row.trim_end_matches(['\r', '\n'])).is_some());
        if !is_read {
            return Ok(Err(number));
        }
    }
    Ok(Ok(()))
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
        AbFile::of(&file).unwrap().refine(&mut &*file, &mut figures).unwrap().unwrap();
        assert_eq!(figures.latencies.percentiles.len(), 100 + usize::from(file.starts_with(b"Percentage")));
        let precise = figures.latencies.percentile(50.0).unwrap();
        let file = std::fs::read(path("ab/http500.tsv")).unwrap();
        AbFile::of(&file).unwrap().refine(&mut &*file, &mut figures).unwrap().unwrap();
        assert!((figures.latencies.percentile(50.0).unwrap() - precise).abs() <= 1.0, "{precise}");
        assert_eq!(figures.latencies.source.map(|source| source.name()), Some("exact"));
    }

    #[test]
    fn damaged_lines_are_told() {
        let mut figures = Figures::default();
        assert_eq!(
            AbFile::Percentiles
                .refine(&mut &b"Percentage served,Time in ms\n0,1\nx,2\n"[..], &mut figures)
                .unwrap(),
            Err(3)
        );
        let mut requests = &b"starttime\tseconds\tctime\nMon\t1\t2\n"[..];
        assert_eq!(AbFile::Requests.refine(&mut requests, &mut figures).unwrap(), Err(2));
        assert_eq!(AbFile::of(b"timeStamp,elapsed"), None);
    }
}
