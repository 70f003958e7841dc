//! Names in the database: quoting, and unique names for the tables of runs.

use perfpipe_model::run::key::RunKey;

/// The schema that holds everything that perfpipe stores.
pub(crate) const SCHEMA: &str = "perfpipe";

/// The names of all tables and views of the layout.
pub(super) const ALL: [&str; 13] = [
    "layout",
    "runs",
    "seconds",
    "cpu",
    "errors",
    "labels",
    "rejects",
    "points",
    "series",
    "parts",
    "partfiles",
    "elapsed_counts",
    "per_second",
];

/// Name of the lock for creating or migrating the schema.
pub(crate) const LOCK: &str = "perfpipe layout";

/// The maximum length of a name in Postgres, in bytes.
const LIMIT: usize = 63;

/// Quotes an identifier for SQL. Every identifier that is not a constant of this crate must be quoted by it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the quoted name of a table with its schema.
pub(crate) fn in_schema(table: &str) -> String {
    format!("{SCHEMA}.{}", quoted(table))
}

/// Quotes a text for SQL. The result does not depend on `standard_conforming_strings`.
pub(crate) fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    match quoted.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}

/// Returns a run's key as a unique text: `spring_2048`, or `spring_2048#2` for its second repeat.
///
/// The framework ends at the first `_`, and the test at the first `#`. These characters are percent-encoded within
/// names, and so is `%`; only in a test `_` stays as it is.
pub(crate) fn run_text(key: &RunKey) -> String {
    let escaped = |name: &str| name.replace('%', "%25").replace('#', "%23");
    let framework = escaped(&key.framework).replace('_', "%5F");
    let test = escaped(&key.test);
    match key.repeat {
        1 => format!("{framework}_{test}"),
        repeat => format!("{framework}_{test}#{repeat}"),
    }
}

/// Returns candidates for a name of a run's object: first the natural one if it is short enough, then shortened ones
/// with a hash of the key.
pub(crate) fn candidates(key: &RunKey, ending: &str) -> impl Iterator<Item = String> {
    let natural = format!("{}{ending}", key.name());
    let text = lock_text(key);
    let first = (natural.len() <= LIMIT).then(|| natural.clone());
    let hashed = (0..u32::MAX).map(move |attempt| {
        let hash = crc32fast::hash(format!("{text}\u{1f}{attempt}").as_bytes());
        shortened(&natural, &format!("_{hash:08x}"))
    });
    first.into_iter().chain(hashed)
}

/// Shortens a name so that it fits together with a suffix.
fn shortened(name: &str, suffix: &str) -> String {
    let end = name.floor_char_boundary(LIMIT.saturating_sub(suffix.len()));
    let head = name.get(..end).unwrap_or_default();
    format!("{head}{suffix}")
}

/// Returns a text that is unique for each key, also for `a_b` and `c` and for `a` and `b_c`.
pub(crate) fn lock_text(key: &RunKey) -> String {
    format!("{}\u{1f}{}\u{1f}{}", key.framework, key.test, key.repeat)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(framework: &str, test: &str) -> RunKey {
        RunKey::new(framework, test)
    }

    #[test]
    fn quotes_are_doubled_and_all_else_is_kept() {
        assert_eq!(quoted("spring_2048"), r#""spring_2048""#);
        assert_eq!(quoted(r#"a"; drop table x; --"#), r#""a""; drop table x; --""#);
        assert_eq!(in_schema("Größe 配额"), r#"perfpipe."Größe 配额""#);
    }

    #[test]
    fn texts_are_quoted_as_postgres_quotes_them() {
        assert_eq!(literal("spring_2048"), "'spring_2048'");
        assert_eq!(literal("'; drop table x; --"), "'''; drop table x; --'");
        assert_eq!(literal(r"a\'b"), r"E'a\\''b'");
    }

    /// Returns the key that a text was made of.
    fn key_of(text: &str) -> RunKey {
        let plain = |name: &str| name.replace("%5F", "_").replace("%23", "#").replace("%25", "%");
        let (framework, rest) = text.split_once('_').unwrap();
        let (test, repeat) = rest.split_once('#').unwrap_or((rest, "1"));
        key(&plain(framework), &plain(test)).with_repeat(repeat.parse().unwrap())
    }

    #[test]
    fn run_reads_as_it_is_printed_where_that_is_clear() {
        for key in [key("spring", "2048"), key("spring", "heavy_2048"), key("Größe 配额", "").with_repeat(12)]
        {
            assert_eq!(run_text(&key), key.to_string());
        }
        assert_eq!(run_text(&key("a_b", "c#2%")), "a%5Fb_c%232%25");
    }

    #[test]
    fn no_two_keys_share_a_text() {
        let names =
            ["", "a", "_", "a_", "_a", "#", "#2", "a#2", "%", "%5F", "%255F", "a_b#2", "%23", "2", "'\\"];
        for (framework, test) in names.iter().flat_map(|one| names.map(|other| (*one, other))) {
            for repeat in [1, 2, 22] {
                let key = key(framework, test).with_repeat(repeat);
                assert_eq!(key_of(&run_text(&key)), key);
            }
        }
    }

    #[test]
    fn short_name_is_tried_as_it_is() {
        let names: Vec<String> = candidates(&key("a", "b"), "").take(2).collect();
        assert_eq!(names.first().unwrap(), "a_b");
        assert!(names[1].starts_with("a_b_") && names[1].len() == 12, "{names:?}");
    }

    #[test]
    fn repeats_share_neither_names_nor_locks() {
        let (one, two) = (key("a", "b"), key("a", "b").with_repeat(2));
        assert_eq!(candidates(&two, "").next().unwrap(), "a_b_r2");
        assert_ne!(candidates(&one, "").nth(1), candidates(&two, "").nth(1));
        assert_ne!(lock_text(&one), lock_text(&two));
    }

    #[test]
    fn long_name_is_cut_between_characters_and_told_apart_by_its_hash() {
        let long = "é".repeat(40);
        let one: Vec<String> = candidates(&key(&long, "1"), "").take(2).collect();
        let two: Vec<String> = candidates(&key(&long, "2"), "").take(2).collect();
        assert!(one.iter().chain(&two).all(|name| name.len() <= LIMIT && name.starts_with("éé")));
        assert_ne!(one[0], one[1]);
        assert_ne!(one[0], two[0]);
    }

    #[test]
    fn keys_that_share_a_name_do_not_share_a_hash() {
        let (one, two) = (key("a_b", "c"), key("a", "b_c"));
        assert_eq!(candidates(&one, "").next(), candidates(&two, "").next());
        assert_ne!(candidates(&one, "").nth(1), candidates(&two, "").nth(1));
    }
}
