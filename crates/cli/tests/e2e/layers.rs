//! How the source is laid out: in each crate imports go one way, folders are small, and each has its place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folders of a crate's `src`, and the files beside them that others import, from the bottom to the top: each may
/// import those before it.
const LAYERS: [(&str, &[&str]); 4] = [
    (
        "ingest",
        &[
            "sample",
            "run",
            "error",
            "series",
            "formats",
            "source",
            "counts",
            "pipeline",
            "store",
            "operations",
            "inspect",
            "campaign",
            "fuzz",
        ],
    ),
    (
        "analyze",
        &[
            "table",
            "view",
            "error",
            "stats",
            "timeline",
            "sweep",
            "breakdown",
            "league",
            "check",
            "compare",
            "diagnose",
            "interchange",
        ],
    ),
    (
        "plot",
        &[
            "style", "error", "palette", "columns", "text", "output", "layout", "marks", "charts", "pages",
            "html", "checks",
        ],
    ),
    ("cli", &["args", "output", "signals", "error", "input", "commands", "allocator", "work"]),
];

/// Files beside the folders that any of the crate may import, and that import little themselves.
const ANYWHERE: [&str; 1] = ["error"];

/// Entries of a crate's `src`, and files of any folder, at most.
const ENTRIES: usize = 14;
const FILES: usize = 12;

/// Names that say nothing of what is inside.
const EMPTY_NAMES: [&str; 5] = ["misc", "util", "utils", "common", "helpers"];

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src")
}

/// Where the pictures of the layers stand.
fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/architecture.md")
}

/// The files below a folder, by the folder that each is in.
fn files(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<PathBuf>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found)
        } else {
            found.entry(folder.to_owned()).or_default().push(path)
        }
    }
}

/// The parts of a crate that a file imports: what stands behind `crate::`, tests left out.
fn imports(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let behind = |line: &str| -> Vec<String> {
        let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        line.split("crate::").skip(1).map(name).filter(|name: &String| !name.is_empty()).collect()
    };
    lines.flat_map(behind).collect()
}

#[test]
fn imports_go_one_way() {
    for (name, layers) in LAYERS {
        let source = source(name);
        let place = |part: &str| layers.iter().position(|layer| *layer == part);
        let mut found = BTreeMap::new();
        files(&source, &mut found);
        for path in found.values().flatten().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
            let relative = path.strip_prefix(&source).unwrap();
            let own = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
            if ["lib", "main"].contains(&own) {
                continue;
            }
            let at = place(own).unwrap_or_else(|| panic!("{name}: give {own} a place among the layers"));
            // Properties that are fuzzed stand beside what they are about, and draw their values by the same means.
            let is_fuzzed = relative.ends_with("fuzz.rs");
            for import in imports(path) {
                let Some(of) = place(&import).filter(|_| !ANYWHERE.contains(&import.as_str())) else {
                    continue;
                };
                assert!(
                    of <= at || (is_fuzzed && import == "fuzz"),
                    "{name}: {} imports crate::{import}, which stands above {own}",
                    relative.display()
                );
            }
        }
    }
}

#[test]
fn folders_are_small_and_named_for_what_is_inside() {
    for (name, _) in LAYERS {
        let source = source(name);
        let entries = std::fs::read_dir(&source).unwrap().count();
        assert!(entries <= ENTRIES, "{name}: src has {entries} entries");
        let mut found = BTreeMap::new();
        files(&source, &mut found);
        for (folder, files) in &found {
            assert!(files.len() <= FILES, "{} has {} files", folder.display(), files.len());
            for path in files.iter().chain([folder]) {
                let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                assert!(!EMPTY_NAMES.contains(&stem), "{}: the name says nothing", path.display());
            }
        }
    }
}

/// Which layer of a crate imports which, as a Mermaid graph.
fn picture(name: &str, layers: &[&str]) -> String {
    let source = source(name);
    let mut found = BTreeMap::new();
    files(&source, &mut found);
    let mut edges = BTreeSet::new();
    for path in found.values().flatten().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let relative = path.strip_prefix(&source).unwrap();
        let own = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let others = imports(path).into_iter().filter(|import| *import != own);
        edges.extend(others.map(|import| (own.clone(), import)));
    }
    let is_shown = |part: &String| {
        layers.contains(&part.as_str()) && !["error", "fuzz", "checks"].contains(&part.as_str())
    };
    let lines: String = edges
        .iter()
        .filter(|(own, import)| is_shown(own) && is_shown(import))
        .map(|(own, import)| format!("  {own} --> {import}\n"))
        .collect();
    format!("```mermaid\ngraph TD\n{lines}```\n")
}

#[test]
fn the_pictures_in_the_docs_are_of_this_source() {
    let mut text = std::fs::read_to_string(page()).unwrap();
    for (name, layers) in LAYERS {
        let heading = format!("### perfpipe-{name}\n");
        let heading = if name == "cli" { "### perfpipe\n".to_owned() } else { heading };
        let (before, behind) =
            text.split_once(&heading).unwrap_or_else(|| panic!("{heading} is not in the page"));
        let (between, rest) = behind.split_once("```mermaid\n").unwrap();
        let (_, rest) = rest.split_once("```\n").unwrap();
        text = format!("{before}{heading}{between}{}{rest}", picture(name, layers));
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(page(), &text).unwrap();
    }
    let stands = std::fs::read_to_string(page()).unwrap();
    assert!(stands == text, "docs/architecture.md shows other imports: UPDATE_GOLDEN=1 draws it anew");
}
