//! Finds out if all requests of a run share one host and one URL path.

use std::ops::Range;

use perfpipe_model::sample::short_text::begins;
use perfpipe_model::sample::texts::clean_text;

/// The maximum number of bytes of a URL that are read: the part that names a test is no longer.
const URL: usize = 64 << 10;

/// A value that all items may agree on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Agreed {
    /// No item was seen yet.
    #[default]
    Nothing,
    /// All items have this value.
    One(Vec<u8>),
    /// The items differ.
    Many,
}

impl Agreed {
    #[inline]
    fn add(&mut self, value: &[u8]) {
        match self {
            Self::Nothing => *self = Self::One(value.to_vec()),
            Self::One(one) if one == value => {}
            Self::One(_) => *self = Self::Many,
            Self::Many => {}
        }
    }

    fn merge(&mut self, other: &Self) {
        match other {
            Self::Nothing => {}
            Self::One(value) => self.add(value),
            Self::Many => *self = Self::Many,
        }
    }

    /// The common value, if there is one and it is not empty.
    pub fn one(&self) -> Option<String> {
        match self {
            Self::One(value) if !value.is_empty() => Some(clean_text(value)),
            _ => None,
        }
    }
}

/// The hosts and paths of URLs, as far as they agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Endpoints {
    /// Host and port.
    pub host: Agreed,
    /// The path, without query and fragment.
    pub path: Agreed,
    last: LastUrl,
}

/// What may follow the known beginning of a URL whose host and path are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlRest {
    /// Any text.
    Anything,
    /// Nothing, or one of [`PATH_ENDS`].
    Query,
}

/// The bytes that begin the query and the fragment, after a path.
pub const PATH_ENDS: [u8; 2] = *b"?#";

/// The last URL that was parsed: one with the same beginning has the same host and path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct LastUrl {
    url: Vec<u8>,
    /// The length up to the slash after the host, with the slash; 0 if there is none.
    host: usize,
    /// The length up to the end of the path; 0 if there is no host.
    path: usize,
}

impl LastUrl {
    /// Returns true if a URL has the same host and path.
    #[inline]
    fn has_path_of(&self, url: &[u8]) -> bool {
        let path = self.url.get(..self.path).unwrap_or_default();
        !path.is_empty()
            && begins(url, path)
            && url.get(path.len()).is_none_or(|next| PATH_ENDS.contains(next))
    }

    /// Returns true if a URL has the same host.
    #[inline]
    fn has_host_of(&self, url: &[u8]) -> bool {
        let host = self.url.get(..self.host).unwrap_or_default();
        !host.is_empty() && begins(url, host)
    }
}

impl Endpoints {
    /// Adds a request's URL.
    #[inline]
    pub fn add(&mut self, url: &[u8]) {
        let url = url.get(..URL).unwrap_or(url);
        let is_known = match (&self.host, &self.path) {
            (Agreed::Many, Agreed::Many) => true,
            (_, Agreed::Many) => self.last.has_host_of(url),
            _ => self.last.has_path_of(url),
        };
        if !is_known {
            self.look(url);
        }
    }

    /// The prefix of URLs that add nothing new, and what may follow it; `None` if each URL has to be added.
    pub fn known(&self) -> Option<(&[u8], UrlRest)> {
        let head = |length: usize| self.last.url.get(..length).filter(|head| !head.is_empty());
        match (&self.host, &self.path) {
            (Agreed::Many, Agreed::Many) => Some((&[], UrlRest::Anything)),
            (_, Agreed::Many) => Some((head(self.last.host)?, UrlRest::Anything)),
            _ => Some((head(self.last.path)?, UrlRest::Query)),
        }
    }

    fn look(&mut self, url: &[u8]) {
        let (host, path) = split(url);
        self.host.add(url.get(host).unwrap_or_default());
        self.path.add(url.get(path.clone()).unwrap_or_default());
        self.last.url.clear();
        self.last.url.extend_from_slice(url);
        self.last.host = if path.is_empty() { 0 } else { path.start + 1 };
        self.last.path = path.end;
    }

    /// Merges the endpoints of another part of the run.
    pub fn merge(&mut self, other: &Self) {
        self.host.merge(&other.host);
        self.path.merge(&other.path);
    }
}

/// Finds host with port, and path, in `scheme://host:port/path?query#fragment`. Both are empty, and at 0, in other texts.
fn split(url: &[u8]) -> (Range<usize>, Range<usize>) {
    let Some(scheme) = memchr::memmem::find(url, b"://") else { return (0..0, 0..0) };
    let start = scheme + 3;
    let rest = url.get(start..).unwrap_or_default();
    let [query, fragment] = PATH_ENDS;
    let end = memchr::memchr2(query, fragment, rest).unwrap_or(rest.len());
    let rest = rest.get(..end).unwrap_or_default();
    let slash = memchr::memchr(b'/', rest).unwrap_or(end);
    // A user and a password are not part of the host and must not be stored.
    let at = memchr::memrchr(b'@', rest.get(..slash).unwrap_or_default());
    (start + at.map_or(0, |at| at + 1)..start + slash, start + slash..start + end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queries_do_not_make_paths_differ() {
        let mut endpoints = Endpoints::default();
        endpoints.add(b"http://u:p@a:80/x/2048?q=http://b/");
        endpoints.add(b"http://a:80/x/2048#top");
        assert_eq!(
            (endpoints.host.one(), endpoints.path.one()),
            (Some("a:80".into()), Some("/x/2048".into()))
        );
        let mut others = Endpoints::default();
        others.add(b"https://b/x/2048");
        endpoints.merge(&others);
        assert_eq!((endpoints.host.one(), endpoints.path.one()), (None, Some("/x/2048".into())));
        endpoints.add(b"null");
        assert_eq!(endpoints.path.one(), None);
    }

    proptest! {
        #[test]
        fn urls_tell_the_same_as_each_of_them_alone(
            urls in prop::collection::vec("(http://([uh]@)?(h|hh)(:1)?)?(/[ab]?){0,2}([?#](/|a|://b){0,2})?|(http:/)?/{0,2}h?", 1..6),
        ) {
            let (mut together, mut merged) = (Endpoints::default(), Endpoints::default());
            for url in &urls {
                let before = together.clone();
                together.add(url.as_bytes());
                let rest = before.known().and_then(|(begin, follows)| {
                    Some((url.as_bytes().strip_prefix(begin)?.first(), follows))
                });
                if rest.is_some_and(|(next, follows)| {
                    follows == UrlRest::Anything || next.is_none_or(|next| PATH_ENDS.contains(next))
                }) {
                    prop_assert_eq!((&together.host, &together.path), (&before.host, &before.path));
                }
                let mut alone = Endpoints::default();
                alone.add(url.as_bytes());
                merged.merge(&alone);
            }
            prop_assert_eq!((together.host, together.path), (merged.host, merged.path), "{:?}", urls);
        }
    }
}
