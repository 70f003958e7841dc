//! Shapes of logs: what differs between the records of one test and another's.

use clap::ValueEnum;

use super::record::COLUMNS;

/// A shape of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// JMeter's default columns
    #[default]
    One,
    /// Three injectors whose records alternate, each named by its address in threadName
    Three,
    /// The same, each named in the column Hostname
    Hostname,
    /// 20 labels, and 1 % failures with quoted messages
    Labels,
    /// Seven columns: some 40 bytes a record
    Few,
}

impl Shape {
    /// The number of injectors, at least.
    pub(crate) fn injectors(self) -> u32 {
        if self.alternates() { 3 } else { 1 }
    }

    /// The number of labels, at least.
    pub(crate) fn labels(self) -> u32 {
        if self == Self::Labels { 20 } else { 1 }
    }

    /// The fraction of requests that fail, at least.
    pub(crate) fn failures(self) -> f64 {
        if self == Self::Labels { 0.01 } else { 0.0 }
    }

    /// Returns true if several injectors report each record at once.
    pub(super) fn alternates(self) -> bool {
        matches!(self, Self::Three | Self::Hostname)
    }

    /// The names of the columns.
    pub(super) fn columns(self) -> Vec<&'static str> {
        match self {
            Self::Few => {
                vec!["timeStamp", "elapsed", "label", "responseCode", "success", "allThreads", "Latency"]
            }
            Self::Hostname => COLUMNS.into_iter().chain(["Hostname"]).collect(),
            _ => COLUMNS.to_vec(),
        }
    }

    /// The threadName of a thread, if it is another than usual.
    pub(super) fn thread(self, injector: u32, number: u32) -> Option<String> {
        match self {
            Self::Three => {
                let (network, host) = (injector / 200, injector % 200 + 13);
                Some(format!("10.252.{}.{host}-ubuntuvm Thread Group 1-{number}", 133 + network % 100))
            }
            Self::Hostname => Some(format!("Thread Group 1-{number}")),
            _ => None,
        }
    }
}

/// The name of an injector's host, as in the column Hostname.
pub(super) fn host(injector: u32) -> String {
    format!("load-generator-{}", injector + 1)
}
