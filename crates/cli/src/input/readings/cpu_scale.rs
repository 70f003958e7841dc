//! The scale of CPU readings given by flags.

use anyhow::Result;
use perfpipe_ingest::series::CpuScale;

use crate::args::CpuScaleArg;
use crate::error::CliError;

/// Returns the scale that the flags describe.
pub(crate) fn of(scale: Option<CpuScaleArg>, cores: Option<u32>) -> Result<Option<CpuScale>> {
    let whole = |name: &str| {
        let problem = format!("--cpu-scale {name} needs the number of cores");
        cores.ok_or_else(|| CliError::usage(problem, "Give --cores N, the cores of the server."))
    };
    Ok(match scale {
        None => None,
        Some(CpuScaleArg::PercentOfCore) => Some(CpuScale::PercentOfCore),
        Some(CpuScaleArg::PercentOfMachine) => {
            Some(CpuScale::PercentOfMachine { cores: whole("percent-of-machine")? })
        }
        Some(CpuScaleArg::Fraction) => Some(CpuScale::Fraction { cores: whole("fraction")? }),
    })
}
