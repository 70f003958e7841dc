//! Pages of small runs, compared to pictures that were looked at.
//!
//! `UPDATE_GOLDEN=1 cargo test --workspace --test golden` writes them anew: look at them before keeping them.

mod support;

use std::path::Path;

use perfpipe_analyze::points::{Level, SweepBy};
use perfpipe_analyze::{League, View, compare};
use perfpipe_plot::{
    ColorBy, Error, FigureSize, LoadFigure, Page, Palette, Paper, RunFigure, Style, TestFigure, Times,
};

type Checked = Result<(), Box<dyn std::error::Error>>;

fn check(name: &str, page: &Page) -> Checked {
    let svg = page.svg();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("svg");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &svg)?;
    }
    let golden = std::fs::read_to_string(&path)?;
    let differing = svg.lines().zip(golden.lines()).enumerate().find(|(_, (is, was))| is != was);
    assert!(svg == golden, "{name} differs from {}: {differing:?}", path.display());
    Ok(())
}

#[test]
fn run_of_five_seconds() -> Checked {
    check("five", &Page::run(&support::short(5), &Style::default()))
}

#[test]
fn run_of_one_second_by_cpu_on_letter_paper() -> Checked {
    let style = Style::default().with_paper(Paper::Letter).with_color_by(ColorBy::Cpu).with_cores(2);
    check("one", &Page::run(&support::short(1), &style))
}

#[test]
fn run_in_viridis() -> Checked {
    let style = Style::default().with_palette(Palette::Viridis);
    check("viridis", &Page::run(&support::short(5), &style))
}

#[test]
fn outage() -> Checked {
    check("outage", &Page::run(&support::outage(), &Style::default()))
}

#[test]
fn run_without_successes() -> Checked {
    check("hopeless", &Page::run(&support::hopeless(), &Style::default()))
}

#[test]
fn view_that_is_not_the_plain_one() -> Checked {
    check("chosen", &Page::run(&support::chosen(), &Style::default()))
}

#[test]
fn run_with_its_memory_and_a_temperature() -> Checked {
    check("series", &Page::run(&support::with_series(), &Style::default()))
}

#[test]
fn more_series_than_fit_on_a_page_are_counted() {
    let mut run = support::with_series();
    let memory = run.series[1].clone();
    run.series = (0..9)
        .map(|at| {
            let mut one = memory.clone();
            one.name = format!("memory-{at}");
            one
        })
        .collect();
    let svg = Page::run(&run, &Style::default()).svg();
    assert!(svg.contains("memory-3 (MiB)") && !svg.contains("memory-4"));
    assert!(svg.contains("Series that are not drawn: 5."));
}

#[test]
fn run_by_the_clock_with_response_times_on_a_logarithmic_axis() -> Checked {
    let zone = "Asia/Kolkata".parse()?;
    let style = Style::default().with_times(Times::Clock).with_time_zone(zone).with_log_scale(true);
    check("clock", &Page::run(&support::outage(), &style))
}

#[test]
fn sweep_with_its_knee() -> Checked {
    check("sweep", &Page::sweep(&support::sweep(), &Style::default()))
}

#[test]
fn two_frameworks() -> Checked {
    let runs = [support::steady("slow & <steady>", 900.0, 0.1, 30), support::steady("fast", 2500.0, 0.3, 40)];
    check("two", &Page::test("2048", &runs, &Style::default()))
}

#[test]
fn repeats_of_two_frameworks() -> Checked {
    check("repeats", &Page::test("2048", &support::repeats(), &Style::default()))
}

#[test]
fn frameworks_with_series_of_which_one_lacks_some() -> Checked {
    check("laid", &Page::test("2048", &support::both_with_series(), &Style::default()))
}

#[test]
fn run_with_series_against_another() -> Checked {
    let [a, b] = support::both_with_series();
    check("comparison-series", &Page::comparison(&a, &b, &Style::default()))
}

#[test]
fn series_of_several_runs_that_do_not_fit_on_a_page_are_counted() {
    let [mut a, b] = support::both_with_series();
    let memory = a.series[1].clone();
    a.series.extend((0..6).map(|at| {
        let mut one = memory.clone();
        one.name = format!("other-{at}");
        one
    }));
    let runs = [a, b];
    for page in
        [Page::test("t", &runs, &Style::default()), Page::comparison(&runs[0], &runs[1], &Style::default())]
    {
        let svg = page.svg();
        assert!(svg.contains("memory (MiB)") && svg.contains("other-1 (MiB)") && !svg.contains("other-2"));
        assert!(svg.contains("Series that are not drawn: 4"), "{svg}");
    }
}

#[test]
fn run_against_another() -> Checked {
    let (a, b) = (support::steady("spring", 900.0, 0.1, 60), support::steady("perfectnio", 1400.0, 0.2, 60));
    check("comparison", &Page::comparison(&a, &b, &Style::default()))
}

#[test]
fn changes_from_one_run_to_another() -> Checked {
    let view = View::default();
    let (a, b) = (support::measurable("go", 1, 20), support::measurable("go", 2, 24));
    let changes = compare((&a, &view), (&b, &view))?;
    let name = changes.first().map(|change| change.run.clone()).unwrap_or_default();
    check("changes", &Page::changes("go_2048", &name, &changes, &Style::default()))
}

#[test]
fn trend_over_versions_of_which_one_is_slower() -> Checked {
    check("trend", &Page::trend("2048", &support::trends()?, &Style::default()))
}

#[test]
fn sweep_of_two_servers_by_concurrency() -> Checked {
    let levels = support::by_concurrency();
    check("levels", &Page::levels("/hello", &levels, SweepBy::Concurrency, &Style::default()))?;
    let one: Vec<Level> = levels.into_iter().filter(|level| level.framework == "beta").collect();
    check("level-details", &Page::level_details("/hello", &one, SweepBy::Concurrency, &Style::default()))
}

#[test]
fn sweep_of_a_server_by_workers() -> Checked {
    let levels = support::by_workers();
    check("workers", &Page::level_details("/json", &levels, SweepBy::Workers, &Style::default()))
}

#[test]
fn figures_of_a_run_in_a_column_of_a_paper() -> Checked {
    let (run, column) = (support::outage(), "84mm".parse::<FigureSize>()?);
    let style = Style::default().with_palette(Palette::Blues);
    for figure in RunFigure::ALL {
        let page = Page::run_figure(&run, *figure, &column, &style)?;
        assert!((page.size().0 - 84.0 * 72.0 / 25.4).abs() < 1e-6);
        check(&format!("figure-{}", figure.name()), &page)?;
    }
    Ok(())
}

#[test]
fn figures_of_a_run_by_its_load_in_a_column_of_a_paper() -> Checked {
    let (sweep, column) = (support::sweep(), "84mm".parse::<FigureSize>()?);
    for figure in LoadFigure::ALL {
        let page = Page::load_figure(&sweep, *figure, &column, &Style::default())?;
        check(&format!("figure-{}", figure.name()), &page)?;
    }
    Ok(())
}

#[test]
fn figures_of_two_frameworks_in_a_column_of_a_paper() -> Checked {
    let (runs, column) = (support::repeats(), "84x60mm".parse::<FigureSize>()?);
    for figure in [TestFigure::Overview, TestFigure::OverviewResponse] {
        let page = Page::test_figure("2048", &runs, figure, &column, &Style::default())?;
        check(&format!("figure-{}", figure.name()), &page)?;
    }
    Ok(())
}

#[test]
fn figure_of_what_was_not_measured_is_refused_as_is_one_without_room() -> Checked {
    let (column, style) = ("84mm".parse::<FigureSize>()?, Style::default());
    for (run, figure, problem) in [
        (support::bare(), RunFigure::Cpu, "node 2048: No CPU readings for this run"),
        (support::bare(), RunFigure::Failures, "node 2048: No failures"),
        (support::hopeless(), RunFigure::Response, "django 2048: No request succeeded"),
    ] {
        let error = Page::run_figure(&run, figure, &column, &style).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(problem));
    }
    let runs = support::repeats();
    let error = Page::test_figure("2048", &runs, TestFigure::OverviewCpu, &column, &style).err();
    assert!(matches!(error, Some(Error::NothingToDraw { .. })), "{error:?}");
    let error = Page::test_figure("2048", [], TestFigure::Overview, &column, &style).err();
    assert!(matches!(error, Some(Error::NothingToDraw { .. })), "{error:?}");
    let low = "84x35mm".parse::<FigureSize>()?;
    let error = Page::run_figure(&support::outage(), RunFigure::Requests, &low, &style).err();
    let remedy = error.as_ref().and_then(Error::remedy).unwrap_or_default();
    assert!(remedy.starts_with("Give at least ") && remedy.contains(" mm of height"), "{error:?} {remedy}");
    // What the remedy says is enough.
    let least = remedy.split_whitespace().nth(3).unwrap_or_default();
    let enough = format!("84x{least}mm").parse::<FigureSize>()?;
    Page::run_figure(&support::outage(), RunFigure::Requests, &enough, &style)?;
    Ok(())
}

#[test]
fn document_begins_with_the_league_and_a_list_of_its_pages() -> Checked {
    let (runs, style) = (support::repeats(), Style::default());
    let mut pages = vec![Page::test("2048", &runs, &style)];
    pages.extend(runs.iter().map(|run| Page::run(run, &style)));
    let pages = Page::document(&League::new(&runs)?, &runs, pages, &style);
    assert_eq!(pages.len(), runs.len() + 2);
    for (page, at) in pages.iter().zip(1..) {
        assert!(page.svg().contains(&format!(">Page {at} of {}<", pages.len())), "{at}");
    }
    check("contents", pages.first().ok_or("no page")?)
}
