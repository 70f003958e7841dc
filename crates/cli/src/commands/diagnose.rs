//! `perfpipe diagnose`: what stands out in a run.

use anyhow::Result;
use perfpipe_analyze::{Finding, View, cpu_scale_in_doubt, damage_sentence, diagnose, finding_table};

use crate::args::{DiagnoseArgs, StoreArgs};
use crate::input::{runs, store, view};
use crate::output::{Output, note};

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
