//! The CPU export with which a run of a campaign is ingested.

use std::path::PathBuf;

use super::file::CpuFile;
use super::pairing::Paired;
use crate::run::info::SourceFile;
use crate::run::options::cpu_scale::CpuScale;
use crate::series::cpu::CpuJoin;

/// The CPU export of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedCpu {
    /// The file; or the host that is asked for the readings.
    pub file: PathBuf,
    /// How the export was found to belong to the log.
    pub paired: Paired,
    /// What the file holds; `None` if the readings are asked for.
    pub(super) export: Option<PlannedExport>,
}

/// What a CPU export holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedExport {
    pub(super) source: SourceFile,
    /// How the readings are joined.
    pub(super) join: CpuJoin,
    /// The unit of the readings, if it was given or the file tells it.
    pub(super) scale: Option<CpuScale>,
}

impl PlannedCpu {
    pub(super) fn new(cpu: &CpuFile, paired: Paired) -> Self {
        let export = PlannedExport { source: cpu.file.clone(), join: cpu.join, scale: cpu.scale };
        Self { file: cpu.path.clone(), paired, export: Some(export) }
    }

    /// Readings that this host is asked for.
    pub(super) fn asked(host: &str) -> Self {
        Self { file: host.into(), paired: Paired::Asked, export: None }
    }
}
