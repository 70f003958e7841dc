//! The forms of CPU exports that are recognised.

use super::form::CsvForm;
use super::monitor::Monitor;

/// The form of a CPU export.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CpuForm {
    /// Columns.
    Csv(CsvForm),
    /// What a monitoring tool answered or printed.
    Monitor(Monitor),
}

impl CpuForm {
    /// Returns a description of the form, as it appears in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Csv(form) => form.name(),
            Self::Monitor(monitor) => monitor.name(),
        }
    }
}
