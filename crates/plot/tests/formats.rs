//! What holds for every page in either format: well-formed, finite, repeatable, readable.

#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

#[path = "support/font.rs"]
mod font;
#[path = "../../ingest/tests/support/required.rs"]
mod required;
mod support;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use perfpipe_plot::{ColorBy, Error, FallbackFont, Page, Paper, Style, pdf, png};
use proptest::prelude::*;

use crate::required::skip;

fn pages() -> Vec<(String, Page)> {
    let mut pages = Vec::new();
    for (name, run) in support::cases() {
        for (paper, color_by) in
            [(Paper::A4, ColorBy::Load), (Paper::Letter, ColorBy::Cpu), (Paper::A4, ColorBy::Throughput)]
        {
            let style = Style::default().with_paper(paper).with_color_by(color_by);
            pages.push((format!("{name} {style:?}"), Page::run(&run, &style)));
        }
    }
    for (name, sweep) in support::sweeps() {
        pages.push((format!("sweep {name}"), Page::sweep(&sweep, &Style::default())));
    }
    pages.push(("field".to_owned(), Page::test("2048", &support::field(), &Style::default())));
    pages.push(("no field".to_owned(), Page::test("2048", [], &Style::default())));
    pages
}

#[test]
fn page_whose_colours_are_not_the_load_has_a_strip_of_it() {
    let run = support::short(7);
    assert!(run.summary.load_max.is_some());
    for (color_by, has_strip) in [(ColorBy::Load, false), (ColorBy::Cpu, true), (ColorBy::Throughput, true)] {
        let svg = Page::run(&run, &Style::default().with_color_by(color_by)).svg();
        assert_eq!(svg.contains(">at most 10.0 threads<"), has_strip, "{color_by:?}");
    }
}

#[test]
fn svg_is_well_formed_and_finite() {
    for (name, page) in pages() {
        let svg = page.svg();
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let title =
            document.descendants().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")));
        assert_eq!(title.and_then(|node| node.text()), Some(page.title()), "{name}");
        for node in document.descendants() {
            for attribute in node.attributes() {
                let value = attribute.value();
                let finite = !["NaN", "nan", "inf"].iter().any(|bad| value.contains(bad));
                assert!(finite, "{name}: {}={value}", attribute.name());
            }
        }
        let words: String = document.descendants().filter(|n| n.is_text()).filter_map(|n| n.text()).collect();
        assert!(!words.contains("NaN") && !words.contains("inf "), "{name}: {words}");
    }
}

#[test]
fn same_page_gives_the_same_bytes() {
    for ((name, first), (_, second)) in pages().into_iter().zip(pages()) {
        assert_eq!(first.svg(), second.svg(), "{name}");
        assert!(pdf(&[first]).unwrap() == pdf(&[second]).unwrap(), "{name}");
    }
}

#[test]
fn pages_share_one_pdf() {
    let pages: Vec<Page> = pages().into_iter().map(|(_, page)| page).collect();
    let bytes = pdf(&pages).unwrap();
    assert!(bytes.starts_with(b"%PDF-"));
    assert!(bytes.trim_ascii_end().ends_with(b"%%EOF"));
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains(&format!("/Count {}", pages.len())));
}

/// True if a document has these bytes outside of what is compressed.
fn has_text(pdf: &[u8], text: &str) -> bool {
    pdf.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn pdf_says_what_it_is_and_each_chart_in_words() {
    let run = support::outage();
    let bytes = pdf(&[Page::run(&run, &Style::default())]).unwrap();
    for text in [
        "/Title(spring heavy_2048)",
        concat!("/Creator(perfpipe ", env!("CARGO_PKG_VERSION"), ")"),
        "/CreationDate(D:20261120194218",
        "<pdfuaid:part>1</pdfuaid:part>",
        "/StructTreeRoot",
        "/Outlines",
        "/H1",
        "(Requests per second: on average 5,696 successes, at most 8,",
        "; 60,455 failures (8.13 %).)",
        "CPU utilisation: on average 249 %, at most 38",
        "ms, p95 99.3 ms; the p95 of a second is at most 1",
        "(Response time: p25 ",
        "Failures per second: 60,455 in all, at most 3,663 at 0:54.",
        "Phases: ramp from second 0 to 59, hold from second 60 to 119.",
        "Colours: load from 0 to 600.",
    ] {
        assert!(has_text(&bytes, text), "{text}");
    }
    let by_load = pdf(&[Page::sweep(&support::sweep(), &Style::default())]).unwrap();
    assert!(has_text(&by_load, "Response time by load: p25 at most "));
    let both = pdf(&[Page::comparison(&run, &support::short(60), &Style::default())]).unwrap();
    assert!(has_text(&both, "Successes per second: A: spring_heavy_2048 mean 5,696/s; B: spring_2048 mean "));
    let fast = [support::steady("go", 900.0, 0.0, 30), support::steady("rails", 100.0, 0.0, 30)];
    let all = pdf(&[Page::test("2048", &fast, &Style::default())]).unwrap();
    assert!(has_text(&all, "Successes per second over time, on average: go 900, rails 100."));
}

#[test]
fn character_that_no_font_has_is_drawn_as_its_code_point() {
    let run = support::timeline("\u{914d}\u{989d}", "2048", support::short(5).seconds);
    let page = Page::run(&run, &Style::default());
    assert!(page.svg().contains(">\u{914d}\u{989d} 2048</text>"));
    let Some(text) = text_of(&page) else { return };
    assert!(text.contains("<U+914D><U+989D> 2048"), "{text}");
}

#[test]
fn fallback_font_draws_what_the_shipped_one_lacks() {
    let font = FallbackFont::new(font::with_two_more(), 0).unwrap();
    assert!(font.has('\u{914d}') && font.has('\u{989d}') && !font.has('\u{4e2d}'));
    let mut run = support::short(5);
    run.info.key.framework = "a\u{914d}\u{989d}b \u{4e2d}".to_owned();
    let page = Page::run(&run, &Style::default().with_fallback_fonts([font]));
    assert!(png(&page, 1.0).unwrap() != png(&Page::run(&run, &Style::default()), 1.0).unwrap());
    let Some(text) = text_of(&page) else { return };
    assert!(text.contains("a\u{914d}\u{989d}b <U+4E2D> 2048"), "{text}");
}

#[test]
fn no_page_is_no_pdf() {
    assert!(matches!(pdf(&[]), Err(Error::NoPages)));
}

/// The text of a page's PDF; `None` without the program that reads it.
fn text_of(page: &Page) -> Option<String> {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let name = format!("perfpipe-plot-{}-{}.pdf", std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, pdf(std::slice::from_ref(page)).unwrap()).unwrap();
    let output = Command::new("pdftotext").arg("-layout").arg(&file).arg("-").output();
    std::fs::remove_file(&file).unwrap();
    let Ok(output) = output else {
        skip("PDFTOTEXT", "pdftotext is not installed");
        return None;
    };
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn text_in_the_pdf_is_text() {
    let Some(text) = text_of(&Page::run(&support::outage(), &Style::default())) else { return };
    for words in ["spring heavy_2048", "Requests per second", "percentile_cont", "60,455", "19:42:18.609 UTC"]
    {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn key_lists_the_best_first() {
    let svg = Page::test("2048", &support::field(), &Style::default()).svg();
    let place =
        |name: &str| svg.find(&format!(">{name}</text>")).unwrap_or_else(|| panic!("{name} is missing"));
    let places = ["PerfectNIO", "Spring", "Größe &amp; &lt;Söhne&gt;", "Node", "Go", "Kitura"].map(place);
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn percentiles_go_by_their_own_names() {
    let mut run = support::short(20);
    run.percentiles = vec![99.9, 10.0, 50.0, 90.0];
    let svg = Page::run(&run, &Style::default()).svg();
    for name in [">p10<", ">p50<", ">p90<", ">p99.9, coloured by load<"] {
        assert!(svg.contains(name), "{name}");
    }
}

prop_compose! {
    /// A second with anything in it, so many seconds after the one before.
    fn some_second()(
        gap in 1u32..400,
        successes in prop_oneof![Just(0), 0..u64::from(u32::MAX)],
        failures in 0u64..3,
        values in proptest::array::uniform3(some_value()),
    ) -> perfpipe_analyze::Second {
        let [load, cpu, elapsed] = values;
        let percentiles = elapsed.into_iter().flat_map(|elapsed| [elapsed; 2]).collect();
        let mut second = perfpipe_analyze::Second::default();
        (second.second, second.successes, second.failures) = (gap, successes, failures);
        (second.load, second.cpu, second.percentiles) = (load.into(), cpu.into(), percentiles);
        second
    }
}

fn some_value() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        Just(None),
        (0.0..1e7f64).prop_map(Some),
        Just(Some(f64::NAN)),
        Just(Some(1e300)),
        Just(Some(0.0))
    ]
}

/// Ascending seconds, some of them missing.
fn some_seconds() -> impl Strategy<Value = Vec<perfpipe_analyze::Second>> {
    proptest::collection::vec(some_second(), 0..60).prop_map(|mut seconds| {
        let mut at = 0;
        for second in &mut seconds {
            at += second.second;
            second.second = at;
        }
        seconds
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_run_can_be_drawn(seconds in some_seconds(), framework in any::<String>(), cores in any::<Option<u32>>()) {
        let run = support::timeline(&framework, "2048", seconds);
        let style = Style::default().with_cores(cores);
        let page = Page::run(&run, &style);
        let svg = page.svg();
        prop_assert!(svg.len() < 2_000_000);
        prop_assert!(roxmltree::Document::parse(&svg).is_ok());
        prop_assert!(pdf(&[page, Page::test(&framework, [&run], &style)]).is_ok());
    }
}
