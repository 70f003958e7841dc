//! The texts of a run's page: what was chosen, the figures below its title, and the facts in its footer.

use perfpipe_analyze::format::{counted, damage_read, lasting};
use perfpipe_analyze::{Summary, Timeline, View};
use perfpipe_model::RunInfo;
use perfpipe_model::series::CpuJoin;

use crate::charts::run::RunData;
use crate::text::clock::utc;
use crate::text::fonts::Fonts;
use crate::text::number::{count, measured, percent, response, trimmed};
use crate::time_columns;

/// The number of source files that are named; the rest are counted.
const FILES: usize = 4;

/// The suffix of the name of a partial run.
pub(crate) const PARTIAL: &str = " (partial)";

/// The number of damaged files that are described; the rest are counted.
const DAMAGED: usize = 3;

/// Returns the most important figures, with those of the hold in a second line if there is one.
pub(crate) fn figures(timeline: &Timeline) -> Vec<Vec<String>> {
    let mut whole = figures_of(&timeline.summary);
    if let Some(wait) = timeline.duration.long_wait() {
        whole.insert(1, format!("its last answer awaited for {} s", measured(wait)));
    }
    let Some(hold) = &timeline.hold else { return vec![whole] };
    let named = |name: &str, figures: Vec<String>| [name.to_owned()].into_iter().chain(figures).collect();
    vec![named("All", whole), named("Hold", figures_of(hold))]
}

fn figures_of(summary: &Summary) -> Vec<String> {
    let mut figures = vec![format!("throughput {}/s", measured(summary.throughput))];
    let times = [("p50", summary.p50), ("p95", summary.p95), ("p99", summary.p99)];
    figures.extend(times.iter().filter_map(|(name, ms)| Some(format!("{name} {}", response((*ms)?)))));
    figures.extend(summary.failure_share().map(|share| format!("failures {}", percent(share))));
    figures.extend(summary.cpu_mean.map(|mean| format!("mean CPU {} %", measured(mean))));
    figures
}

/// Returns further facts on a run.
pub(crate) fn facts(run: &RunData<'_>) -> Vec<String> {
    let (info, summary) = (&run.timeline.info, run.summary());
    let lasted = lasting(run.timeline.duration.seconds);
    let share = summary.failure_share().map(|share| format!(" ({})", percent(share)));
    let mut facts = vec![format!("Start (t0) {}", utc(info.t0_ms)), format!("Duration {lasted}")];
    facts.extend(window(run));
    facts.extend(
        time_columns::cut(run.timeline)
            .map(|_| "The last second, cut short, has no bar of successes".to_owned()),
    );
    facts.extend(hold(run.timeline));
    facts.extend(load(&run.timeline.view));
    facts.push(format!("Requests {}", count(summary.requests())));
    facts.push(format!("Failures {}{}", count(summary.failures), share.unwrap_or_default()));
    if summary.failures > 0 {
        facts.push("Throughput and average count successes only".to_owned());
    }
    facts.push(match summary.cpu_coverage {
        share if share > 0.0 => format!("CPU readings for {} of the seconds", percent(share)),
        _ => "No CPU readings".to_owned(),
    });
    if run.timeline.seconds.iter().all(|second| second.load.get().is_none()) {
        facts.push("Load is not in the log".to_owned());
    }
    facts.push(percentiles(&run.timeline.percentiles));
    let remarks = info.caveats().into_iter().chain(run.timeline.remarks());
    facts.extend(remarks.map(|remark| capitalised(&remark)));
    facts.extend(sources(run.timeline));
    facts.extend(damage(&run.timeline.info));
    facts
}

/// Returns a text with its first letter in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Breaks a text into lines no wider than `room`, between words.
pub(crate) fn broken(text: &str, fonts: &Fonts, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if fonts.width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fonts.fitted(word, size, room)),
        }
    }
    lines
}

/// Describes the damage of a run's files.
pub(crate) fn damage(info: &RunInfo) -> impl Iterator<Item = String> + '_ {
    let damage = &info.damage;
    let more = damage.len().checked_sub(DAMAGED).filter(|more| *more > 0);
    // Two parts per file, so that each fits in a line.
    let damages =
        damage.iter().take(DAMAGED).flat_map(|damage| [format!("Partial: {damage}"), damage_read(damage)]);
    damages.chain(more.map(|more| format!("Partial: {more} more files or members are damaged")))
}

/// Describes the seconds shown, unless they are the whole run.
fn window(run: &RunData<'_>) -> Option<String> {
    let (first, end) = run.columns.span;
    let whole = first == 0.0 && end >= f64::from(run.timeline.info.seconds);
    let phase = run.timeline.view.phase.map(|phase| format!("the {phase}, ")).unwrap_or_default();
    (!whole).then(|| {
        format!("Shown: {phase}seconds {} to {}", count(first as u64), count((end - 1.0).max(0.0) as u64))
    })
}

/// Describes the seconds of the hold, if its figures are shown separately.
fn hold(timeline: &Timeline) -> Option<String> {
    let span = timeline.hold.as_ref().and(timeline.phases.hold)?;
    let (first, last) = (count(span.first.into()), count(span.last.into()));
    Some(format!("Hold: seconds {first} to {last}, in which the load is level at its peak"))
}

/// Describes what the load is, where that is not what the records say.
pub(crate) fn load(view: &View) -> impl Iterator<Item = String> + use<> {
    let load = view.label.as_ref().map(|_| "Load is that of all labels".to_owned());
    let injectors = (view.injectors != 1)
        .then(|| format!("Load is what the log reports × {} injectors", count(u64::from(view.injectors))));
    load.into_iter().chain(injectors)
}

pub(crate) fn percentiles(percentiles: &[f64]) -> String {
    let names: Vec<String> = percentiles.iter().map(|p| format!("p{}", trimmed(*p))).collect();
    format!("Percentiles ({}): percentile_cont, linear between neighbours", names.join(", "))
}

/// Names the files that the run was made from, the first of many.
fn sources(timeline: &Timeline) -> Option<String> {
    let mut names: Vec<String> = source_names(timeline).take(FILES).collect();
    let all = timeline.info.sources.len();
    if all > FILES {
        names.push(format!("{} more", all - FILES));
    }
    (!names.is_empty()).then(|| format!("From {}", names.join(", ")))
}

/// Names the files that the run was made from.
pub(crate) fn source_names(timeline: &Timeline) -> impl Iterator<Item = String> + '_ {
    timeline.info.sources.iter().map(|source| match &source.member {
        Some(member) => format!("{} ({member})", source.file),
        None => source.file.clone(),
    })
}

/// Describes what was chosen of runs, where that is not everything. What is the same for several runs is named once.
pub(crate) fn chosen<'a>(runs: impl IntoIterator<Item = (&'a View, &'a RunInfo)>) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    for words in runs.into_iter().flat_map(|(view, info)| of_run(view, info)) {
        if !chosen.contains(&words) {
            chosen.push(words);
        }
    }
    chosen
}

fn of_run(view: &View, info: &RunInfo) -> impl Iterator<Item = String> + use<> {
    let flag = |given: bool, words: &str| given.then(|| words.to_owned());
    let plain = View::of(info);
    let injectors = Some(view.injectors).filter(|injectors| *injectors > 1 && *injectors != plain.injectors);
    let [offset, lookback] = cpu(view.cpu, plain.cpu);
    [
        view.phase.map(|phase| format!("phase {phase}")),
        chosen_window(view),
        view.label.as_ref().map(|label| format!("label {label}")),
        flag(view.transactions, "transactions counted as requests"),
        flag(view.top_level, "without sub-samples"),
        flag(view.include_failures, "times and CPU include failures"),
        injectors.map(|injectors| format!("load × {}", counted(injectors.into(), "injector"))),
        offset,
        lookback,
    ]
    .into_iter()
    .flatten()
}

/// Describes the seconds that were chosen by their numbers.
fn chosen_window(view: &View) -> Option<String> {
    let second = |second: u32| count(second.into());
    match (view.from, view.to) {
        (None, None) => None,
        (Some(from), None) => Some(format!("from second {}", second(from))),
        (None, Some(to)) => Some(format!("up to second {}", second(to))),
        (Some(from), Some(to)) => Some(format!("seconds {} to {}", second(from), second(to))),
    }
}

/// Describes how CPU readings are joined, where that differs from how the run was stored.
fn cpu(chosen: CpuJoin, plain: CpuJoin) -> [Option<String>; 2] {
    let sign = if chosen.offset < 0 { "−" } else { "+" };
    // A run without readings has no age for them.
    let unknown = plain.lookback == 0 && chosen.lookback == CpuJoin::default().lookback;
    let offset = format!("CPU clock {sign}{} s", chosen.offset.unsigned_abs());
    let lookback = format!("CPU readings up to {} s old", count(chosen.lookback.into()));
    [
        (chosen.offset != plain.offset).then_some(offset),
        (chosen.lookback != plain.lookback && !unknown).then_some(lookback),
    ]
}

#[cfg(test)]
mod tests {
    use perfpipe_analyze::Phase;
    use perfpipe_model::RunKey;

    use super::*;

    fn info() -> RunInfo {
        let mut info = RunInfo::new(RunKey::new("go", "2048"), 0, 999);
        info.cpu_lookback = 3;
        info
    }

    fn choices(view: View) -> Vec<String> {
        chosen([(&view, &info())])
    }

    #[test]
    fn every_choice_is_written() {
        let plain = View::of(&info());
        assert!(choices(plain.clone()).is_empty());
        assert_eq!(choices(plain.clone().with_phase(Phase::Hold)), ["phase hold"]);
        assert_eq!(choices(plain.clone().with_window(3, None)), ["from second 3"]);
        assert_eq!(choices(plain.clone().with_window(None, 4000)), ["up to second 4,000"]);
        let all = plain
            .clone()
            .with_window(3, 99)
            .with_label("GET /".to_owned())
            .with_transactions(true)
            .with_top_level(true)
            .with_include_failures(true)
            .with_injectors(3)
            .with_cpu(plain.cpu.with_offset(-1).with_lookback(0));
        let words = [
            "seconds 3 to 99",
            "label GET /",
            "transactions counted as requests",
            "without sub-samples",
            "times and CPU include failures",
            "load × 3 injectors",
            "CPU clock −1 s",
            "CPU readings up to 0 s old",
        ];
        assert_eq!(choices(all), words);
    }

    #[test]
    fn same_choice_of_several_runs_is_written_once() {
        let info = info();
        let view = View::of(&info).with_phase(Phase::Hold);
        assert_eq!(chosen([(&view, &info), (&view, &info)]), ["phase hold"]);
    }
}
