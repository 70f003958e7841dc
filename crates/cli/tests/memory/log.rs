//! Logs that are written while they are read, so that they need no disk.

use std::io::{self, Write};

/// A log.
#[derive(Clone, Copy)]
pub(crate) enum Log {
    /// One request a second of each label.
    Seconds { seconds: u32, labels: u32 },
    /// So many requests a second, of ten labels.
    Busy { seconds: u32, requests: u32 },
    /// A request of each of so many labels of so many bytes, 100 in a second.
    Labels { labels: u32, length: usize },
    /// The same of response codes.
    Codes { codes: u32, length: usize },
    /// So many requests at any time of so many days, of 200 labels; a third of them fail, in 100 ways.
    Sparse { days: u32, requests: u32 },
    /// Three requests, then lines of one byte.
    Rejects { lines: u32 },
}

/// The columns.
const HEADER: &str = "timeStamp,elapsed,label,responseCode,success,bytes,allThreads,Latency,Connect";

/// When the logs begin, epoch ms.
const BEGIN: u64 = 1_700_000_000_000;

impl Log {
    /// The same number of requests, but of ten labels.
    pub(crate) const fn of_few_labels(self) -> Self {
        match self {
            Self::Seconds { seconds, labels } => Self::Busy { seconds, requests: labels },
            other => other,
        }
    }

    /// Writes the log.
    pub(crate) fn write(self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{HEADER}")?;
        match self {
            Self::Seconds { seconds, labels } => requests(seconds, labels, out),
            Self::Busy { seconds, requests } => busy(seconds, requests, out),
            Self::Sparse { days, requests } => sparse(days, requests, out),
            Self::Labels { labels, length } => {
                let padding = "x".repeat(length.saturating_sub(8));
                (0..labels).try_for_each(|at| {
                    writeln!(out, "{},12,{padding}{at:08},200,true,100,5,10,1", BEGIN + u64::from(at) * 10)
                })
            }
            Self::Codes { codes, length } => {
                let padding = "x".repeat(length.saturating_sub(8));
                (0..codes).try_for_each(|at| {
                    writeln!(out, "{},12,Get,{padding}{at:08},false,100,5,10,1", BEGIN + u64::from(at) * 10)
                })
            }
            Self::Rejects { lines } => {
                requests(3, 1, out)?;
                let many = "x\n".repeat(4096);
                (0..lines / 4096).try_for_each(|_| out.write_all(many.as_bytes()))
            }
        }
    }
}

fn requests(seconds: u32, labels: u32, out: &mut impl Write) -> io::Result<()> {
    let mut chance = 1_u32;
    for second in 0..seconds {
        for label in 0..labels {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let time = BEGIN + u64::from(second) * 1000 + u64::from(label * 1000 / labels);
            let elapsed = 10 + (chance >> 24);
            let success = !chance.is_multiple_of(97);
            writeln!(out, "{time},{elapsed},label {label},200,{success},1234,{labels},{},1", elapsed / 2)?;
        }
    }
    Ok(())
}

fn sparse(days: u32, requests: u32, out: &mut impl Write) -> io::Result<()> {
    let (mut chance, span) = (1_u64, u64::from(days) * 86_400_000 - 10_000);
    let mut any = |below: u64| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % below
    };
    // On average evenly spread: one at any time of each of as many equal parts.
    let part = span / u64::from(requests);
    for at in 0..u64::from(requests) {
        let (time, elapsed, label) = (BEGIN + at * part + any(part), 5 + any(2000), any(200));
        let (code, success) = if any(3) == 0 { (500 + any(100), "false") } else { (200, "true") };
        writeln!(out, "{time},{elapsed},label {label},{code},{success},1234,5,3,1")?;
    }
    Ok(())
}

fn busy(seconds: u32, each: u32, out: &mut impl Write) -> io::Result<()> {
    let mut chance = 1_u32;
    for second in 0..seconds {
        for request in 0..each {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let time = BEGIN + u64::from(second) * 1000 + u64::from(request) * 1000 / u64::from(each);
            let (elapsed, label) = (10 + (chance >> 22), request % 10);
            writeln!(out, "{time},{elapsed},label {label},200,true,1234,200,{},1", elapsed / 2)?;
        }
    }
    Ok(())
}
