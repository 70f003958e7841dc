//! Outputs with gaps: `[..]` is any text within a line, a line `...` any number of lines.

const WITHIN: &str = "[..]";
const LINES: &str = "...";

/// Whether the output is the expected one.
pub(super) fn matches(expected: &[String], actual: &[String]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return actual.is_empty() };
    if first == LINES {
        return (0..=actual.len()).any(|at| matches(rest, &actual[at..]));
    }
    actual.split_first().is_some_and(|(line, more)| line_matches(first, line) && matches(rest, more))
}

fn line_matches(expected: &str, actual: &str) -> bool {
    let Some((head, mut tail)) = expected.split_once(WITHIN) else {
        return expected.trim_end() == actual.trim_end();
    };
    let Some(mut actual) = actual.strip_prefix(head) else { return false };
    while let Some((middle, rest)) = tail.split_once(WITHIN) {
        let Some(at) = actual.find(middle) else { return false };
        actual = &actual[at + middle.len()..];
        tail = rest;
    }
    actual.trim_end().ends_with(tail.trim_end())
}

/// The output as it is to stand in the page: lines with gaps stay where they still match, and so does one gap of lines.
pub(super) fn renewed(expected: &[String], actual: &[String]) -> Vec<String> {
    if matches(expected, actual) {
        return expected.to_vec();
    }
    let known = |line: &String| {
        let pattern = expected.iter().find(|old| old.contains(WITHIN) && line_matches(old, line));
        pattern.unwrap_or(line).trim_end().to_owned()
    };
    let new: Vec<String> = actual.iter().map(known).collect();
    match expected.iter().position(|line| line == LINES) {
        Some(head) if expected.len() <= new.len() => {
            let tail = new.len() - (expected.len() - head - 1);
            [&new[..head], &[LINES.to_owned()], &new[tail..]].concat()
        }
        _ => new,
    }
}

#[test]
fn gaps_stand_for_text_and_lines() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let is = |expected: &str, actual: &str| matches(&lines(expected), &lines(actual));
    assert!(is("a\n...\nd", "a\nb\nc\nd") && is("...", "") && is("a\n...", "a"));
    assert!(!is("a\n...\nd", "a\nb") && !is("a", "a\nb") && !is("a\nb", "a"));
    assert!(is("took [..] s, [..] rows", "took 1.5 s, 20 rows"));
    assert!(!is("took [..] s", "took 1.5 ms") && !is("a [..]", "b c"));
    assert_eq!(renewed(&lines("x [..]\nold"), &lines("x 1\nnew")), lines("x [..]\nnew"));
    assert_eq!(renewed(&lines("a\n...\nz"), &lines("b\nc\nd\ne")), lines("b\n...\ne"));
}
