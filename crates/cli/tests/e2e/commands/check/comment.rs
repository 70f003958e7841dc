//! The verdict as a comment on a pull request, against files of what it must be.

use std::path::Path;

use super::chance::{FIVE, START, TINY, fill, filled};
use crate::support::*;

/// Compares a comment with its file, which `UPDATE_GOLDEN=1` writes.
fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/commands/check/comments").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{}: UPDATE_GOLDEN=1 writes it", path.display());
}

/// A log with a request of each label.
fn labels(names: impl Iterator<Item = String>) -> String {
    let mut log = "timeStamp,elapsed,label,success\n".to_owned();
    for (at, name) in (0_i64..).zip(names) {
        log += &format!("{},{},\"{name}\",true\n", START + at * 10, 10 + at);
    }
    log
}

#[test]
fn comments_tell_what_became_of_the_rules() {
    let store = filled();
    let comment = |arguments: &[&str], code: i32| {
        let format = ["--format", "pr"];
        let done = store.run(&[&["check"], arguments, &format[..]].concat());
        assert_eq!(done.code, Some(code), "{}", done.err);
        String::from_utf8(done.out).unwrap()
    };
    let against_old = ["--baseline", "old_t"];
    let of = |run: &'static str, rules: &[&'static str]| [&[run], &against_old[..], rules].concat();
    assert_golden("well.md", &comment(&of("same_t", &[FIVE, "failures < 1%"]), 0));
    let worse = of("slow_t", &["failures < 1%", FIVE]);
    assert_golden("worse.md", &comment(&worse, 4));
    assert_eq!(comment(&worse, 4), comment(&worse, 4), "equal input gives equal bytes");
    assert_golden("unknown.md", &comment(&of("same_t", &[TINY, "failures < 1%"]), 0));
    assert_golden("missing.md", &comment(&["same_t", "--baseline", "nobody_t", FIVE], 3));

    let hostile = ["</details> <!-- --> | `x`", "@all fixes #1 https://example.org"];
    let hostile = hostile.into_iter().map(str::to_owned);
    let names: Vec<String> = hostile.chain((2..40).map(|at| format!("Get {at}"))).collect();
    let file = store.file("labels.csv", labels(names.iter().cloned()));
    store.run(&["ingest", &file, "--framework", "many", "--test", "labels"]).said();
    let rules: Vec<String> =
        names.iter().enumerate().map(|(at, name)| format!("max of \"{name}\" < {}ms", 9 + at)).collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let text = comment(&[&["many_labels"], &rules[..]].concat(), 4);
    assert_golden("labels.md", &text);
    assert!(text.contains("<summary>35 more rows</summary>"), "{text}");
}

#[test]
fn comment_without_a_baseline_is_a_file_too_and_a_pass_says_so() {
    let store = Store::embedded();
    fill(&store, "new", (&[0], 1000), "main");
    let check = |fate: &str, code: i32| {
        let file = store.file("comment.md", "");
        let asked =
            ["check", "new_t", "--baseline", "last 5 of tag:branch=other", FIVE, "--no-baseline", fate];
        let done = store.run(&[&asked[..], &["--format", "pr", "-o", &file]].concat());
        assert_eq!((done.code, done.out.len()), (Some(code), 0), "{}", done.err);
        std::fs::read_to_string(&file).unwrap()
    };
    let failed = check("fail", 3);
    assert!(failed.starts_with("**No baseline**: 1 rule of 1 can't be checked"), "{failed}");
    let passed = check("pass", 0);
    assert!(passed.starts_with("**Passed without a baseline**: there is no earlier run"), "{passed}");
    assert!(passed.ends_with("\n\n<!-- perfpipe:check new_t -->\n"), "{passed}");
}
