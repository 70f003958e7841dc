//! `perfpipe diagnose`: finds what stands out in a run.

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::damage_sentence;
use perfpipe_analyze::{Finding, FindingKind, cpu_scale_in_doubt, diagnose, finding_table};

use crate::args::{CoresArgs, OutputArgs, RunArgs, ScopeArgs, StoreArgs};
use crate::input::{runs, store, view};
use crate::output::terminal::write_table;
use crate::output::{Output, note};

#[derive(Debug, Args)]
#[command(mut_arg("cores", |cores| cores.help(
    "Cores of the server [default: as given with --cpu-scale; if none were given, the CPU's capacity is the \
     largest mean of a load step below the knee]"
)))]
#[command(after_help = "Examples:\n  \
    perfpipe diagnose go_2048\n  \
    perfpipe diagnose --framework go --test 2048 --cores 72 --format json")]
pub(crate) struct DiagnoseArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) cores: CoresArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// Prints the findings of one run.
pub(crate) async fn run(args: &DiagnoseArgs, store: &StoreArgs) -> Result<()> {
    runs::check(&args.run)?;
    let store = store::existing(store).await?;
    let key = runs::one(&args.run, &store).await?;
    let mut run = store.read(&key).await?;
    if let Some(label) = &args.scope.label {
        view::count_apart(&store, &mut run, label).await?;
    }
    let told = run.info.options.cores;
    let most = run.cpu.readings().iter().map(|(_, value)| *value).reduce(f64::max);
    if args.cores.cores.is_some_and(|cores| cores > 1) && cpu_scale_in_doubt(&run.info, most) {
        note(
            "--cores is not used: no CPU reading is above 100 %, which may mean one core or the whole \
             machine; state the scale with attach-cpu --cpu-scale",
        );
    }
    let findings = diagnose(&run, &view::scope(&args.scope, &run.info), args.cores.cores.or(told))?;
    for damage in &run.info.damage {
        note(&format!("partial: {}", damage_sentence(damage)));
    }
    if findings.iter().all(Finding::is_note) {
        note(&format!("nothing stands out in {key}"));
    }
    findings.iter().filter_map(|finding| hint(finding.kind)).for_each(note);
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&finding_table(&findings), args.output.format, &mut output)?;
    output.finish()
}

/// Flags that help with a finding.
fn hint(kind: FindingKind) -> Option<&'static str> {
    match kind {
        FindingKind::LittlesLaw => Some(
            "littles-law: where the log can't tell its injectors apart, --injectors says how many sent the load",
        ),
        FindingKind::CpuCoverage => Some("cpu-coverage: --cpu-offset shifts the clock of the CPU readings"),
        _ => None,
    }
}
