//! The scale of CPU readings given by flags, and its note with the run.

use anyhow::Result;
use clap::ValueEnum;
use perfpipe_analyze::View;
use perfpipe_ingest::CpuScale;

use crate::args::CpuScaleArg;
use crate::error::CliError;

/// Returns the scale that the flags describe.
pub(crate) fn of(scale: Option<CpuScaleArg>, cores: Option<u32>) -> Result<Option<CpuScale>> {
    let whole = |name: &str| {
        let problem =
            format!("--cpu-scale {name} says nothing of cores unless it is known how many there are");
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

/// Returns the options to note with the run.
pub(crate) fn noted(scale: Option<CpuScaleArg>, cores: Option<u32>) -> [(&'static str, Option<String>); 2] {
    let name = scale.and_then(|scale| scale.to_possible_value()).map(|value| value.get_name().to_owned());
    let cores = cores.filter(|_| scale.is_some());
    [(View::CPU_SCALE, name), (View::CORES, cores.map(|cores| cores.to_string()))]
}
