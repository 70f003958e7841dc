//! What was chosen of runs, in the words that stand below the title of their page.

use perfpipe_analyze::View;
use perfpipe_analyze::format::counted;
use perfpipe_ingest::RunInfo;
use perfpipe_ingest::series::CpuJoin;

use crate::text::number::count;

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
        window(view),
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
fn window(view: &View) -> Option<String> {
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
    use perfpipe_ingest::RunKey;

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
    fn every_choice_is_told() {
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
    fn same_choice_of_several_runs_is_told_once() {
        let info = info();
        let view = View::of(&info).with_phase(Phase::Hold);
        assert_eq!(chosen([(&view, &info), (&view, &info)]), ["phase hold"]);
    }
}
