//! What limits throughput: saturation, from the knee of the sweep, and a CPU that is idle where throughput is flat, since
//! the client, a lock or a limit slows the server; or without readings.

use crate::diagnose::facts::Facts;
use crate::diagnose::finding::{Finding, FindingFigures, FindingKind};
use crate::diagnose::seconds::{RuleSecond, span};
use crate::sweep::LoadStep;
use crate::timeline::cpu_scale_in_doubt;
use crate::view::phases::Span;

/// Reports the knee, if there is one (see [`crate::Knee`]). A load that follows the requests has none.
pub(in crate::diagnose) fn saturation(facts: &Facts<'_>) -> Option<Finding> {
    let sweep = facts.sweep.as_ref().filter(|_| !facts.load_follows)?;
    let knee = sweep.knee?;
    let (first, last) = (sweep.steps.get(knee.step)?, sweep.steps.last()?);
    let before = knee.step.checked_sub(1).and_then(|at| sweep.steps.get(at));
    let mut figures = FindingFigures::default();
    let what = format!(
        "throughput stops growing {} {} threads, while the load goes on to {}",
        knee.at(),
        figures.few("load", knee.load, "threads"),
        figures.few("load_most", last.load, "threads")
    );
    let named = before.map(|before| (BEFORE, before)).into_iter().chain([(AT, first), (LAST, last)]);
    let steps: Vec<String> = named.map(|(names, step)| describe(step, names, &mut figures)).collect();
    Some(Finding {
        kind: FindingKind::Saturation,
        span: beyond(facts, first.load_min)?,
        what,
        evidence: steps.join("; "),
        figures: figures.done(),
        injector: None,
    })
}

/// Names of the figures of a load step: throughput, load, CPU.
type FigureNames = [&'static str; 3];

/// The step before the knee, that of the knee, and the last one.
const BEFORE: FigureNames = ["throughput_before_knee", "load_before_knee", "cpu_before_knee"];
const AT: FigureNames = ["throughput_at_knee", "load_at_knee", "cpu_at_knee"];
const LAST: FigureNames = ["throughput_last", "load_last", "cpu_last"];

/// Describes a load step.
fn describe(step: &LoadStep, [throughput, load, cpu]: FigureNames, figures: &mut FindingFigures) -> String {
    let throughput = figures.few(throughput, step.summary.throughput, "1/s");
    let load = figures.few(load, step.load, "threads");
    let cpu = step.summary.cpu_mean.map(|mean| format!(", CPU {} %", figures.few(cpu, mean, "%")));
    format!("{throughput}/s at {load} threads{}", cpu.unwrap_or_default())
}

/// Returns the first and the last second with at least this load.
fn beyond(facts: &Facts<'_>, load: f64) -> Option<Span> {
    let mut loaded = facts.body().iter().filter(|row| row.load().is_some_and(|own| own >= load));
    let first = loaded.next()?.second;
    Some(Span { first, last: loaded.next_back().map_or(first, |row| row.second) })
}

/// Returns the seconds beyond the knee.
fn saturated_seconds(facts: &Facts<'_>) -> Option<Span> {
    saturation(facts).map(|finding| finding.span)
}

/// The CPU is idle below this share of its capacity.
const IDLE_SHARE: f64 = 0.75;
/// A first step shows no capacity by itself, since a warm-up takes CPU too: then the CPU must go on falling beyond the knee,
/// to this share.
const FALLS_TO: f64 = 0.9;
/// The least number of seconds in a load step.
const LEAST_SECONDS: u32 = 3;
/// The least number of seconds without a reading, and the least share of all.
const MOST_LACKING: (usize, f64) = (3, 0.02);

/// Compares the CPU beyond the knee with its capacity: that of the cores, otherwise the largest mean of a step below
/// the knee. The cores are not used if 100 % may mean the whole machine.
pub(in crate::diagnose) fn idle_cpu(facts: &Facts<'_>) -> Option<Finding> {
    let sweep = facts.sweep.as_ref()?;
    let knee = sweep.knee?;
    let sure = |step: &&LoadStep| step.summary.seconds >= LEAST_SECONDS && step.summary.cpu_mean.is_some();
    let flat = sweep.steps.get(knee.step..)?.iter().filter(sure);
    let used = flat.filter_map(|step| step.summary.cpu_mean).reduce(f64::max)?;
    let busiest = sweep.steps.get(..knee.step)?.iter().filter(sure).max_by(|a, b| {
        let cpu = |step: &LoadStep| step.summary.cpu_mean.unwrap_or_default();
        cpu(a).total_cmp(&cpu(b))
    });
    let most = facts.run.cpu.readings().iter().map(|(_, value)| *value).reduce(f64::max);
    let cores = facts.cores.filter(|cores| *cores == 1 || !cpu_scale_in_doubt(&facts.run.info, most));
    let mut capacity_of = FindingFigures::default();
    let (capacity, of) = match (cores, busiest) {
        (Some(cores), _) => (
            100.0 * f64::from(cores),
            format!("of the {} cores", capacity_of.whole("cores", cores.into(), "cores")),
        ),
        (None, Some(step)) => {
            let cpu = step.summary.cpu_mean?;
            let is_first = sweep.steps.iter().find(sure).is_some_and(|first| first.load == step.load);
            let last = sweep.steps.iter().rfind(sure)?.summary.cpu_mean?;
            if is_first && last >= FALLS_TO * used {
                return None;
            }
            let (had, load) = (
                capacity_of.few("cpu_below_knee", cpu, "%"),
                capacity_of.few("load_below_knee", step.load, "threads"),
            );
            (cpu, format!("of the {had} % it had at {load} threads"))
        }
        (None, None) => return None,
    };
    (used < IDLE_SHARE * capacity).then_some(())?;
    let mut figures = FindingFigures::default();
    let (most, share) = (figures.few("cpu", used, "%"), figures.share("share_of_capacity", used / capacity));
    figures.extend(capacity_of);
    Some(Finding {
        kind: FindingKind::IdleCpu,
        span: saturated_seconds(facts)?,
        what:
            "the CPU is partly idle while throughput is flat: the client, a lock or a limit is the bottleneck"
                .to_owned(),
        evidence: format!("CPU at most {most} %, {share} {of}"),
        figures: figures.done(),
        injector: None,
    })
}

/// Finds seconds without a reading, if there are readings at all.
pub(in crate::diagnose) fn lacking_cpu(facts: &Facts<'_>) -> Option<Finding> {
    let rows = facts.all();
    let lacking: Vec<&RuleSecond> = rows.iter().filter(|row| !row.has_cpu).collect();
    let share = lacking.len() as f64 / rows.len() as f64;
    let readings = facts.run.cpu.readings();
    let (first, last) = (readings.first()?.0, readings.last()?.0);
    if lacking.len() < MOST_LACKING.0 || share < MOST_LACKING.1 {
        return None;
    }
    let begin = facts.run.info.t0_ms.div_euclid(1000);
    let end = facts.run.info.last_ms.div_euclid(1000);
    let offset = facts.view.cpu.offset;
    let mut figures = FindingFigures::default();
    let what = if lacking.len() == rows.len() {
        "no CPU reading falls into the run: another machine's clock, or another run's export".to_owned()
    } else {
        format!("{} of the seconds have no CPU reading", figures.share("seconds_without", share))
    };
    let evidence = format!(
        "readings from epoch second {} to {}, the run from {} to {}",
        figures.whole("readings_first", first.saturating_add(offset), "epoch s"),
        figures.whole("readings_last", last.saturating_add(offset), "epoch s"),
        figures.whole("run_first", begin, "epoch s"),
        figures.whole("run_last", end, "epoch s")
    );
    let gap = Span { first: lacking.first()?.second, last: lacking.last()?.second };
    Some(Finding {
        kind: FindingKind::CpuCoverage,
        span: if lacking.len() == rows.len() { span(rows)? } else { gap },
        what,
        evidence,
        figures: figures.done(),
        injector: None,
    })
}
