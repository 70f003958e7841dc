//! The comparisons of perfpipe for its pages: what `perfpipe compare` computes, as WebAssembly.
//!
//! A page gives the figures of runs as the site has them, and gets the table of changes as JSON. For WebAssembly the functions of
//! the module `memory` are exported; everywhere else the crate is a library, so that the same code is tested as any other.

#[cfg(target_arch = "wasm32")]
pub mod memory;

use perfpipe_analyze::table::Format;
use perfpipe_analyze::{Change, Pairing, RunFigures, Side, change_notes, change_table, compare_sides};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The first line of a question.
#[derive(Deserialize)]
struct Question {
    /// The baseline, and the sides that are compared with it.
    sides: Vec<AskedSide>,
}

#[derive(Deserialize)]
struct AskedSide {
    name: String,
    /// The numbers of bytes of its runs' figures, which follow in this order.
    runs: Vec<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    /// The table, as `perfpipe compare --format json` writes it.
    table: Box<RawValue>,
    /// For each row the interval of the change in percent that all figures have together.
    joint_percent: Vec<Option<(f64, f64)>>,
    /// For each row whether more of the figure is better.
    more_is_better: Vec<Option<bool>>,
    /// Sentences on the noise, and on what is not compared.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Refusal {
    error: String,
}

type AnyError = Box<dyn std::error::Error>;

/// Answers a question: a line of JSON, `{"sides":[{"name":"go","runs":[1234]},…]}`, and the figures of all runs
/// ([`RunFigures::bytes`]), whose lengths it gives. Returns JSON: the table of changes with what belongs to it, or `{"error":…}`.
pub fn answer(question: &[u8]) -> String {
    let answered = compared(question).and_then(|answer| Ok(serde_json::to_string(&answer)?));
    answered.unwrap_or_else(|error| {
        serde_json::to_string(&Refusal { error: error.to_string() }).unwrap_or_default()
    })
}

fn compared(question: &[u8]) -> Result<Answer, AnyError> {
    let end = question.iter().position(|byte| *byte == b'\n').ok_or("the question has no first line")?;
    let (line, mut rest) = question.split_at(end + 1);
    let mut sides = Vec::new();
    for side in serde_json::from_slice::<Question>(line)?.sides {
        let mut runs = Vec::with_capacity(side.runs.len().min(rest.len()));
        for length in side.runs {
            let (figures, others) = rest.split_at_checked(length).ok_or("the question ends within a run")?;
            rest = others;
            runs.push(RunFigures::parse(figures)?.measured);
        }
        let mut of_runs = Side::of(runs);
        of_runs.name = side.name;
        sides.push(of_runs);
    }
    let (baseline, others) = sides.split_first().ok_or("no side is given")?;
    if sides.iter().any(|side| side.runs.is_empty()) {
        return Err("a side has no run".into());
    }
    let mut notes = Vec::new();
    for other in others {
        notes.extend(Pairing::of(&infos(baseline), &infos(other)).notes(&other.name)?);
    }
    let changes = compare_sides(baseline, others, &[]);
    notes.extend(change_notes(baseline, others, &changes, false));
    let mut table = Vec::new();
    change_table(&changes).write(Format::Json, &mut table)?;
    Ok(Answer {
        table: RawValue::from_string(String::from_utf8(table)?)?,
        joint_percent: changes.iter().map(|change| change.joint_percent).collect(),
        more_is_better: changes.iter().map(more_is_better).collect(),
        notes,
    })
}

fn more_is_better(change: &Change) -> Option<bool> {
    change.measure.more_is_better()
}

fn infos(side: &Side) -> Vec<&perfpipe_model::RunInfo> {
    side.runs.iter().map(perfpipe_analyze::Measured::info).collect()
}

#[cfg(test)]
mod tests {
    use perfpipe_analyze::{Measured, Timeline, View};
    use perfpipe_model::counts::{Cell, CellKey, CellTable};
    use perfpipe_model::{RunInfo, RunKey, StoredRun};

    use super::*;

    fn run(framework: &str, seconds: u32, elapsed: i32) -> StoredRun {
        let key = |second| CellKey { second, label: 0, success: true, transaction: false };
        let cell = |second: u32| {
            let (value, count) = (elapsed + (second * 7 % 5) as i32, u64::from(40 + second * 11 % 7));
            Cell { elapsed: vec![(value, count), (value + 9, 3)], ..Cell::default() }
        };
        let info = RunInfo::new(RunKey::new(framework, "t"), 0, i64::from(seconds) * 1000 - 1);
        StoredRun::new(
            info,
            CellTable::new(
                vec!["Get".into()],
                vec![],
                (0..seconds).map(|second| (key(second), cell(second))),
            ),
        )
    }

    fn measured(run: &StoredRun) -> Measured {
        Measured::new(run, &View::default()).unwrap()
    }

    fn question(sides: &[(&str, &[&StoredRun])]) -> Vec<u8> {
        let figures = |run: &&StoredRun| {
            let timeline = Timeline::new(run, &View::default()).unwrap();
            RunFigures::bytes(&timeline, &measured(run)).unwrap()
        };
        let (mut rows, mut bytes) = (Vec::new(), Vec::new());
        for (name, runs) in sides {
            let figures: Vec<Vec<u8>> = runs.iter().map(figures).collect();
            let lengths: Vec<usize> = figures.iter().map(Vec::len).collect();
            rows.push(serde_json::json!({"name": name, "runs": lengths}));
            bytes.extend(figures.concat());
        }
        let mut question = serde_json::json!({"sides": rows}).to_string().into_bytes();
        question.push(b'\n');
        question.extend(bytes);
        question
    }

    #[test]
    fn answer_has_the_table_of_the_command() {
        let (a, b, c) = (run("go", 60, 40), run("node", 60, 44), run("spring", 12, 40));
        let answered = answer(&question(&[("go", &[&a]), ("node", &[&b]), ("spring", &[&c])]));
        let answered: serde_json::Value = serde_json::from_str(&answered).unwrap();
        let side = |name: &str, run: &StoredRun| {
            let mut side = Side::of(vec![measured(run)]);
            side.name = name.to_owned();
            side
        };
        let (baseline, others) = (side("go", &a), [side("node", &b), side("spring", &c)]);
        let changes = compare_sides(&baseline, &others, &[]);
        let mut table = Vec::new();
        change_table(&changes).write(Format::Json, &mut table).unwrap();
        assert_eq!(answered["table"], serde_json::from_slice::<serde_json::Value>(&table).unwrap());
        assert_eq!(answered["jointPercent"].as_array().unwrap().len(), changes.len());
        assert_eq!(answered["moreIsBetter"][0], true);
        assert_eq!(answered["notes"], serde_json::json!(change_notes(&baseline, &others, &changes, false)));
    }

    #[test]
    fn other_questions_are_refused_in_words() {
        let whole = question(&[("go", &[&run("go", 30, 40)])]);
        let cut = &whole[..whole.len() - 1];
        for (bytes, word) in [
            (&b""[..], "no first line"),
            (b"{}\n", "missing field"),
            (b"{\"sides\":[]}\n", "no side"),
            (b"{\"sides\":[{\"name\":\"a\",\"runs\":[]}]}\n", "no run"),
            (b"{\"sides\":[{\"name\":\"a\",\"runs\":[18446744073709551615]}]}\n", "ends within"),
            (b"{\"sides\":[{\"name\":\"a\",\"runs\":[3]}]}\nabc", "figures of a run"),
            (cut, "ends within"),
        ] {
            let answered: serde_json::Value = serde_json::from_str(&answer(bytes)).unwrap();
            assert!(answered["error"].as_str().unwrap().contains(word), "{answered}");
        }
    }
}
