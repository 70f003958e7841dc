//! The modules of the scripts.

use std::sync::LazyLock;

use super::link::{Module, linked};

macro_rules! modules {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("scripts/", $path)))),*]
    };
}

/// All modules.
const MODULES: [Module; 39] = modules![
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
    "live/choices.js",
    "live/follow.js",
    "live/replace.js",
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

/// The folder of the modules that only a live page has.
const LIVE: &str = "live/";

/// The script of the file.
pub(super) static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let modules: Vec<Module> = MODULES.into_iter().filter(|(path, _)| !path.starts_with(LIVE)).collect();
    linked(&modules)
});

/// The script of a live page.
pub(super) static LIVE_SCRIPT: LazyLock<String> = LazyLock::new(|| linked(&MODULES));

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::html::link::imports;

    #[test]
    fn every_module_is_in_the_list_and_every_import_is_a_module() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/html/scripts");
        let mut found = Vec::new();
        for part in ["data", "draw", "charts", "live", "page"] {
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
}
