//! The CPU export with which a run of a campaign is ingested.

use std::path::PathBuf;

use super::file::CpuFile;
use super::pairing::Paired;
use crate::run::info::SourceFile;
use crate::series::cpu::CpuJoin;

/// The CPU export of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedCpu {
    /// The file.
    pub file: PathBuf,
    /// How the export was found to belong to the log.
    pub paired: Paired,
    pub(super) source: SourceFile,
    /// How the readings are joined.
    pub(super) join: CpuJoin,
}

impl PlannedCpu {
    pub(super) fn new(cpu: &CpuFile, paired: Paired) -> Self {
        Self { file: cpu.path.clone(), paired, source: cpu.file.clone(), join: cpu.join }
    }
}
