//! A comparison as a comment on a pull request.

use perfpipe_analyze::points::PointChange;
use perfpipe_analyze::{Change, Direction, Measure, Noise, Outcome, Part};

use super::args::CompareArgs;
use crate::output::comment::{Comment, CommentColumn, Line, Shift, number_cell};

const COLUMNS: &[CommentColumn] = &[
    CommentColumn::Text("outcome"),
    CommentColumn::Text("figure"),
    CommentColumn::Text("run"),
    CommentColumn::Number("before"),
    CommentColumn::Number("now"),
    CommentColumn::Number("change"),
];

/// A figure that is compared, of runs or of points.
pub(super) struct ComparedFigure {
    run: String,
    figure: String,
    unit: String,
    values: [Option<f64>; 2],
    shift: Shift,
    outcome: Option<Outcome>,
    /// By what the change is known.
    noise: String,
}

impl ComparedFigure {
    /// Describes a figure of runs, of which so many are compared on each side.
    pub(super) fn of_runs(change: &Change, runs: (usize, usize)) -> Self {
        let name = figure_name(&change.measure);
        let difference = change.a.zip(change.b).map(|(a, b)| b - a);
        let noise = match change.noise {
            Noise::Repeats | Noise::SecondsOfRepeats => format!("by {} and {} repeats", runs.0, runs.1),
            Noise::Pairs => format!("by {} pairs", runs.1),
            _ => "by the seconds of these runs".to_owned(),
        };
        Self {
            run: change.run.clone(),
            figure: match change.part {
                Part::Run => name,
                part => format!("{name} of the {part}"),
            },
            unit: change.measure.unit().to_owned(),
            values: [change.a, change.b],
            shift: match change.measure {
                Measure::FailuresPercent => Shift::points(difference, change.interval),
                _ => Shift::percent(change.percent(), change.percent_interval),
            },
            outcome: Some(change.outcome),
            noise,
        }
    }

    /// Describes a figure of points, of which there are so many on each side.
    pub(super) fn of_points(change: &PointChange, points: (usize, usize)) -> Self {
        let name = change.measure.name();
        let (name, unit) = match name.strip_suffix("_ms") {
            Some(name) => (name, "ms"),
            None if name.ends_with("percent") => ("failures", "%"),
            None => (name, ""),
        };
        Self {
            run: change.name.clone(),
            figure: name.replace('_', " "),
            unit: unit.to_owned(),
            values: [change.a, change.b].map(|spread| spread.map(|spread| spread.median)),
            shift: Shift::percent(change.percent(), change.percent_interval),
            outcome: change.outcome,
            noise: format!("by {} and {} repeats", points.0, points.1),
        }
    }

    /// Returns how much the figure matters, the most first.
    fn rank(&self) -> u8 {
        match self.outcome {
            // What neither side has.
            _ if self.values == [None, None] => 8,
            Some(Outcome::Shown(Direction::Worse)) => 0,
            Some(Outcome::TheseRuns(Direction::Worse)) => 1,
            Some(Outcome::Shown(Direction::More | Direction::Less)) => 2,
            Some(Outcome::TheseRuns(Direction::More | Direction::Less)) => 3,
            Some(Outcome::Shown(_) | Outcome::TheseRuns(_)) => 4,
            Some(Outcome::NotShown) => 5,
            Some(Outcome::Unknown) => 6,
            _ => 7,
        }
    }

    fn direction(&self) -> Option<Direction> {
        self.outcome.and_then(Outcome::direction)
    }

    fn row(&self, names_run: bool) -> Vec<Line> {
        let [before, now] = self.values.map(|value| number_cell(value, 2, &self.unit));
        vec![
            Line::text(self.outcome.map_or("not judged", Outcome::name)),
            Line::text(&self.figure),
            if names_run { Line::code(&self.run) } else { Line::default() },
            before,
            now,
            self.shift.cell(),
        ]
    }
}

/// Returns a figure's name in words.
pub(in crate::commands) fn figure_name(measure: &Measure) -> String {
    match measure {
        Measure::FailuresPercent => "failures".to_owned(),
        Measure::CpuMean => "mean CPU".to_owned(),
        Measure::ElapsedMean => "mean response time".to_owned(),
        other => other.column(),
    }
}

/// Makes the comment on figures that were compared with those of a baseline, those that are worse first.
pub(super) fn comment(
    args: &CompareArgs,
    baseline: &str,
    mut figures: Vec<ComparedFigure>,
    notes: impl IntoIterator<Item = String>,
) -> Comment {
    let size = |figure: &ComparedFigure| figure.shift.size();
    let is_worse = |figure: &ComparedFigure| figure.direction() == Some(Direction::Worse);
    figures.sort_by(|a, b| {
        let by_size = if is_worse(a) { size(b).total_cmp(&size(a)) } else { std::cmp::Ordering::Equal };
        a.rank().cmp(&b.rank()).then(by_size)
    });
    let names_run = figures.iter().any(|figure| figures.first().is_some_and(|first| first.run != figure.run));
    let verdict = headline(&figures, baseline);
    let rows = figures.iter().map(|figure| figure.row(names_run)).collect();
    let about = args.of.test.iter().chain(&args.a).chain(&args.b).chain(&args.of.framework);
    Comment::new("compare", about.map(String::as_str), verdict).table(COLUMNS, rows).notes(notes)
}

fn headline(sorted: &[ComparedFigure], baseline: &str) -> Line {
    let Some(first) = sorted.first() else { return Line::text("No figure was compared").bold() };
    let sides = |line: Line| line.and(": ").and_code(&first.run).and(" against ").and_code(baseline);
    if let Some(direction) = first.direction() {
        let line = first.shift.sentence("", &Line::text(&first.figure), direction.name());
        let line = sides(line.and(&format!(", {}", first.noise)));
        let worse = sorted.iter().filter(|figure| figure.direction() == Some(Direction::Worse)).count();
        return match worse {
            0 => line.and("; no figure is shown to be worse"),
            1 => line,
            worse => line.and(&format!("; {worse} of {} figures are worse", sorted.len())),
        };
    }
    match first.outcome {
        Some(Outcome::NotShown) => {
            let line = sides(Line::text("No change is shown").bold());
            line.and(&format!("; {} ", first.figure)).and_line(&first.shift.cell())
        }
        _ => sides(Line::text("Unknown: no figure can be judged").bold()),
    }
}
