//! Keys of runs: inferred from any URLs, labels and names, and converted to names of tables and folders.

use crate::source::log::stem;
use perfpipe_formats::endpoint::Endpoints;
use perfpipe_model::fuzz::Taker;
use perfpipe_model::run::infer::Clues;
use perfpipe_model::run::key::{LAST_REPEAT, RunKey};

fn endpoints(urls: &[&[u8]]) -> Endpoints {
    let mut endpoints = Endpoints::default();
    urls.iter().for_each(|url| endpoints.add(url));
    endpoints
}

/// Returns what all URLs agree on. The result must not depend on how they are divided and in which order they are
/// merged.
fn agreed(urls: &[&[u8]], cut: usize) -> (Option<String>, Option<String>) {
    let (head, tail) = urls.split_at(cut.min(urls.len()));
    let both = |first: &[&[u8]], second: &[&[u8]]| {
        let mut all = endpoints(first);
        all.merge(&endpoints(second));
        (all.host.one(), all.path.one())
    };
    let all = both(urls, &[]);
    assert_eq!(both(head, tail), all);
    assert_eq!(both(tail, head), all);
    all
}

/// Checks that the names of tables and folders are safe and unique.
fn check_names(key: &RunKey, other: &RunKey) {
    use perfpipe_store::parquet::fuzz::folder;
    use perfpipe_store::postgres::fuzz::table_names;
    let name = folder(key);
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+%~".contains(&byte);
    assert!(!name.is_empty() && name.len() <= 150 && name.bytes().all(safe), "{name}");
    assert!(!name.starts_with('.'), "{name}");
    // Some file systems are case-insensitive.
    assert_eq!(folder(other).eq_ignore_ascii_case(&name), key == other);
    let next = key.clone().with_repeat(key.repeat % LAST_REPEAT + 1);
    assert_ne!(folder(&next), name);
    assert_ne!(table_names(&next), table_names(key));
    assert!(table_names(key).iter().all(|name| !name.is_empty() && name.len() <= 63));
}

/// Infers a key from any clues. Given parts stay as they are, and nothing of a URL's user and password is kept.
pub fn keys(data: &[u8]) {
    let mut taker = Taker::new(data);
    let cut = taker.byte().into();
    let urls = taker.list(|taker| taker.bytes());
    let (host, path) = agreed(&urls, cut);
    assert!(host.as_deref().is_none_or(|host| !host.is_empty() && !host.contains(['@', '/', '?', '#'])));
    assert!(path.as_deref().is_none_or(|path| path.starts_with('/') && !path.contains(['?', '#'])));
    let names = taker.list(Taker::text);
    let stems = names.iter();
    let said = |name: &String| !name.trim().is_empty();
    let clues = Clues {
        framework: taker.maybe(Taker::text).filter(said),
        test: taker.maybe(Taker::text).filter(said),
        path,
        host,
        label: taker.maybe(Taker::text).filter(|label| !label.is_empty()),
        stems: stems.filter(|name| !name.is_empty()).map(|name| stem(name).to_owned()).collect(),
        ..Clues::default()
    };
    let inferred = clues.infer();
    let (key, given) = (inferred.key, [&clues.framework, &clues.test]);
    for (given, name) in given.into_iter().zip([&key.framework, &key.test]) {
        assert_eq!(given.as_ref().unwrap_or(name), name);
        assert!(given.is_some() || !name.is_empty());
    }
    assert_eq!(inferred.notes.len(), given.into_iter().filter(|given| given.is_none()).count());
    let mut repeat = || u32::from_le_bytes(taker.number()).clamp(1, LAST_REPEAT);
    let (one, two) = (repeat(), repeat());
    let other = RunKey::new(taker.text(), taker.text()).with_repeat(two);
    check_names(&key.with_repeat(one), &other);
}
