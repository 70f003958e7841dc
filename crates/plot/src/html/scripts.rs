//! The scripts and the style of the file: the modules of the scripts, joined into one without a bundler, and the style
//! without what only its authors read.
//!
//! A module is an ECMAScript module with one `import { … } from "…";` a line, and exports only declarations. So modules
//! can be joined by leaving out the imports and the word `export`, if no two of them declare the same name at the top.

use std::collections::BTreeMap;
use std::sync::LazyLock;

macro_rules! modules {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("scripts/", $path)))),*]
    };
}

/// All modules.
const MODULES: [Module; 36] = modules![
    "data/bins.js",
    "data/by_code.js",
    "data/by_rate.js",
    "data/counts.js",
    "data/format.js",
    "data/median.js",
    "data/order.js",
    "data/part.js",
    "data/unpack.js",
    "draw/elements.js",
    "draw/near.js",
    "draw/paths.js",
    "draw/scale.js",
    "draw/window.js",
    "charts/chart.js",
    "charts/cloud.js",
    "charts/curve.js",
    "charts/heat.js",
    "charts/histogram.js",
    "charts/network.js",
    "charts/pointed.js",
    "charts/requests.js",
    "charts/sweep.js",
    "charts/timechart.js",
    "page/bar.js",
    "page/failures.js",
    "page/group.js",
    "page/labels.js",
    "page/main.js",
    "page/overview.js",
    "page/packed.js",
    "page/pointer.js",
    "page/run.js",
    "page/sheets.js",
    "page/table.js",
    "page/view.js",
];

/// The script of the file.
pub(super) static SCRIPT: LazyLock<String> = LazyLock::new(|| linked(&MODULES));

/// A module: its path within the folder of scripts, and its text.
type Module = (&'static str, &'static str);

/// Joins modules into one script, each after those that it imports. Comments that take whole lines are left out.
fn linked(modules: &[Module]) -> String {
    let texts: BTreeMap<&str, &str> = modules.iter().copied().collect();
    let mut order = Vec::new();
    for (path, _) in modules {
        visit(path, &texts, &mut order);
    }
    let bodies: String =
        order.iter().filter_map(|path| texts.get(path.as_str())).map(|text| body(text)).collect();
    format!("\"use strict\";\n(() => {{\n{bodies}}})();\n")
}

/// Adds a module to the order, after its imports. Modules that import each other in a circle are in the order of their
/// first visit, which is right for functions, as long as they are called later.
fn visit(path: &str, texts: &BTreeMap<&str, &str>, order: &mut Vec<String>) {
    let mut waiting = vec![(path.to_owned(), false)];
    let mut seen: Vec<String> = order.clone();
    while let Some((path, imported)) = waiting.pop() {
        if imported {
            order.push(path);
            continue;
        }
        if seen.contains(&path) {
            continue;
        }
        seen.push(path.clone());
        waiting.push((path.clone(), true));
        let text = texts.get(path.as_str()).copied().unwrap_or_default();
        waiting.extend(imports(&path, text).into_iter().rev().map(|import| (import, false)));
    }
}

/// Returns the paths of the modules that a module imports.
fn imports(path: &str, text: &str) -> Vec<String> {
    let from = |line: &str| {
        line.strip_prefix("import ")?.rsplit_once(" from \"")?.1.strip_suffix("\";").map(str::to_owned)
    };
    text.lines().filter_map(from).map(|import| resolved(path, &import)).collect()
}

/// Returns the path of an import, which is relative to the folder of the module.
fn resolved(module: &str, import: &str) -> String {
    let mut parts: Vec<&str> = module.split('/').collect();
    parts.pop();
    for part in import.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Returns a module without imports, the word `export`, comments, indentation and needless ends of lines: the script is a
/// good part of a small report.
fn body(text: &str) -> String {
    let mut within = false;
    let mut body = String::with_capacity(text.len());
    for line in text.lines() {
        let start = line.trim_start();
        within |= start.starts_with("/*");
        if within {
            within = !start.ends_with("*/");
        } else if !start.is_empty() && !start.starts_with("//") && !line.starts_with("import ") {
            // No text has an arrow.
            push_untyped(&mut body, &start.strip_prefix("export ").unwrap_or(start).replace(" => ", "=>"));
            // After these, the end of a line means nothing, since no text goes over several lines, nor after the end of a
            // block, which is on a line of its own.
            if start != "}" && !body.ends_with(['{', ';', ',', '(', '[']) {
                body.push('\n');
            }
        }
    }
    body
}

/// Appends a line without the types of parameters and expressions within it.
fn push_untyped(body: &mut String, line: &str) {
    let mut parts = line.split("/** @type ");
    body.push_str(parts.next().unwrap_or_default());
    for part in parts {
        body.push_str(part.split_once("*/").map_or(part, |(_, code)| code.trim_start()));
    }
}

/// The style of the file.
pub(super) static STYLE: LazyLock<String> = LazyLock::new(|| tight(include_str!("style.css")));

/// Returns a style without comments, indentation, ends of lines and spaces that mean nothing. A comment fills whole lines,
/// and a declaration begins its line or comes after `{ ` or `; `.
fn tight(css: &str) -> String {
    let lines = css.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("/*"));
    lines.map(tight_line).collect()
}

/// Returns a line with the spaces that separate words.
fn tight_line(line: &str) -> String {
    let line =
        line.replace(" { ", "{").replace(" {", "{").replace("; }", "}").replace("; ", ";").replace(", ", ",");
    // In a selector, a colon never has a space after it.
    line.replace(": ", ":")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_module_is_in_the_list_and_every_import_is_a_module() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/html/scripts");
        let mut found = Vec::new();
        for part in ["data", "draw", "charts", "page"] {
            for file in std::fs::read_dir(folder.join(part)).unwrap() {
                found.push(format!("{part}/{}", file.unwrap().file_name().to_str().unwrap()));
            }
        }
        found.sort();
        let mut listed: Vec<&str> = MODULES.iter().map(|(path, _)| *path).collect();
        listed.sort_unstable();
        assert_eq!(found, listed);
        for (path, text) in MODULES {
            // An import that is not recognised would stay in the script.
            assert_eq!(imports(path, text).len(), text.matches("\nimport ").count(), "{path}");
            for import in imports(path, text) {
                assert!(listed.contains(&import.as_str()), "{path} imports {import}");
            }
        }
    }

    #[test]
    fn no_two_modules_declare_the_same_name() {
        let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
        for (path, text) in MODULES {
            for line in text.lines() {
                let line = line.strip_prefix("export ").unwrap_or(line);
                let line = line.strip_prefix("async ").unwrap_or(line);
                let declared =
                    ["function ", "class ", "const ", "let "].iter().find_map(|word| line.strip_prefix(word));
                let Some(name) =
                    declared.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())
                else {
                    continue;
                };
                assert!(!name.is_empty(), "{path} declares several names at once: {line}");
                assert_eq!(owners.insert(name, path), None, "{name} of {path}");
            }
        }
        assert!(owners.len() > 60);
    }

    #[test]
    fn modules_stand_after_those_that_they_import() {
        let modules: [Module; 3] = [
            (
                "page/main.js",
                "// Entry.\nimport { b } from \"../data/b.js\";\nimport { a } from \"../data/a.js\";\n\nb(a);\n",
            ),
            (
                "data/b.js",
                "import { a } from \"./a.js\";\n/** Says\n * b. */\nexport function b(/** @type {number} */ x) {\n  if (x) {\n    // Twice.\n    return a + /** @type {any} */ (x);\n  }\n}\n",
            ),
            ("data/a.js", "/** One. */\nexport const a = 1;\n"),
        ];
        let script =
            "\"use strict\";\n(() => {\nconst a = 1;function b(x) {if (x) {return a + (x);}}b(a);})();\n";
        assert_eq!(linked(&modules), script);
    }

    #[test]
    fn style_is_tight() {
        let css = "/* Said. */\n\n:root {\n  --paper: light-dark(#fff, #16191d);\n}\n\
            .a b:hover, td { width: calc(100% - 7px); margin: 0 auto; }\n@media print {\n  /* One. */\n  p { gap: 0; }\n}\n";
        let expected = ":root{--paper:light-dark(#fff,#16191d);}.a b:hover,td{width:calc(100% - 7px);margin:0 auto}\
            @media print{p{gap:0}}";
        assert_eq!(tight(css), expected);
    }

    #[test]
    fn comments_of_the_style_take_whole_lines() {
        for line in
            include_str!("style.css").lines().filter(|line| line.contains("/*") || line.contains("*/"))
        {
            let line = line.trim();
            assert!(line.starts_with("/*") && line.ends_with("*/"), "{line}");
        }
    }
}
