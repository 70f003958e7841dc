//! Idle CPU where throughput is flat: the client, a lock or a limit holds the server back.

use super::saturation;
use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Figures, Finding, FindingKind};
use crate::sweep::LoadStep;
use crate::timeline::cpu_cost::cpu_scale_in_doubt;

/// The CPU is idle below this share of its capacity.
const IDLE: f64 = 0.75;
/// The least number of seconds in a load step.
const SECONDS: u32 = 3;

/// Compares the CPU beyond the knee with its capacity: that of the cores, otherwise the largest mean of a step below
/// the knee. The cores are not used if 100 % may mean the whole machine.
pub(in crate::diagnose) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let sweep = facts.sweep.as_ref()?;
    let knee = sweep.knee?;
    let sure = |step: &&LoadStep| step.summary.seconds >= SECONDS && step.summary.cpu_mean.is_some();
    let flat = sweep.steps.get(knee.step..)?.iter().filter(sure);
    let used = flat.filter_map(|step| step.summary.cpu_mean).reduce(f64::max)?;
    let busiest = sweep.steps.get(..knee.step)?.iter().filter(sure).max_by(|a, b| {
        let cpu = |step: &LoadStep| step.summary.cpu_mean.unwrap_or_default();
        cpu(a).total_cmp(&cpu(b))
    });
    let most = facts.run.cpu.readings().iter().map(|(_, value)| *value).reduce(f64::max);
    let cores = facts.cores.filter(|cores| *cores == 1 || !cpu_scale_in_doubt(&facts.run.info, most));
    let mut capacity_of = Figures::default();
    let (capacity, of) = match (cores, busiest) {
        (Some(cores), _) => (
            100.0 * f64::from(cores),
            format!("of the {} cores", capacity_of.whole("cores", cores.into(), "cores")),
        ),
        (None, Some(step)) => {
            let cpu = step.summary.cpu_mean?;
            let (had, load) = (
                capacity_of.few("cpu_below_knee", cpu, "%"),
                capacity_of.few("load_below_knee", step.load, "threads"),
            );
            (cpu, format!("of the {had} % it had at {load} threads"))
        }
        (None, None) => return None,
    };
    (used < IDLE * capacity).then_some(())?;
    let mut figures = Figures::default();
    let (most, share) = (figures.few("cpu", used, "%"), figures.share("share_of_capacity", used / capacity));
    figures.extend(capacity_of);
    Some(Finding {
        kind: FindingKind::IdleCpu,
        span: saturation::seconds(facts)?,
        what:
            "the CPU is partly idle while throughput is flat: the client, a lock or a limit is the bottleneck"
                .to_owned(),
        evidence: format!("CPU at most {most} %, {share} {of}"),
        figures: figures.done(),
        injector: None,
    })
}
