//! `perfpipe diagnose`: what stands out in a run.

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::damage_sentence;
use perfpipe_analyze::{Finding, View, cpu_scale_in_doubt, diagnose, finding_table};

use crate::args::{KeyArgs, ScopeArgs, StoreArgs, TableFormat};
use crate::input::{runs, store, view};
use crate::output::{Output, note};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    perfpipe diagnose --framework go --test 2048\n  \
    perfpipe diagnose --framework go --test 2048 --cores 72 --format json")]
pub(crate) struct DiagnoseArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    /// Cores of the server [default: as told with --cpu-scale, else its capacity is the most CPU that the run had]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cores: Option<u32>,
    /// How the findings are printed
    #[arg(long, value_enum, default_value_t = TableFormat::Text)]
    pub(crate) format: TableFormat,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// Prints the findings of one run.
pub(crate) async fn run(args: &DiagnoseArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let key = runs::one(&args.key, &store).await?;
    let mut run = store.read(&key).await?;
    if let Some(label) = &args.scope.label {
        view::count_apart(&store, &mut run, label).await?;
    }
    let told = run.info.options.get(View::CORES).and_then(|cores| cores.parse().ok());
    let most = run.cpu.readings().iter().map(|(_, value)| *value).reduce(f64::max);
    if args.cores.is_some_and(|cores| cores > 1) && cpu_scale_in_doubt(&run.info, most) {
        note(
            "--cores is left out of account: no CPU reading is above 100 %, which may be one core or the whole machine; \
             attach-cpu --cpu-scale tells it",
        );
    }
    let findings = diagnose(&run, &view::scope(&args.scope, &run.info), args.cores.or(told))?;
    for damage in &run.info.damage {
        note(&format!("partial: {}", damage_sentence(damage)));
    }
    if findings.iter().all(Finding::is_note) {
        note(&format!("nothing stands out in {key}"));
    }
    let mut output = Output::open(None)?;
    finding_table(&findings).write(args.format.into(), &mut output)?;
    output.finish()
}
