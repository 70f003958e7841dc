//! Characters that the shipped font lacks: the fonts that are given for them, and what is drawn without.

use std::path::Path;

use crate::support::*;

#[path = "../../../../plot/tests/support/font.rs"]
mod font;

/// A run whose label has two characters that the shipped font lacks.
fn store_with_run() -> Store {
    let store = Store::embedded();
    let log = fixture("Results-flaky-8181.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", "go", "--test", "t"]).said();
    store
}

/// The report on that label.
fn report(store: &Store, flags: &[&str], fonts: Option<&str>) -> Done {
    let flags = [&["report", "--test", "t", "--label", "Größe/配额 plain"][..], flags].concat();
    let mut command = store.command(&flags);
    match fonts {
        Some(fonts) => command.env("PERFPIPE_FONTS", fonts),
        None => command.env_remove("PERFPIPE_FONTS"),
    };
    done(&mut command)
}

/// The bytes of the only page in a folder.
fn only_page(folder: &Path) -> Vec<u8> {
    let pages: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(pages.len(), 1, "{pages:?}");
    std::fs::read(&pages[0]).unwrap()
}

#[test]
fn fonts_that_are_given_draw_what_the_shipped_one_lacks() {
    let store = store_with_run();
    let folder = store.folder.path().join("fonts/deep");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("two.ttf");
    std::fs::write(&file, font::with_two_more()).unwrap();
    let (file, folder) = (file.to_str().unwrap(), folder.parent().unwrap().to_str().unwrap());
    for format in ["pdf", "png"] {
        let page = |name: &str, flags: &[&str], variable: Option<&str>| {
            let out = store.folder.path().join(format).join(name);
            let flags = [&["--format", format, "--out", out.to_str().unwrap()], flags].concat();
            let done = report(&store, &flags, variable);
            assert!(!done.err.contains("code points"), "{}", done.err);
            done.text();
            only_page(&out)
        };
        let without = page("none", &["--fonts", "none"], None);
        assert!(page("variable", &[], Some("none")) == without);
        let with = page("file", &["--fonts", file], None);
        assert!(with != without, "{format}");
        assert!(page("folder", &["--fonts", folder], None) == with);
        assert!(page("given", &["--fonts", file], Some("none")) == with, "the flag comes first");
        assert!(page("set", &[], Some(file)) == with);
    }
}

#[test]
fn characters_that_no_given_font_has_are_named() {
    let store = store_with_run();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plot/font/DejaVuSans.ttf");
    let done = report(&store, &["--format", "png", "--fonts", shipped.to_str().unwrap()], None);
    assert_told(&done.err, &["配额", "<U+914D>", "--fonts FILE"]);
    // An SVG leaves the fonts to its viewer.
    let done = report(&store, &["--format", "svg"], None);
    assert!(!done.err.contains("code points"), "{}", done.err);
    assert!(String::from_utf8_lossy(&only_svg(&store)).contains("label Größe/配额 plain"));
}

fn only_svg(store: &Store) -> Vec<u8> {
    let folder = std::fs::read_dir(store.folder.path().join("perfpipe-report")).unwrap();
    let mut svgs =
        folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().unwrap() == "svg");
    std::fs::read(svgs.next().unwrap()).unwrap()
}

#[test]
fn fonts_that_are_none_are_refused_before_any_work() {
    let store = store_with_run();
    let told = report(&store, &["--fonts", "no/such.ttf"], None).complaint(2);
    assert_told(&told, &["no/such.ttf", "no such file or folder", "--fonts"]);
    let log = fixture("Results-flaky-8181.csv");
    let told = report(&store, &["--fonts", log.to_str().unwrap()], None).complaint(2);
    assert_told(&told, &["Results-flaky-8181.csv", "TrueType or OpenType"]);
    let told = report(&store, &["--fonts", "none", "--format", "svg"], None).complaint(2);
    assert_told(&told, &["--fonts has no effect", "--format pdf"]);
    let ingest = ["ingest", log.to_str().unwrap(), "--framework", "new", "--test", "t", "--out", "charts"];
    store.run(&[&ingest[..], &["--fonts", "no/such.ttf"]].concat()).complaint(2);
    assert_eq!(store.list().len(), 1, "nothing was stored");
}
