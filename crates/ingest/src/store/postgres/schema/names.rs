//! Names in the database: how they are quoted, and how a run's table gets one of its own.

use crate::run::key::RunKey;

/// The schema that holds all that perfpipe stores.
pub(crate) const SCHEMA: &str = "perfpipe";

/// All that the layout makes.
pub(super) const ALL: [&str; 9] =
    ["layout", "runs", "seconds", "cpu", "errors", "labels", "rejects", "elapsed_counts", "per_second"];

/// What the lock on making the schema is named by.
pub(super) const LOCK: &str = "perfpipe layout";

/// The most bytes that Postgres keeps of a name.
const LIMIT: usize = 63;

/// A name as it stands in SQL. Every identifier that is not a constant of this crate passes through here.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A table of the schema, quoted.
pub(crate) fn in_schema(table: &str) -> String {
    format!("{SCHEMA}.{}", quoted(table))
}

/// A text as it stands in SQL, whatever `standard_conforming_strings` says.
pub(crate) fn literal(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    match quoted.contains('\\') {
        true => format!("E'{}'", quoted.replace('\\', "\\\\")),
        false => format!("'{quoted}'"),
    }
}

/// A run's key as one text, which no other key has: `spring_2048`, and `spring_2048#2` of its second repeat.
///
/// The framework ends at the first `_`, and the test at the first `#`. Where these stand in names they are escaped, and so
/// is `%`, which escapes them; a test may have `_` as it is.
pub(crate) fn run_text(key: &RunKey) -> String {
    let escaped = |name: &str| name.replace('%', "%25").replace('#', "%23");
    let framework = escaped(&key.framework).replace('_', "%5F");
    let test = escaped(&key.test);
    match key.repeat {
        1 => format!("{framework}_{test}"),
        repeat => format!("{framework}_{test}#{repeat}"),
    }
}

/// Names for something of a run, the natural one first if it fits, then shortened ones with a hash of the key.
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

/// The name cut so that it fits together with a suffix.
fn shortened(name: &str, suffix: &str) -> String {
    let end = name.floor_char_boundary(LIMIT.saturating_sub(suffix.len()));
    let head = name.get(..end).unwrap_or_default();
    format!("{head}{suffix}")
}

/// A text that tells every key from every other one: `a_b` and `c` from `a` and `b_c`, and each repeat from the others.
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

    /// The key that a text was made of.
    fn key_of(text: &str) -> RunKey {
        let plain = |name: &str| name.replace("%5F", "_").replace("%23", "#").replace("%25", "%");
        let (framework, rest) = text.split_once('_').unwrap();
        let (test, repeat) = rest.split_once('#').unwrap_or((rest, "1"));
        key(&plain(framework), &plain(test)).with_repeat(repeat.parse().unwrap())
    }

    #[test]
    fn a_run_reads_as_it_is_printed_where_that_is_clear() {
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
    fn a_short_name_is_tried_as_it_is() {
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
    fn a_long_name_is_cut_between_characters_and_told_apart_by_its_hash() {
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
