//! Pages and the league table.

use std::path::{Path, PathBuf};

use crate::support::*;

/// The same log under three frameworks of one test, the second faster than the others.
fn ingest_three(store: &Store) {
    for (framework, name) in
        [("spring", "Results-flaky-8181.csv"), ("nio", "Results-2048-9000.csv"), ("go", "outage.csv")]
    {
        let fixture = Fixture::named(name);
        let files = fixture.files(&fixture.logs()[0]);
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let arguments = [&["ingest"], &files[..], &["--framework", framework, "--test", "2048"]].concat();
        store.run(&arguments).said();
    }
}

/// The files of a folder, by name.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// Checks that each page is what its ending says, and returns the texts of the SVG ones.
fn check_pages(folder: &Path) -> String {
    let mut texts = String::new();
    for path in names(folder).iter().map(|name| folder.join(name)) {
        let bytes = std::fs::read(&path).unwrap();
        if path.extension().unwrap() == "pdf" {
            assert!(bytes.starts_with(b"%PDF-"), "{}", path.display());
            assert!(bytes.trim_ascii_end().ends_with(b"%%EOF"), "{}", path.display());
        } else {
            let svg = String::from_utf8(bytes).unwrap();
            let document = roxmltree::Document::parse(&svg).unwrap();
            assert_eq!(document.root_element().tag_name().name(), "svg");
            for node in document.descendants().filter(|node| node.is_text()) {
                texts.push_str(node.text().unwrap());
            }
        }
    }
    texts
}

fn report_into(store: &Store, folder: &str, flags: &[&str]) -> (Done, PathBuf) {
    let path = store.folder.path().join(folder);
    let out = ["report", "--test", "2048", "--out", path.to_str().unwrap()];
    (store.run(&[&out[..], flags].concat()), path)
}

#[test]
fn test_gives_a_page_a_run_one_for_all_and_the_league() {
    let mut both = Vec::new();
    for store in Store::each() {
        ingest_three(&store);
        let (done, folder) = report_into(&store, "charts", &[]);
        assert_eq!(done.err, format!("wrote 8 files into {}: 4 svg, 4 pdf\n", folder.display()));
        let league = done.text();
        let order: Vec<&str> =
            league.lines().skip(2).take(3).filter_map(|line| line.split_whitespace().nth(1)).collect();
        assert_eq!(order, ["nio", "spring", "go"], "{league}");
        assert!(league.contains("1,583.0"), "{league}");
        let pages = ["all-frameworks", "go", "nio", "spring"];
        let expected: Vec<String> = pages
            .iter()
            .flat_map(|page| ["pdf", "svg"].map(|ending| format!("{page}_2048.{ending}")))
            .collect();
        assert_eq!(names(&folder), expected);
        let texts = check_pages(&folder);
        assert!(texts.contains("nio 2048") && texts.contains("spring 2048"), "{texts}");
        let pages: Vec<Vec<u8>> =
            names(&folder).iter().map(|name| std::fs::read(folder.join(name)).unwrap()).collect();
        both.push((league, pages));
    }
    assert!(both.iter().all(|one| *one == both[0]), "the stores give different pages");
}

#[test]
fn league_comes_in_every_format() {
    let store = Store::embedded();
    ingest_three(&store);
    let league = |format: &str| report_into(&store, "charts", &["--table", format]).0.text();
    let csv = league("csv");
    assert_eq!(
        header(&csv),
        "rank_low,rank_high,framework,repeats,throughput,throughput_min,throughput_max,p50,p95,p99,\
         failures_percent,cpu_mean,cpu_coverage,requests_per_cpu_second,load_max,partial"
    );
    let rows = rows(&csv);
    assert_eq!((rows.len(), rows[0]["framework"].as_str()), (3, "nio"));
    let text = league("json");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let json = &document["rows"];
    assert_eq!(json[0]["framework"], "nio");
    assert!(text.contains(&format!("\"throughput\":{},", rows[0]["throughput"])), "{text}");
    assert_eq!((json[0]["rank_high"].as_i64(), &json[1]["rank_low"]), (Some(1), &serde_json::Value::Null));
    let md = league("md");
    assert!(md.starts_with("| rank | framework | throughput"), "{md}");
    // What is told of runs for programs' sake is not shown to people, and what they should know is told beneath.
    assert!(!md.contains("repeats") && !md.contains("partial"), "{md}");
    assert!(md.contains("\nNot ranked, with \\> 1 % failures: spring, go.\n"), "{md}");
    assert!(md.trim_end().lines().last().is_some_and(|line| line.contains("--cpu-scale")), "{md}");
}

/// A minute whose load climbs for 36 s and is held for 24 s, at a rate of requests in either part.
fn climbing(ramp: u64, hold: u64) -> String {
    let mut log = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
    for second in 0..60u64 {
        let (rate, threads) = if second < 36 { (ramp, 1 + second / 2) } else { (hold, 36) };
        for at in 0..rate {
            let time = 1_700_000_000_000 + second * 1000 + at * 1000 / rate;
            log.push_str(&format!("{time},7,Get,200,true,{threads}\n"));
        }
    }
    log
}

#[test]
fn league_names_the_ranks_of_the_holds_where_they_are_others() {
    let store = Store::embedded();
    for (framework, ramp, hold) in [("early", 50, 50), ("late", 30, 62)] {
        for repeat in 0..3 {
            let path = store.file("log.csv", climbing(ramp + repeat, hold + repeat));
            let key = ["--framework", framework, "--test", "2048", "--append-repeat", "--quiet"];
            store.run(&[&["ingest", &path], &key[..]].concat()).said();
        }
    }
    let league = |flags: &[&str]| report_into(&store, "charts", flags).0.text();
    let first = |text: &str| rows(text)[0]["framework"].clone();
    let note =
        "The holds alone rank otherwise: late 1 (63.0/s), early 2 (51.0/s). Rank by them with --phase hold.";
    let whole = league(&[]);
    assert!(whole.lines().any(|line| line == note), "{whole}");
    assert_eq!(first(&league(&["--table", "csv"])), "early");
    // Who follows it gets these ranks, and no further note.
    let held = league(&["--phase", "hold"]);
    assert!(!held.contains("holds alone") && held.contains("   1  late "), "{held}");
    assert_eq!(first(&league(&["--phase", "hold", "--table", "csv"])), "late");
    // Of a part of the runs, nothing is said of the whole.
    assert!(!league(&["--from", "10"]).contains("holds alone"));
    assert!(league(&["--format", "html"]).contains(note));
    let page = std::fs::read_to_string(store.folder.path().join("charts/report_2048.html")).unwrap();
    assert!(page.contains("\"The holds alone rank otherwise: late 1 (63.0/s), early 2 (51.0/s).\""));
}

#[test]
fn frameworks_formats_and_paper_are_chosen() {
    let store = Store::embedded();
    ingest_three(&store);
    let chosen = ["--framework", "nio", "--framework", "go", "--format", "svg", "--table", "csv"];
    let (done, folder) = report_into(&store, "some", &chosen);
    assert_eq!(rows(&done.text()).len(), 2);
    assert_eq!(names(&folder), ["all-frameworks_2048+only-go+only-nio.svg", "go_2048.svg", "nio_2048.svg"]);
    let size = |folder: &Path| {
        let svg = std::fs::read_to_string(folder.join("nio_2048.svg")).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        document.root_element().attribute("width").unwrap().to_owned()
    };
    let (done, letter) = report_into(&store, "letter", &["--paper", "letter"]);
    done.text();
    assert_ne!(size(&folder), size(&letter));
}

#[test]
fn pages_in_one_file_have_bookmarks_and_come_after_the_league_and_the_overview() {
    let store = Store::embedded();
    ingest_three(&store);
    let flags = ["--format", "svg,pdf", "--one-file", "--chart", "time,sweep"];
    let (done, folder) = report_into(&store, "book", &flags);
    done.text();
    let pdfs: Vec<String> =
        names(&folder).into_iter().filter(|name| Path::new(name).extension().unwrap() == "pdf").collect();
    assert_eq!(pdfs, ["report_2048+time-sweep.pdf"]);
    assert_eq!(names(&folder).len(), 8, "the other formats have a file a page");
    let bytes = std::fs::read(folder.join(&pdfs[0])).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    // The document begins with the league and a list of its pages, and has the date of the earliest test.
    assert!(text.contains("/Count 8") && text.contains("/CreationDate(D:20261118"), "{text:.200}");
    assert!(text.contains("/Title(Report: 2048)"), "{text:.200}");
    let title: String = "3 frameworks – 2048".encode_utf16().map(|unit| format!("{unit:04X}")).collect();
    assert!(text.contains(&format!("/Title<FEFF{title}>")), "{title}");
    for bookmark in ["go 2048", "nio 2048", "spring 2048", "go 2048 by load", "Requests per second"] {
        assert!(text.contains(&format!("/Title({bookmark})")), "{bookmark}");
    }
    let (done, alone) =
        report_into(&store, "alone", &["--framework", "nio", "--format", "pdf", "--one-file"]);
    done.text();
    assert_eq!(names(&alone), ["report_2048+only-nio.pdf"]);
}

#[test]
fn same_runs_give_the_same_bytes() {
    let store = Store::embedded();
    ingest_three(&store);
    let pages = |folder: &str| -> Vec<Vec<u8>> {
        let (done, folder) = report_into(&store, folder, &[]);
        done.text();
        names(&folder).iter().map(|name| std::fs::read(folder.join(name)).unwrap()).collect()
    };
    assert!(pages("one") == pages("two"));
}

#[test]
fn unknown_tests_and_frameworks_list_the_known_ones() {
    for store in Store::each() {
        let (done, _) = report_into(&store, "charts", &[]);
        assert!(done.complaint(1).contains("perfpipe ingest"));
        ingest_three(&store);
        let complaint = store.run(&["report", "--test", "4096"]).complaint(1);
        assert!(complaint.contains("4096") && complaint.contains("2048"), "{complaint}");
        let (done, _) = report_into(&store, "charts", &["--framework", "rails"]);
        let complaint = done.complaint(1);
        for part in ["rails", "go, nio, spring"] {
            assert!(complaint.contains(part), "{complaint}");
        }
    }
}

#[test]
fn ingest_draws_its_page_in_the_same_breath() {
    for store in Store::each() {
        let fixture = Fixture::named("Results-2048-9000.csv");
        let files = fixture.files(&fixture.logs()[0]);
        let folder = store.folder.path().join("deep/charts");
        let report = ["--out", folder.to_str().unwrap()];
        let said = store.run(&["ingest", &files[0], &files[1], report[0], report[1]]).said();
        let page = folder.join("127.0.0.1-9000_2048");
        assert_told(&said, &[&format!("wrote {}.{{svg,pdf}}\n", page.display())]);
        assert_eq!(names(&folder), ["127.0.0.1-9000_2048.pdf", "127.0.0.1-9000_2048.svg"]);
        let alone = check_pages(&folder);
        assert!(alone.contains("127.0.0.1:9000 2048"), "{alone}");
        // The page is the one that `report` draws later.
        let (done, later) = report_into(&store, "later", &[]);
        done.text();
        for name in names(&folder) {
            let page = |folder: &Path| std::fs::read(folder.join(&name)).unwrap();
            assert!(page(&folder) == page(&later), "{name}");
        }
    }
}

#[test]
fn every_fixture_can_be_drawn() {
    for fixture in Fixture::all() {
        let store = Store::embedded();
        let key = fixture.ingest_into(&store);
        for color in ["load", "cpu", "throughput"] {
            let folder = store.folder.path().join(color);
            let out = ["report", "--test", &key.test, "--out", folder.to_str().unwrap(), "--color-by", color];
            store.run(&out).text();
            check_pages(&folder);
        }
    }
}

#[test]
fn notes_beneath_a_league_are_escaped_as_its_cells_are() {
    let store = Store::embedded();
    let log =
        store.file("log.csv", "timeStamp,elapsed,success\n1795203738615,12,true\n1795203738700,9,false\n");
    for framework in ["<script>", "a|b`c`", "\u{1b}[31mred"] {
        store.run(&["ingest", &log, "--framework", framework, "--test", "2048"]).said();
    }
    let league =
        |format: &str| report_into(&store, "charts", &["--format", "svg", "--table", format]).0.text();
    let beneath =
        |league: String| league.lines().find(|line| line.starts_with("Not ranked")).unwrap().to_owned();
    let md = beneath(league("md"));
    for part in [r"\<script\>", r"a\|b\`c\`", r"\\u{1b}\[31mred"] {
        assert!(md.contains(part), "{part} is not in: {md}");
    }
    let text = beneath(league("text"));
    assert!(text.contains("<script>") && text.contains(r"\u{1b}[31mred"), "{text}");
}

#[test]
fn report_without_a_test_draws_all_and_prints_each_league() {
    let store = Store::embedded();
    for (test, log) in [("a", "crlf.csv"), ("b", "distributed.csv")] {
        let log = fixture(log);
        store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", test]).said();
    }
    let done = store.run(&["report", "--format", "svg", "--out", "all"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let printed = String::from_utf8(done.out).unwrap();
    assert!(printed.starts_with("a\n\nrank") && printed.contains("\n\nb\n\nrank"), "{printed}");
    let folder = store.folder.path().join("all");
    for page in ["go_a.svg", "go_b.svg"] {
        assert!(folder.join(page).is_file(), "{page}");
    }
    let refused = |arguments: &[&str]| store.run(&[&["report"], arguments].concat()).complaint(2);
    assert_told(&refused(&["--format", "html", "-o", "x.html"]), &["2 tests: a, b", "--test"]);
    assert_told(&refused(&["--table", "csv", "--format", "svg"]), &["2 tests: a, b", "--test"]);
}

/// The size of the only page of a PDF, in points.
fn page_size(pdf: &[u8]) -> (f64, f64) {
    let text = String::from_utf8_lossy(pdf);
    let (_, after) = text.split_once("/MediaBox[").unwrap();
    let (numbers, _) = after.split_once(']').unwrap();
    let numbers: Vec<f64> = numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert_eq!((numbers[..2].to_vec(), text.matches("/MediaBox[").count()), (vec![0.0, 0.0], 1));
    (numbers[2], numbers[3])
}

#[test]
fn single_figures_have_the_size_that_is_printed() {
    let store = Store::embedded();
    ingest_three(&store);
    let (figures, formats) = ("response,overview,failures,cpu", "svg,pdf,png");
    let (done, folder) =
        report_into(&store, "figures", &["--figure", figures, "--size", "84x60mm", "--format", formats]);
    let err = done.err.clone();
    assert!(done.text().contains("1,583.0"), "the league is printed too");
    // One run has no failures, and one no CPU.
    assert!(err.contains("no figure failures: nio 2048: No failures\n"), "{}", err);
    let lacking = err.lines().filter(|line| line.starts_with("no figure ")).count();
    let written = names(&folder);
    assert_eq!(written.len(), 3 * (10 - lacking), "{written:?} {err}");
    for name in ["2048_overview", "go_2048_response", "nio_2048_response", "spring_2048_failures"] {
        let read = |ending: &str| std::fs::read(folder.join(format!("{name}.{ending}"))).unwrap();
        let (width, height) = page_size(&read("pdf"));
        assert!(
            (width - 84.0 * 72.0 / 25.4).abs() < 0.01 && (height - 60.0 * 72.0 / 25.4).abs() < 0.01,
            "{name}"
        );
        let svg = String::from_utf8(read("svg")).unwrap();
        assert!(svg.contains("width=\"238.11pt\" height=\"170.08pt\""), "{name}: {}", &svg[..300]);
        // 300 dots per inch.
        let png = read("png");
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!(
            (number(16), number(20), &png[37..41], number(41)),
            (992, 709, b"pHYs".as_slice(), 11_811)
        );
    }
    let file = folder.join("fig.pdf");
    let one = ["report", "go_2048", "--figure", "response", "--size", "3.5in", "-o", file.to_str().unwrap()];
    store.run(&one).text();
    assert_eq!(page_size(&std::fs::read(&file).unwrap()).0, 252.0);
    store.run(&one).text();
}

#[test]
fn figures_that_can_not_be_drawn_are_refused_with_a_remedy() {
    let store = Store::embedded();
    ingest_three(&store);
    let report = |flags: &[&str]| store.run(&[&["report", "--test", "2048"], flags].concat());
    let large = report(&["--figure", "overview", "--size", "600x600mm", "--format", "png"]);
    assert_ne!(large.code, Some(0));
    assert_told(&large.err, &["a picture of 7087 by 7087 pixels is too large", "SVG or PDF"]);
    for (flags, words) in [
        (&["--figure", "throughput"][..], "requests, response, cpu, load, failures, throughput-by-load"),
        (&["--figure", "cpu", "--size", "5mm"], "Widths are from 50 to 600 mm"),
        (&["--figure", "cpu", "--size", "84"], "Write it as 84mm"),
        (&["--figure", "requests", "--size", "84x36mm"], "Give at least "),
        (&["--figure", "cpu", "--format", "html"], "--format svg, pdf or png"),
        (&["--figure", "cpu", "--chart", "sweep"], "--chart has no effect"),
        (&["--figure", "cpu", "--paper", "a4"], "--paper has no effect"),
        (&["--figure", "cpu", "--format", "pdf", "--one-file"], "--one-file has no effect"),
        (&["--figure", "overview", "--axis", "clock"], "--axis has no effect"),
        (&["--size", "84mm"], "--size has no effect"),
        (&["--figure", "cpu", "-o", "a.pdf"], "3 figures would be written"),
        (&["--figure", "overview", "-o", "a.gif"], "End it in .svg, .pdf or .png"),
        (&["--figure", "overview", "-o", "a.pdf", "--format", "svg"], "End it in .svg, .pdf or .png"),
    ] {
        let done = report(flags);
        assert_eq!(done.code, Some(2), "{flags:?}: {}", done.err);
        assert!(done.err.contains(words), "{flags:?}: {}", done.err);
    }
}
