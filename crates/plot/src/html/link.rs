//! Joins the scripts' modules into the one script of the file: no bundler is needed.
//!
//! A module is an ECMAScript module with one `import { … } from "…";` a line, and exports only declarations. So modules
//! can be joined by leaving out the imports and the word `export`, if no two of them declare the same name at the top.

use std::collections::BTreeMap;

/// A module: its path within the folder of scripts, and its text.
pub(super) type Module = (&'static str, &'static str);

/// Joins modules into one script, each after those that it imports. Comments that take whole lines are left out.
pub(super) fn linked(modules: &[Module]) -> String {
    let texts: BTreeMap<&str, &str> = modules.iter().copied().collect();
    let mut order = Vec::new();
    for (path, _) in modules {
        visit(path, &texts, &mut order);
    }
    let bodies: String =
        order.iter().filter_map(|path| texts.get(path.as_str())).map(|text| body(text)).collect();
    format!("\"use strict\";\n(() => {{\n{bodies}}})();\n")
}

/// Adds a module to the order, after its imports. Modules that import each other in a circle stand in the order of their
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
pub(super) fn imports(path: &str, text: &str) -> Vec<String> {
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
            // Behind these, the end of a line means nothing, since no text goes over several lines, nor behind the end of a
            // block, which stands alone.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
