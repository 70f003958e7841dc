//! Files as people have them, each with what must come out: the rows of `fixtures/wild/table.json`.

use serde_json::Value;

use crate::support::*;

/// Names a wild file of a case.
fn wild(case: &str, file: &str) -> String {
    fixture(&format!("wild/{case}/{file}")).to_str().unwrap().to_owned()
}

/// What differs from a row, as lines.
fn differs(row: &Value) -> Vec<String> {
    let store = Store::embedded();
    let list = |name: &str| -> Vec<String> {
        row[name].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let files = list("files").iter().map(|file| wild(text(row, "case"), file)).collect::<Vec<_>>();
    let flags = list("flags");
    let given: Vec<&str> = files.iter().chain(&flags).map(String::as_str).collect();
    let done = store.run(&[&["ingest", "--framework", "f", "--test", "t"], &*given].concat());
    let seen = store.run(&[&["inspect", "--framework", "f", "--test", "t"], &*given].concat());
    let mut wrong = Vec::new();
    let mut check = |holds: bool, what: String| {
        if !holds {
            wrong.push(what);
        }
    };
    if let Some(code) = row["code"].as_str() {
        check(done.code == Some(3), format!("exit {:?}", done.code));
        check(done.err.contains(&format!("[{code}]")), format!("not [{code}]: {}", done.err));
        check(done.err.contains(text(row, "says")), format!("does not say {}: {}", row["says"], done.err));
        check(store.list().is_empty(), "it is stored".to_owned());
        // An inspection says the same, with the remedy.
        let said = format!("{}{}", String::from_utf8_lossy(&seen.out), seen.err);
        check(said.contains(text(row, "says")), format!("inspect does not say {}: {said}", row["says"]));
        return wrong;
    }
    check(done.code == Some(0), format!("exit {:?}: {}", done.code, done.err));
    if done.code != Some(0) {
        return wrong;
    }
    let told = format!("{}{}", done.err, String::from_utf8_lossy(&done.out));
    if let Some(note) = row["notes"].as_str() {
        check(told.contains(note), format!("no note {note:?}: {told}"));
    }
    let mut equal = |found: &std::collections::HashMap<String, String>, figures: &Value| {
        for (name, value) in figures.as_object().unwrap() {
            let found: f64 = found.get(name).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
            let value = value.as_f64().unwrap();
            let is_near = (found - value).abs() < 1e-6 * value.abs().max(1.0);
            check(is_near, format!("{name} is {found}, not {value}"));
        }
    };
    if !row["points"].is_null() {
        let points = store.run(&["export", "--test", "t", "--what", "points"]).text();
        equal(&rows(&points)[0], &row["points"]);
        return wrong;
    }
    equal(&rows(&store.run(&["export", "f_t", "--what", "summary"]).text())[0], &row["figures"]);
    let rejects = store.list()[0]["rejects"].as_u64().unwrap_or_default();
    let expected = row["rejects"].as_u64().unwrap_or_default();
    check(rejects == expected, format!("{rejects} rejects, not {expected}"));
    wrong
}

#[test]
fn files_of_strangers_give_their_figures_or_a_remedy() {
    let table: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(fixture("wild/table.json")).unwrap()).unwrap();
    let wrong: Vec<String> = table
        .iter()
        .flat_map(|row| {
            let what = format!("{}, {}", text(row, "case"), text(row, "what"));
            differs(row).into_iter().map(move |wrong| format!("{what}: {wrong}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(table.len() > 30);
    // Each file has a row.
    for case in std::fs::read_dir(fixture("wild")).unwrap().map(|case| case.unwrap()) {
        for file in std::fs::read_dir(case.path()).into_iter().flatten().map(|file| file.unwrap()) {
            let (case, name) = (case.file_name(), file.file_name());
            let has = |row: &Value| {
                row["case"] == case.to_str().unwrap()
                    && row["files"].as_array().unwrap().iter().any(|file| file == name.to_str().unwrap())
            };
            assert!(table.iter().any(has), "{case:?}/{name:?} is in no row");
        }
    }
}
