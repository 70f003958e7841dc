//! `perfpipe diagnose`: finds what stands out in runs.

use anyhow::Result;
use clap::Args;
use perfpipe_analyze::format::damage_sentence;
use perfpipe_analyze::table::Table;
use perfpipe_analyze::{Finding, FindingKind, cpu_scale_in_doubt, diagnose, finding_table};
use perfpipe_ingest::{RunKey, Store};

use crate::args::{CoresArgs, OutputArgs, RunsArgs, ScopeArgs, StoreArgs};
use crate::input::runs::Selection;
use crate::input::{store, view};
use crate::output::terminal::write_table;
use crate::output::{Output, note};

#[derive(Debug, Args)]
#[command(mut_arg("run", |run| run.required_unless_present_any(["test", "tag"])))]
#[command(mut_arg("cores", |cores| cores.help(
    "Cores of the server: its capacity is 100 % for each [default: as at ingest; if none were given there, the capacity \
     is the largest mean of a load step below the knee]"
)))]
#[command(after_help = "Examples:\n  \
    perfpipe diagnose go_2048\n  \
    perfpipe diagnose --framework go --test 2048 --cores 72 --format json")]
pub(crate) struct DiagnoseArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    #[command(flatten)]
    pub(crate) cores: CoresArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// Prints the findings of runs; people see the run of each if there are several.
pub(crate) async fn run(args: &DiagnoseArgs, store: &StoreArgs) -> Result<()> {
    let store = store::existing(store).await?;
    let chosen = Selection::any(&store, &args.runs.run, &args.runs.of).await?;
    chosen.say_repeats(&args.runs.run);
    let mut tables = Vec::with_capacity(chosen.keys.len());
    let mut hints: Vec<&str> = Vec::new();
    for key in &chosen.keys {
        let name = chosen.names.name(key);
        let findings = findings(args, &store, key, &name).await?;
        for hint in findings.iter().filter_map(|finding| hint(finding.kind)) {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        let table = finding_table(&findings);
        let is_plain = chosen.keys.len() == 1 && args.output.format().is_for_people();
        tables.push(if is_plain { table } else { table.after_text("run", &name) });
    }
    hints.into_iter().for_each(note);
    let mut output = Output::open(args.output.file.output.as_deref())?;
    write_table(&Table::joined(tables), args.output.format(), &mut output)?;
    output.finish()
}

/// Returns what stands out in a run.
async fn findings(args: &DiagnoseArgs, store: &Store, key: &RunKey, name: &str) -> Result<Vec<Finding>> {
    let mut run = store.read(key).await?;
    if let Some(label) = &args.scope.label {
        view::count_separately(store, &mut run, label).await?;
    }
    view::top_level(store, &mut run, &args.scope).await?;
    let stored = run.info.options.cores;
    let most = run.cpu.readings().iter().map(|(_, value)| *value).reduce(f64::max);
    if args.cores.cores.is_some_and(|cores| cores > 1) && cpu_scale_in_doubt(&run.info, most) {
        note(
            "--cores is not used: no CPU reading is above 100 %, which may mean one core or the whole \
             machine; state the scale with attach-cpu --cpu-scale",
        );
    }
    let findings = diagnose(&run, &view::scope(&args.scope, &run.info), args.cores.cores.or(stored))?;
    for damage in &run.info.damage {
        note(&format!("partial: {}", damage_sentence(damage)));
    }
    if findings.iter().all(Finding::is_note) {
        note(&format!("nothing stands out in {name}"));
    }
    Ok(findings)
}

/// Flags that help with a finding.
fn hint(kind: FindingKind) -> Option<&'static str> {
    match kind {
        FindingKind::LittlesLaw => {
            Some("littles-law: if the log does not name its injectors, give their number with --injectors")
        }
        FindingKind::CpuCoverage => Some("cpu-coverage: --cpu-offset shifts the clock of the CPU readings"),
        _ => None,
    }
}
