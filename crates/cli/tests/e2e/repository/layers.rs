//! How the source is laid out: in each crate imports go one way, and names say what is inside.

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
            "connection",
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
            "format",
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
            "text", "style", "error", "palette", "columns", "output", "layout", "marks", "charts", "pages",
            "html", "checks",
        ],
    ),
    ("cli", &["allocator", "args", "output", "signals", "error", "input", "commands", "work"]),
];

/// Files beside the folders that any of the crate may import, and that import little themselves.
const ANYWHERE: [&str; 1] = ["error"];

/// Names that say nothing of what is inside.
const EMPTY_NAMES: [&str; 5] = ["misc", "util", "utils", "common", "helpers"];

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src")
}

/// Where the pictures of the layers stand.
fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/architecture.md")
}

/// The folder into which npm installs what the checks of scripts need.
const INSTALLED: &str = "node_modules";

/// The files below a folder, by the folder that each is in; without those that are installed.
fn files(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<PathBuf>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.ends_with(INSTALLED) {
            continue;
        }
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
fn folders_and_files_are_named_for_what_is_inside() {
    for (name, _) in LAYERS {
        let mut found = BTreeMap::new();
        files(&source(name), &mut found);
        for path in found.iter().flat_map(|(folder, files)| files.iter().chain([folder])) {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            assert!(!EMPTY_NAMES.contains(&stem), "{}: the name says nothing", path.display());
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
fn pictures_in_the_docs_are_of_this_source() {
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

/// The modules of a crate: each by its path in the crate, with the text of its file.
type Modules = BTreeMap<Vec<String>, String>;

fn words(path: &str) -> Vec<String> {
    path.split("::").map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// The code of a file, without its tests, comments, and the paths of `pub(in …)`, which import nothing.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.collect::<Vec<_>>().join("\n").replace("pub(in crate::", "pub(")
}

/// The modules of a crate, by their files.
fn modules(name: &str) -> Modules {
    let source = source(name);
    let mut found = BTreeMap::new();
    files(&source, &mut found);
    let rust = found.values().flatten().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let module = |path: &PathBuf| {
        let relative = path.strip_prefix(&source).unwrap().with_extension("");
        let mut module: Vec<String> = relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
        let text = std::fs::read_to_string(path).unwrap();
        (module, code(&text))
    };
    rust.map(module).collect()
}

/// The paths of a `use`: `a::{b, c::{d, e}}` has three. What a name is called `as` is left out.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let Some((before, list)) = tree.split_once('{') else {
        return vec![words(tree.split(" as ").next().unwrap_or_default())];
    };
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for character in list.chars() {
        match character {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(character),
        }
        depth += i32::from(character == '{') - i32::from(character == '}');
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| paths(&format!("{before}{}", part.trim()))).collect()
}

/// What a module imports by `use`, what it exports again by `pub use`, and the paths that its code names.
fn named(text: &str) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let (mut imported, mut exported, mut rest) = (Vec::new(), Vec::new(), String::new());
    for statement in text.split_inclusive(';') {
        let line = statement.rfind("use ").filter(|at| {
            let before = statement[..*at].rsplit('\n').next().unwrap_or_default().trim();
            before.is_empty() || before.starts_with("pub")
        });
        let Some(at) = line else {
            rest.push_str(statement);
            continue;
        };
        let is_public = statement[..at].rsplit('\n').next().is_some_and(|before| before.contains("pub"));
        rest.push_str(&statement[..at]);
        let all = paths(statement[at + 4..].trim_end_matches(';'));
        if is_public { exported.extend(all) } else { imported.extend(all) }
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let spelled = rest.split(|c| !is_path(c)).filter(|path| path.contains("::"));
    imported.extend(spelled.map(words));
    (imported, exported)
}

/// The module that a path leads to from a module: through what is exported again, to the file that has the name.
fn led_to(modules: &Modules, from: &[String], path: &[String], steps: usize) -> Option<Vec<String>> {
    let (first, mut rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Vec::new(),
        "self" => from.to_vec(),
        "super" => from.split_last()?.1.to_vec(),
        name if modules.contains_key(&[from, &[name.to_owned()]].concat()) => {
            [from, &[name.to_owned()]].concat()
        }
        _ => return None,
    };
    while let Some((name, behind)) = rest.split_first() {
        let child = [at.as_slice(), std::slice::from_ref(name)].concat();
        if name == "super" {
            at.pop();
        } else if modules.contains_key(&child) {
            at = child;
        } else {
            let (_, exported) = named(&modules[&at]);
            let again = exported.iter().find(|path| path.last() == Some(name)).filter(|_| steps > 0);
            return match again {
                Some(again) => led_to(modules, &at, &[again.as_slice(), behind].concat(), steps - 1),
                None => Some(at),
            };
        }
        rest = behind;
    }
    Some(at)
}

/// All modules that are reached from each by following imports.
fn reached(modules: &Modules) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let imports = |(module, text): (&Vec<String>, &String)| {
        let (imported, _) = named(text);
        let to = imported.iter().filter_map(|path| led_to(modules, module, path, 8));
        (module.clone(), to.filter(|to| to != module).collect::<BTreeSet<_>>())
    };
    let mut reached: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = modules.iter().map(imports).collect();
    // Each round doubles the length of the ways that are known.
    loop {
        let further = reached.iter().map(|(module, to)| {
            let beyond = to.iter().flat_map(|next| &reached[next]);
            (module.clone(), to.iter().chain(beyond).cloned().collect())
        });
        let further: BTreeMap<_, _> = further.collect();
        if further == reached {
            return reached;
        }
        reached = further;
    }
}

/// Files of which one imports another and, by whatever way, is imported by it, cannot be read one after the other.
#[test]
fn no_files_import_each_other() {
    for (name, _) in LAYERS {
        let mut modules = modules(name);
        // Properties draw their values by the means of the crate's own, and stand beside what they are about.
        modules.retain(|module, _| !module.iter().any(|part| part == "fuzz"));
        let reached = reached(&modules);
        let circles: BTreeSet<String> = reached
            .iter()
            .filter(|(module, to)| to.contains(*module))
            .map(|(module, to)| {
                let circle = to.iter().filter(|other| reached[*other].contains(module));
                circle.map(|module| module.join("/")).collect::<Vec<_>>().join(", ")
            })
            .collect();
        assert_eq!(circles, BTreeSet::new(), "{name}: these files import each other");
    }
}

#[test]
fn paths_are_followed_through_what_is_exported_again() {
    let modules: Modules = [
        (vec![], code("mod a;\nmod b;\n")),
        (
            words("a"),
            code("mod own;\npub(crate) use self::own::{Thing, one as other};\nuse crate::b::{self, x::Y};"),
        ),
        (words("a::own"), code("pub(in crate::a) struct Thing;\nfn f() -> super::super::b::Y {}")),
        (words("b"), code("use crate::a::Thing;\nstruct Y;")),
    ]
    .into_iter()
    .collect();
    assert_eq!(led_to(&modules, &words("b"), &words("crate::a::Thing::new"), 8), Some(words("a::own")));
    let reached = reached(&modules);
    assert_eq!(reached[&words("a")], BTreeSet::from([words("a::own"), words("b")]));
    assert_eq!(reached[&words("b")], BTreeSet::from([words("a::own"), words("b")]), "a circle");
}
