//! Finds what a query of Prometheus reads.

/// The words that stand for no series, wherever they are.
const WORDS: [&str; 26] = [
    "sum",
    "min",
    "max",
    "avg",
    "group",
    "stddev",
    "stdvar",
    "count",
    "count_values",
    "bottomk",
    "topk",
    "quantile",
    "limitk",
    "limit_ratio",
    "and",
    "or",
    "unless",
    "bool",
    "offset",
    "inf",
    "nan",
    "atan2",
    "start",
    "end",
    "Inf",
    "NaN",
];

/// The words behind which labels are listed.
const LISTS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];

/// Returns the first selector of a query: the name of a series and its matchers, without a range.
pub(super) fn selector(query: &str) -> Option<&str> {
    let mut rest = query;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '"' | '\'' | '`' => behind(rest, text_end(rest)),
            '[' => behind(rest, through(rest, ']')),
            '#' => behind(rest, through(rest, '\n')),
            '{' => return rest.get(..matchers_end(rest)),
            letter if letter.is_ascii_digit() => {
                rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '.')
            }
            letter if is_of_name(letter) => {
                let name = rest.find(|letter: char| !is_of_name(letter)).unwrap_or(rest.len());
                match after_name(rest, name) {
                    Some(rest) => rest,
                    None => return Some(selected(rest, name)),
                }
            }
            letter => behind(rest, letter.len_utf8()),
        };
    }
    None
}

/// Returns what is behind a word that is no series, with the list of labels that belongs to it; `None` if it is a series.
fn after_name(text: &str, length: usize) -> Option<&str> {
    let (name, rest) = text.split_at_checked(length)?;
    let next = rest.trim_start();
    if LISTS.contains(&name) && next.starts_with('(') {
        return Some(behind(next, through(next, ')')));
    }
    (WORDS.contains(&name) || LISTS.contains(&name) || next.starts_with('(')).then_some(rest)
}

/// Returns a name with its matchers.
fn selected(text: &str, name: usize) -> &str {
    let rest = behind(text, name);
    let space = rest.len() - rest.trim_start().len();
    let length = match behind(rest, space) {
        next if next.starts_with('{') => name + space + matchers_end(next),
        _ => name,
    };
    text.get(..length).unwrap_or(text)
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':')
}

fn behind(text: &str, length: usize) -> &str {
    text.get(length..).unwrap_or_default()
}

/// The length up to a character and with it.
fn through(text: &str, last: char) -> usize {
    text.find(last).map_or(text.len(), |at| at + last.len_utf8())
}

/// The length of the text in quotes with which this begins.
fn text_end(text: &str) -> usize {
    let mut letters = text.char_indices();
    let quote = letters.next().map_or('"', |(_, quote)| quote);
    let mut escaped = false;
    for (at, letter) in letters {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quote != '`' => escaped = true,
            letter if letter == quote => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// The length of the matchers in braces with which this begins.
fn matchers_end(text: &str) -> usize {
    let mut at = 0;
    while let Some(letter) = behind(text, at).chars().next() {
        at += match letter {
            '"' | '\'' | '`' => text_end(behind(text, at)),
            '}' => return at + 1,
            letter => letter.len_utf8(),
        };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn selector_of_any_text_is_a_part_of_it(query in "[ab{}()\\[\\]\"'`#,=\\\\ 1ß\n]{0,40}|sum by \\(a\\) .{0,20}") {
            if let Some(found) = selector(&query) {
                prop_assert!(!found.is_empty() && query.contains(found));
            }
        }
    }

    #[test]
    fn first_selector_of_a_query_is_found() {
        for (query, found) in [
            ("up", Some("up")),
            (
                "100*sum(rate(node_cpu_seconds_total{mode!=\"idle\"}[3s]))",
                Some("node_cpu_seconds_total{mode!=\"idle\"}"),
            ),
            ("sum by (instance, job) (a:b_total {x=\"}\\\"\"}[1m])", Some("a:b_total {x=\"}\\\"\"}")),
            ("100 - avg without(cpu)(x_1) * 2e3", Some("x_1")),
            ("sum(x) / on (instance) group_left count(y)", Some("x")),
            ("{__name__=~\"cpu.*\"}", Some("{__name__=~\"cpu.*\"}")),
            ("label_replace(up offset 5m, \"a\", \"$1\", \"b\", \".*\")", Some("up")),
            ("label_join(rate(`not`), vector(1))", None),
            ("time() # up", None),
            ("\"Größe", None),
            ("a{b=\"", Some("a{b=\"")),
            ("", None),
        ] {
            assert_eq!(selector(query), found, "{query}");
        }
    }
}
