//! Links between the pages.

use std::path::Path;

use super::root;

/// The links of a page that lead to no file, or to no heading of it.
pub(super) fn broken(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let leads_nowhere = |target: &String| !target.contains("://") && !reaches(page, target);
    let name = |target| format!("{}: {target}", page.display());
    targets(&text).into_iter().filter(leads_nowhere).map(name).collect()
}

/// Where the links of a page go to; blocks have none.
fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for line in prose(text) {
        let ends = line.split("](").skip(1);
        targets.extend(ends.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
    }
    targets
}

/// The lines of a page that are not in a block.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut within = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        within ^= fence;
        !within && !fence
    })
}

fn reaches(page: &Path, target: &str) -> bool {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = match path {
        "" => root().join(page),
        _ => root().join(page.parent().unwrap()).join(path),
    };
    match heading {
        "" => file.exists(),
        _ => std::fs::read_to_string(file).is_ok_and(|text| has_heading(&text, heading)),
    }
}

/// Whether a page has the heading, by the name that it has in links.
fn has_heading(text: &str, name: &str) -> bool {
    let slug = |heading: &str| -> String {
        let kept = heading.chars().filter(|&at| at.is_alphanumeric() || " -_".contains(at));
        kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
    };
    prose(text).filter(|line| line.starts_with('#')).any(|line| slug(line.trim_start_matches('#')) == name)
}
