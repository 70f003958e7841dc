//! Names, labels and messages made to do harm: stored as they are, and shown so that they do none.

use std::collections::BTreeSet;

use crate::outcome::check_safe;
use crate::support::*;

/// Texts made to be taken for something else than text.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        r#"a'b"c`d;e,f|g\h"#,
        "'; drop schema perfpipe cascade; --",
        "\"; drop table perfpipe.runs; --",
        "$$; select pg_sleep(9); $$",
        "\\.",
        "\\N",
        "{a,b,\"c\"}",
        "<script>alert(1)</script>",
        "</text></svg><svg onload=\"alert(1)\">",
        "]]><!-- &amp; &#0; &lt; %s %n {} {0}",
        "<!ENTITY x SYSTEM \"file:///etc/passwd\">&x;",
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-1-1",
        "@SUM(A1)",
        "\t=1+1",
        "../../../../etc/passwd",
        "..",
        "/",
        "con",
        "\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}2J",
        "bell \u{7} back \u{8}\u{8} line\r\nperfpipe: all is well\n\u{85}\u{2028}end",
        "left \u{202e}thgir\u{2066} \u{200f}",
        "🚀👩‍👩‍👧‍👦 Größe 配额 e\u{301}",
        "| a | b |\n|---|---|\n**bold** [x](javascript:alert(1)) <b>",
        " leading and trailing ",
        "\u{feff}mark",
    ]
    .map(str::to_owned)
    .into();
    texts.push("long ".repeat(2_000));
    texts.push("配".repeat(10_000));
    texts
}

/// A field as CSV has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A log of one success and one failure for each text, which is its label, code, message and thread.
fn log(texts: &[String]) -> String {
    let mut log = "timeStamp,elapsed,label,responseCode,success,failureMessage,threadName\n".to_owned();
    for (at, text) in texts.iter().enumerate() {
        let (t, text) = (1_795_203_738_000 + 100 * at, quoted(text));
        log.push_str(&format!(
            "{t},{at},{text},{text},true,,{text}\n{t},{at},{text},{text},false,{text},{text}\n"
        ));
    }
    log
}

/// The different texts of a column.
fn column(csv: &str, name: &str) -> BTreeSet<String> {
    rows(csv).into_iter().map(|mut row| row.remove(name).unwrap()).collect()
}

/// The text of which a label is all that is kept: one of more than 4 KiB ends in `…` and a hash of the whole.
fn whole(label: &str, texts: &[String]) -> String {
    let begin = match label.rsplit_once('…') {
        Some((begin, hash)) if hash.len() == 32 && label.len() <= 4096 => begin,
        _ => return label.to_owned(),
    };
    let mut cut = texts.iter().filter(|text| text.len() > 4096 && text.starts_with(begin));
    cut.next().filter(|_| cut.next().is_none()).map_or_else(|| label.to_owned(), String::clone)
}

/// That a table of text or Markdown has a line for each row, and no way out of its cells; and that each note beneath it is one
/// line.
fn check_table(table: &str, rows: usize, markdown: bool) {
    let lines: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), rows + 2, "{table:.2000}");
    let beneath: Vec<&str> = table.lines().skip(lines.len()).collect();
    assert!(beneath.chunks(2).all(|note| matches!(note, ["", text] if !text.is_empty())), "{table:.2000}");
    let harmful = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{2028}\u{200f}".contains(c));
    assert!(!table.contains(harmful), "{table:.2000}");
    if markdown {
        let bars = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
        assert!(lines.iter().all(|line| bars(line) == bars(lines[0])), "{table:.2000}");
        assert!(!table.replace("\\<", "").contains('<'));
    }
}

#[test]
fn refused_command_lines_are_printed_safely() {
    let store = Store::embedded();
    for arguments in [
        &["ingest", "x.csv", "--tag", "k=v\u{202e}"][..],
        &["export", "x", "--what", "b\u{202e}"],
        &["b\u{202e}\u{1b}[31m"],
        &["list", "--b\u{2066}"],
    ] {
        let done = store.run(arguments);
        assert_eq!(done.code, Some(2), "{}", done.err);
        assert!(done.err.contains("\\u{"), "{}", done.err);
        check_safe(&done.err);
    }
}

#[test]
fn labels_made_to_do_harm_are_data() {
    let texts = texts();
    let all: BTreeSet<String> = texts.iter().cloned().collect();
    for store in Store::each() {
        let path = store.file("nio_2048.csv", log(&texts));
        check_safe(&store.run(&["ingest", &path, "--framework", "nio", "--test", "2048"]).said());
        let key = store.only_key();
        for (what, name) in
            [("labels", "label"), ("samples", "label"), ("samples", "response_code"), ("errors", "label")]
        {
            let column = column(&store.export(&key, what, "csv", &[]), name);
            let found: BTreeSet<String> = column.iter().map(|text| whole(text, &texts)).collect();
            assert_eq!(found, all, "{what} {name}");
        }
        // A message keeps its first 500 characters.
        let messages: BTreeSet<String> = all.iter().map(|text| text.chars().take(500).collect()).collect();
        assert_eq!(column(&store.export(&key, "errors", "csv", &[]), "message"), messages);
        let json = store.export(&key, "labels", "json", &[]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let labels = json.as_array().unwrap().iter().map(|row| whole(text(row, "label"), &texts));
        assert_eq!(labels.collect::<BTreeSet<_>>(), all);
        for what in ["labels", "errors", "samples"] {
            let rows = rows(&store.export(&key, what, "csv", &[])).len();
            check_table(&store.export(&key, what, "text", &[]), rows, false);
            check_table(&store.export(&key, what, "md", &[]), rows, true);
        }
    }
}

#[test]
fn label_made_to_do_harm_can_be_looked_at_and_drawn() {
    let texts = texts();
    for store in Store::each() {
        let path = store.file("nio_2048.csv", log(&texts));
        store.run(&["ingest", &path, "--framework", "nio", "--test", "2048"]).said();
        let mut pages = BTreeSet::new();
        for label in texts.iter().filter(|label| label.len() < 5_000) {
            let rows =
                rows(&store.export(&store.only_key(), "labels", "csv", &[&format!("--label={label}")]));
            assert_eq!(rows[0]["successes"], "1", "{label:?}");
            if is_drawn(&store, label) {
                pages.extend(draw(&store, &["--test", "2048", &format!("--label={label}")], label));
            }
        }
        let drawn = texts.iter().filter(|label| is_drawn(&store, label)).count();
        assert!(pages.len() > drawn, "{pages:?}");
        assert!(!store.folder.path().join("etc").exists());
        let complaint = store.run(&["report", "--test", "2048", "--label", "\u{1b}[31m"]).complaint(2);
        check_safe(&complaint);
    }
}

/// Whether a text is drawn from this store. What is drawn does not depend on the store, which gives the same text.
fn is_drawn(store: &Store, text: &str) -> bool {
    !store.is_database() || text.starts_with("</text>")
}

/// Draws pages, which must be XML that shows the text, and nothing else than what other pages have in them. Returns the
/// names of their files.
fn draw(store: &Store, flags: &[&str], shown: &str) -> Vec<std::ffi::OsString> {
    let charts = tempfile::tempdir().unwrap();
    let out = ["report", "--out", charts.path().to_str().unwrap(), "--format", "svg,pdf"];
    let done = store.run(&[&out[..], flags].concat());
    check_safe(&done.err);
    assert_told(&done.err, &["wrote ", ".{svg,pdf}"]);
    check_table(&done.text(), 1, false);
    let entries = std::fs::read_dir(charts.path()).unwrap().map(|entry| entry.unwrap().path());
    let written: Vec<String> = entries.map(|path| path.to_str().unwrap().to_owned()).collect();
    // A test of one framework has no page of all frameworks.
    assert_eq!(written.len(), 2, "{shown:?}: {written:?}");
    for path in written.iter().filter(|path| path.ends_with(".svg")) {
        let svg = std::fs::read_to_string(path).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            let name = node.tag_name().name();
            assert!(
                !["script", "b", "a", "image", "foreignObject", "use"].contains(&name),
                "{name} in {path}"
            );
            assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{path}");
        }
        let drawn: String =
            document.descendants().filter(|node| node.is_text()).map(|node| node.text().unwrap()).collect();
        // Lines of a page are short, so only the beginning of a text need be there.
        // A byte order mark is drawn as a blank: a PDF must not contain it.
        let begin: String = shown.chars().take_while(|c| !c.is_control()).take(8).collect();
        let begin = begin.replace('\u{feff}', " ");
        assert!(drawn.contains(begin.trim()), "{shown:?} is not in {path}");
    }
    written.iter().map(|path| std::path::Path::new(path).file_name().unwrap().to_owned()).collect()
}

#[test]
fn framework_or_test_made_to_do_harm_is_a_name_like_others() {
    let log = "timeStamp,elapsed,label,success\n1795203738615,12,Get,true\n1795203739615,13,Get,false\n";
    for store in Store::each() {
        let path = store.file("log.csv", log);
        let before = outside(&store);
        for name in texts() {
            let key = [format!("--framework={name}"), format!("--test={name}")];
            let key = [key[0].as_str(), &key[1]];
            check_safe(&store.run(&[&["ingest", &path], &key[..]].concat()).said());
            assert_eq!(text(&store.list()[0], "framework"), name);
            check_table(&store.run(&["list"]).text(), 1, false);
            check_table(&store.run(&["list", "--format", "md"]).text(), 1, true);
            let samples = store.run(&[&["export", "--what", "samples"], &key[..]].concat()).text();
            assert_eq!(rows(&samples).len(), 2);
            if is_drawn(&store, &name) {
                draw(&store, &[key[1]], &name);
            }
            check_safe(&store.run(&[&["ingest", "nowhere.csv"], &key[..]].concat()).complaint(1));
            check_safe(&store.run(&["report", "--test", "none"]).complaint(1));
            let drop = store.run(&[&["drop"], &key[..]].concat());
            check_safe(&drop.said());
            check_safe(&store.run(&[&["drop"], &key[..]].concat()).complaint(1));
        }
        assert_eq!(store.keys(), Vec::<String>::new());
        assert_eq!(store.leftovers(), Vec::<String>::new());
        assert_eq!(outside(&store), before);
    }
}

/// What stands beside the test's folder and the store, by name.
fn outside(store: &Store) -> Vec<String> {
    let entries = std::fs::read_dir(store.folder.path()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !["charts", "perfpipe-report", "store"].contains(&name.as_str()));
    names.sort_unstable();
    names
}
