//! Names the folder of a run so that it is valid in every file system, also in case-insensitive ones.

use crate::run::key::RunKey;

/// Separates a repeat's number.
const REPEAT: char = '+';

/// What follows it is a hash of the whole name.
const SHORTENED: char = '~';

/// The maximum length of a name in bytes, without the repeat.
const NAME: usize = 139;

/// Returns the folder name of a key. Characters that are not safe in every file system are percent-encoded. Names of
/// different keys differ in more than case.
pub(crate) fn folder_name(key: &RunKey) -> String {
    encoded_name(key, false)
}

/// Returns the folder name that earlier versions used for a key, if it differs: they left capital letters as they are.
pub(crate) fn former_name(key: &RunKey) -> Option<String> {
    let capital = |part: &String| part.bytes().any(|byte| byte.is_ascii_uppercase());
    (capital(&key.framework) || capital(&key.test)).then(|| encoded_name(key, true))
}

/// Returns the repeat whose folder has this name, if it belongs to the framework and the test of `key`.
pub(crate) fn repeat_of(name: &str, key: &RunKey) -> Option<u32> {
    let first = key.clone().with_repeat(1);
    let names = std::iter::once(folder_name(&first)).chain(former_name(&first));
    names.filter_map(|first| name.strip_prefix(first.as_str())).find_map(|rest| match rest {
        "" => Some(1),
        rest => rest.strip_prefix(REPEAT)?.parse().ok(),
    })
}

/// Returns the key whose folder has this name, also if an earlier version named it; `None` if the name does not tell it,
/// as that of a very long key.
pub(crate) fn key_of(name: &str) -> Option<RunKey> {
    let mut parts = name.split(REPEAT);
    let (framework, test) = (decoded(parts.next()?)?, decoded(parts.next()?)?);
    let repeat = parts.next().map_or(Some(1), |repeat| repeat.parse().ok())?;
    let key = RunKey::new(framework, test).with_repeat(repeat);
    let is_own = folder_name(&key) == name || former_name(&key).is_some_and(|former| former == name);
    is_own.then_some(key)
}

/// Returns a function that tells whether a run of a test may be in the folder with a name. It is quicker than asking for
/// the key of each name.
pub(crate) fn may_be_of_test(test: &str) -> impl Fn(&str) -> bool {
    let key = RunKey::new("x", test);
    let names = [Some(folder_name(&key)), former_name(&key)];
    let is_same = move |part: &str| {
        let names = names.iter().flatten();
        names.filter_map(|name| name.split(REPEAT).nth(1)).any(|test| test == part)
    };
    move |name| name.contains(SHORTENED) || name.split(REPEAT).nth(1).is_some_and(&is_same)
}

/// Decodes a part of a name.
fn decoded(part: &str) -> Option<String> {
    let mut pieces = part.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (hex, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

fn encoded_name(key: &RunKey, capitals: bool) -> String {
    let mut name = String::new();
    for part in [&key.framework, &key.test] {
        // Different keys stay different because `%` and `+` within a part are encoded.
        if !name.is_empty() {
            name.push('+');
        }
        for byte in part.bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => name.push(byte as char),
                b'A'..=b'Z' if capitals => name.push(byte as char),
                b'.' if !name.is_empty() => name.push('.'),
                _ => name.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    if name.len() > NAME {
        let hash = crc32fast::hash(name.as_bytes());
        let longer = crc32fast::hash(name.chars().rev().collect::<String>().as_bytes());
        name.truncate(120);
        name.push_str(&format!("{SHORTENED}{hash:08x}{longer:08x}"));
    }
    if key.repeat != 1 {
        name.push_str(&format!("{REPEAT}{}", key.repeat));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::key::LAST_REPEAT;

    fn name(framework: &str, test: &str) -> String {
        folder_name(&RunKey::new(framework, test))
    }

    #[test]
    fn folder_names_are_safe_and_differ() {
        assert_eq!(name("perfectnio", "2048"), "perfectnio+2048");
        assert_eq!(name("127.0.0.1:9000", "2048"), "127.0.0.1%3A9000+2048");
        assert_eq!(name("../a", "b/c"), "%2E.%2Fa+b%2Fc");
        assert_ne!(name("a_b", "c"), name("a", "b_c"));
        assert!(name(&"é".repeat(500), "x").len() < 150);
    }

    #[test]
    fn each_repeat_has_a_folder_of_its_own() {
        let name = |framework: &str, repeat| folder_name(&RunKey::new(framework, "2048").with_repeat(repeat));
        assert_eq!(name("go", 2), "go+2048+2");
        assert_eq!(folder_name(&RunKey::new("go", "2048+2")), "go+2048%2B2");
        let long = "x".repeat(500);
        assert_ne!(name(&long, 1), name(&long, 2));
        assert!(name(&long, LAST_REPEAT).len() <= 150 && name(&"x".repeat(134), LAST_REPEAT).len() <= 150);
    }

    #[test]
    fn names_differ_in_more_than_capital_letters() {
        assert_eq!(name("Go", "API"), "%47o+%41%50%49");
        let all = ["go", "Go", "GO", "gO", "%47o"].map(|framework| name(framework, "API").to_lowercase());
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
        let long = |first: &str| name(&format!("{first}{}", "x".repeat(200)), "t").to_lowercase();
        assert_ne!(long("A"), long("a"));
    }

    #[test]
    fn names_tell_their_keys_unless_they_are_shortened() {
        for (framework, test, repeat) in [
            ("perfectnio", "2048", 1),
            ("127.0.0.1:9000", "a/b", 12),
            ("../a", "b+c~", 1),
            ("Go", "Größe%41", LAST_REPEAT),
        ] {
            let key = RunKey::new(framework, test).with_repeat(repeat);
            assert_eq!(key_of(&folder_name(&key)), Some(key.clone()));
            assert!(may_be_of_test(test)(&folder_name(&key)) && !may_be_of_test("t")(&folder_name(&key)));
            assert!(former_name(&key).is_none_or(|name| may_be_of_test(test)(&name)));
            assert_eq!(former_name(&key).and_then(|name| key_of(&name)), former_name(&key).map(|_| key));
        }
        for other in [
            &name(&"x".repeat(500), "t"),
            "",
            "go",
            "go+t.bak+",
            "go+t+01",
            "go+t+1",
            "go+%74",
            "go+%7",
            "go+%é",
        ] {
            assert_eq!(key_of(other), None, "{other}");
        }
    }

    #[test]
    fn names_of_earlier_builds_are_known() {
        let key = RunKey::new("Go", "API");
        assert_eq!(former_name(&key).unwrap(), "Go+API");
        assert_eq!(former_name(&RunKey::new("go", "api")), None);
        assert_eq!(repeat_of("Go+API+7", &key), Some(7));
        assert_eq!(repeat_of("%47o+%41%50%49", &key.clone().with_repeat(3)), Some(1));
        assert_eq!(repeat_of("go+api+7", &key), None);
        assert_eq!(repeat_of("Go+API.bak", &key), None);
    }
}
