//! The CPU export that a run of a campaign is ingested with.

use std::path::PathBuf;

use super::file::CpuFile;
use super::pairing::Paired;
use crate::run::info::SourceFile;
use crate::series::cpu::CpuJoin;

/// The CPU export of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCpu {
    /// The file.
    pub file: PathBuf,
    /// By what it was found.
    pub paired: Paired,
    pub(super) source: SourceFile,
    /// How its readings are joined.
    pub(super) join: CpuJoin,
}

impl PlannedCpu {
    pub(super) fn new(cpu: &CpuFile, paired: Paired) -> Self {
        Self { file: cpu.path.clone(), paired, source: cpu.file.clone(), join: cpu.join }
    }
}
