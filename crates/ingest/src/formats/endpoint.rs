//! Finds out if all requests of a run share one host and one URL path.

use crate::sample::texts::clean_text;

/// The maximum number of bytes of a URL that are read: the part that names a test is no longer.
const URL: usize = 64 << 10;

/// A value that all items may agree on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Agreed {
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
    pub(crate) fn one(&self) -> Option<String> {
        match self {
            Self::One(value) if !value.is_empty() => Some(clean_text(value)),
            _ => None,
        }
    }
}

/// The hosts and paths of URLs, as far as they agree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Endpoints {
    /// Host and port.
    pub(crate) host: Agreed,
    /// The path, without query and fragment.
    pub(crate) path: Agreed,
    last: Option<Vec<u8>>,
}

impl Endpoints {
    /// Adds a request's URL.
    #[inline]
    pub(crate) fn add(&mut self, url: &[u8]) {
        let url = url.get(..URL).unwrap_or(url);
        let settled = self.host == Agreed::Many && self.path == Agreed::Many;
        if !settled && self.last.as_deref() != Some(url) {
            self.look(url);
        }
    }

    fn look(&mut self, url: &[u8]) {
        let (host, path) = split(url);
        self.host.add(host);
        self.path.add(path);
        self.last = Some(url.to_vec());
    }

    /// Merges the endpoints of another part of the run.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.host.merge(&other.host);
        self.path.merge(&other.path);
    }
}

/// Splits `scheme://host:port/path?query#fragment` into host with port, and path. Both are empty for other texts.
fn split(url: &[u8]) -> (&[u8], &[u8]) {
    let Some(scheme) = memchr::memmem::find(url, b"://") else { return (&[], &[]) };
    let rest = url.get(scheme + 3..).unwrap_or_default();
    let end = memchr::memchr2(b'?', b'#', rest).unwrap_or(rest.len());
    let rest = rest.get(..end).unwrap_or_default();
    let (host, path) = rest.split_at(memchr::memchr(b'/', rest).unwrap_or(rest.len()));
    // A user and a password are not part of the host and must not be stored.
    let host = host.rsplit(|byte| *byte == b'@').next().unwrap_or_default();
    (host, path)
}

#[cfg(test)]
mod tests {
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
}
