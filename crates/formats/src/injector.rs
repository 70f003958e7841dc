//! Names the injector that sent a request: by its log file, and by the Hostname column or threadName's prefix.

use std::borrow::Cow;

use regex_lite::Regex;

use crate::work_count;
use perfpipe_model::error::{Error, ErrorKind, Result};
use perfpipe_model::sample::short_text::{begins, same};
use perfpipe_model::sample::shorten::{TEXT_BYTES, shortened};
use perfpipe_model::sample::texts::Texts;

/// The code of an injector's name in a block, and true if the name was shortened.
pub type InjectorName = (u32, bool);

/// Names the injectors of samples. Each worker has its own.
#[derive(Debug, Clone, Default)]
pub struct Injectors {
    pattern: Option<Regex>,
    file: Option<String>,
    /// Hosts in this block, with the names of their injectors.
    hosts: Recent<InjectorName>,
    /// The name for records without a host, once one was found in this block.
    nameless: Option<InjectorName>,
    /// Beginnings of threadNames, up to and including the first byte that no host has. All threads of a group share
    /// their beginning.
    beginnings: Recent<ThreadPrefix>,
}

/// What follows from the beginning of a threadName.
#[derive(Debug, Clone, Copy)]
struct ThreadPrefix {
    /// Its own length.
    length: usize,
    /// The length of the host.
    host: usize,
    /// The name of the injector in this block, once it was looked up.
    name: Option<InjectorName>,
}

impl Injectors {
    /// Finds hosts in threadName by a pattern, or by JMeter's own prefix if `None`.
    ///
    /// # Errors
    /// When the pattern is not a regular expression.
    pub fn new(pattern: Option<&str>) -> Result<Self> {
        let pattern = pattern.map(Regex::new).transpose().map_err(|error| {
            Error::usage(
                ErrorKind::InjectorPattern,
                format!("the pattern of injectors is not a regular expression: {error}"),
                "Write one whose first group, or whole match, is the host, as in '^(load-[a-z]+)-'.",
            )
        })?;
        Ok(Self { pattern, ..Self::default() })
    }

    /// Begins a block. `file` names its log if the run has several.
    pub fn start_block(&mut self, file: Option<&str>) {
        self.file = file.map(str::to_owned);
        self.hosts = Recent::default();
        self.nameless = None;
        self.beginnings.values().for_each(|beginning| beginning.name = None);
    }

    /// The code in this block for records without a host; [`Texts::NULL`] if there are none.
    pub fn nameless(&self) -> u32 {
        self.nameless.map_or(Texts::NULL, |(code, _)| code)
    }

    /// Appends the injector of a sample to the column. Returns true if its name was too long and was shortened.
    #[inline]
    pub fn push(&mut self, hostname: Option<&[u8]>, thread: &[u8], column: &mut Texts) -> bool {
        let (code, cut) = match (hostname, &self.pattern) {
            (Some(host), _) => self.of_host(host, column),
            (None, Some(pattern)) => self.of_host(by_pattern(pattern, thread), column),
            (None, None) => self.of_thread(thread, column),
        };
        column.push_code(code);
        cut
    }

    /// The name of the injector of a threadName.
    #[inline]
    fn of_thread(&mut self, thread: &[u8], column: &mut Texts) -> InjectorName {
        let known = self.beginnings.find(thread, begins).copied();
        match known {
            Some(ThreadPrefix { name: Some(name), .. }) => name,
            Some(ThreadPrefix { host, name: None, .. }) => {
                let name = self.of_host(thread.get(..host).unwrap_or_default(), column);
                if let Some(known) = self.beginnings.find(thread, begins) {
                    known.name = Some(name);
                }
                name
            }
            None => self.of_new_thread(thread, column),
        }
    }

    /// The name of the injector of a threadName in a record without Hostname, and the length of the prefix that
    /// determines it: any other threadName with that prefix has the same injector. `None` if no prefix does.
    pub fn of_thread_prefix(&mut self, thread: &[u8], column: &mut Texts) -> Option<(InjectorName, usize)> {
        if self.pattern.is_some() {
            return None;
        }
        let name = self.of_thread(thread, column);
        self.beginnings.find(thread, begins).map(|beginning| (name, beginning.length))
    }

    /// Appends `n` samples of which neither host nor thread is known. Returns true if the name of their injector was too
    /// long and was shortened.
    pub fn push_nameless(&mut self, n: usize, column: &mut Texts) -> bool {
        let Some(others) = n.checked_sub(1) else { return false };
        let cut = self.push(None, b"", column);
        column.push_run(self.nameless(), others);
        cut
    }

    /// The name of the injector of a threadName that begins differently from the recent ones.
    fn of_new_thread(&mut self, thread: &[u8], column: &mut Texts) -> InjectorName {
        let end = thread.iter().position(|byte| !is_of_host(byte));
        let host = prefix(thread.get(..end.unwrap_or(thread.len())).unwrap_or_default());
        let name = self.of_host(host, column);
        if let Some(beginning) = end.and_then(|end| thread.get(..=end)) {
            let (length, host) = (beginning.len(), host.len());
            self.beginnings.add(beginning, ThreadPrefix { length, host, name: Some(name) });
        }
        name
    }

    /// The name of the injector on a host.
    pub fn of_host(&mut self, host: &[u8], column: &mut Texts) -> InjectorName {
        if host.is_empty() {
            if let Some(name) = self.nameless {
                return name;
            }
        } else if let Some(name) = self.hosts.find(host, same) {
            return *name;
        }
        let name = self.name(host, column);
        match host {
            [] => self.nameless = Some(name),
            host => self.hosts.add(host, name),
        }
        name
    }

    /// Adds an injector's name to the column. Returns its code, and true if the name was shortened.
    fn name(&self, host: &[u8], column: &mut Texts) -> InjectorName {
        let name: Cow<'_, [u8]> = match (&self.file, host) {
            (None, []) => return (Texts::NULL, false),
            (None, host) => host.into(),
            (Some(file), []) => file.as_bytes().into(),
            (Some(file), host) => [file.as_bytes(), b"/", host].concat().into(),
        };
        match shortened(&name, TEXT_BYTES) {
            None => (column.code(&name), false),
            Some(short) => (column.code(short.as_bytes()), true),
        }
    }
}

/// Returns true if the byte may be part of a host name, an address or a port.
fn is_of_host(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'[' | b']' | b':')
}

/// Finds the host in the leading bytes of a threadName that a host may consist of: `host:port-` or an IPv4 address and
/// `-`, followed by anything. Empty if there is none.
fn prefix(candidate: &[u8]) -> &[u8] {
    memchr::memchr_iter(b'-', candidate)
        .map(|dash| candidate.get(..dash).unwrap_or_default())
        .find(|host| has_port(host) || is_ipv4(host))
        .unwrap_or_default()
}

/// Returns true if a threadName begins with a host, as JMeter's own remote engines have it.
pub fn names_host(thread: &[u8]) -> bool {
    let end = thread.iter().position(|byte| !is_of_host(byte)).unwrap_or(thread.len());
    !prefix(thread.get(..end).unwrap_or_default()).is_empty()
}

/// Returns true if a text ends in a colon and a port, before which there is more. It is asked for each dash of a name, so
/// what is before the port's digits is not gone through.
fn has_port(host: &[u8]) -> bool {
    let digits = host.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    work_count::count(digits + 1);
    let before = host.get(..host.len() - digits).unwrap_or_default();
    digits > 0 && before.len() > 1 && before.ends_with(b":")
}

/// The longest address.
const IPV4: usize = "255.255.255.255".len();

fn is_ipv4(host: &[u8]) -> bool {
    host.len() <= IPV4
        && std::str::from_utf8(host).is_ok_and(|host| host.parse::<std::net::Ipv4Addr>().is_ok())
}

fn by_pattern<'a>(pattern: &Regex, thread: &'a [u8]) -> &'a [u8] {
    let found = std::str::from_utf8(thread).ok().and_then(|thread| pattern.captures(thread));
    found
        .and_then(|captures| captures.get(1).or_else(|| captures.get(0)))
        .map(|found| found.as_str().as_bytes())
        .unwrap_or_default()
}

/// A direct-mapped cache of values by recent keys, indexed by four bytes of the key. Injectors alternate in no
/// predictable order, so comparing one key after another would cost a mispredicted branch for every other sample.
#[derive(Debug, Clone)]
struct Recent<T> {
    all: Vec<(Vec<u8>, T)>,
    /// The index of the key that has these bytes, by [`place`].
    by_place: [u8; PLACES],
    /// The index of those bytes in a key, and the number of keys that it was chosen for.
    from: usize,
    chosen_for: usize,
}

/// The maximum number of recent keys: enough for the injectors of most tests, few enough to be compared one by one where
/// their bytes do not distinguish them.
const RECENT: usize = 16;

const PLACES: usize = 64;

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { all: Vec::new(), by_place: [0; PLACES], from: 0, chosen_for: 0 }
    }
}

impl<T> Recent<T> {
    /// Returns the value of the key that `is` accepts for this text. A key is equal to the text, or a prefix of it.
    #[inline]
    fn find(&mut self, text: &[u8], is: impl Fn(&[u8], &[u8]) -> bool) -> Option<&mut T> {
        let known = |at: usize| self.all.get(at).is_some_and(|(key, _)| is(text, key));
        let place = place(text, self.from).and_then(|place| self.by_place.get(place));
        let mut at = usize::from(place.copied().unwrap_or_default());
        if !known(at) {
            at = (0..self.all.len()).find(|at| known(*at))?;
        }
        self.all.get_mut(at).map(|(_, value)| value)
    }

    /// Adds a key that is not known. If there are too many, all others are forgotten.
    fn add(&mut self, key: &[u8], value: T) {
        if self.all.len() >= RECENT {
            self.all.clear();
        }
        self.all.push((key.to_vec(), value));
        // Once for each number of keys, so that more keys than are remembered cost no choice each.
        if self.all.len() > self.chosen_for {
            self.chosen_for = self.all.len();
            self.choose();
        } else {
            self.put(self.all.len() - 1);
        }
    }

    /// All values.
    fn values(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.iter_mut().map(|(_, value)| value)
    }

    /// Chooses the index of the bytes that distinguish most keys.
    fn choose(&mut self) {
        let longest = self.all.iter().map(|(key, _)| key.len()).max().unwrap_or_default();
        let distinguished = |from: &usize| {
            let places = self.all.iter().filter_map(|(key, _)| place(key, *from));
            places.fold(0_u64, |seen, place| seen | (1 << place)).count_ones()
        };
        // The last of the best, since similar names differ at their ends.
        self.from = (0..longest).max_by_key(distinguished).unwrap_or_default();
        (0..self.all.len()).for_each(|at| self.put(at));
    }

    /// Notes where a key is found.
    fn put(&mut self, at: usize) {
        let place = self.all.get(at).and_then(|(key, _)| place(key, self.from));
        if let Some(by_place) = place.and_then(|place| self.by_place.get_mut(place)) {
            *by_place = at as u8;
        }
    }
}

/// Returns the slot of a text by its four bytes from an index on, if it has them.
#[inline]
fn place(text: &[u8], from: usize) -> Option<usize> {
    let bytes = text.get(from..)?.first_chunk::<4>()?;
    // The upper bits of a product depend on all of its factor's.
    Some((u32::from_le_bytes(*bytes).wrapping_mul(0x9E37_79B1) >> (u32::BITS - PLACES.ilog2())) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use perfpipe_model::sample::short_text::begins;

    fn names(injectors: &mut Injectors, file: Option<&str>, threads: &[&str]) -> Vec<Option<String>> {
        let mut column = Texts::default();
        injectors.start_block(file);
        for thread in threads {
            assert!(!injectors.push(None, thread.as_bytes(), &mut column));
        }
        (0..threads.len()).map(|row| column.get(row).map(str::to_owned)).collect()
    }

    #[test]
    fn prefix_names_the_injector() {
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            names(
                &mut Injectors::default(),
                None,
                &[
                    "127.0.0.2:1100-Thread Group 1-7",
                    "10.0.0.1-Thread Group 1-7",
                    "load-gen-1:1099-TG 1-1",
                    "[::1]:1099-TG 1-1",
                    "bzm - Concurrency Thread Group-ThreadStarter 1-1",
                    "Thread-1-2",
                    "",
                ]
            ),
            [
                some("127.0.0.2:1100"),
                some("10.0.0.1"),
                some("load-gen-1:1099"),
                some("[::1]:1099"),
                None,
                None,
                None
            ]
        );
    }

    proptest! {
        #[test]
        fn more_injectors_than_are_remembered_keep_their_names(hosts in vec(0..40u8, 0..200), columns: bool) {
            let mut injectors = Injectors::default();
            for _ in 0..2 {
                let mut column = Texts::default();
                injectors.start_block(None);
                for host in &hosts {
                    let (host, thread) = (format!("10.0.0.{host}"), format!("10.0.0.{host}-Thread Group 1-7"));
                    let hostname = columns.then_some(host.as_bytes());
                    prop_assert!(!injectors.push(hostname, thread.as_bytes(), &mut column));
                }
                for (row, host) in hosts.iter().enumerate() {
                    prop_assert_eq!(column.get(row), Some(&*format!("10.0.0.{host}")));
                }
            }
        }

        #[test]
        fn threads_before_make_no_difference(
            threads in vec("(10\\.0\\.0\\.[12]|a:1|ab?|)(-|)(TG|T-G|b:2-|)( 1-[12]|)", 0..12),
        ) {
            let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
            let alone = threads.iter().flat_map(|thread| names(&mut Injectors::default(), None, &[thread]));
            prop_assert_eq!(names(&mut Injectors::default(), None, &threads), alone.collect::<Vec<_>>());
        }
    }

    #[test]
    fn files_and_patterns_name_injectors_too() {
        let mut injectors = Injectors::new(Some("^(load-[a-z]+)-")).unwrap();
        assert_eq!(
            names(&mut injectors, Some("east"), &["load-a-TG 1", "TG 1"]),
            [Some("east/load-a".into()), Some("east".into())]
        );
        assert!(Injectors::new(Some("(")).is_err());
    }

    proptest! {
        #[test]
        fn known_key_is_found_by_how_a_text_begins(
            keys in vec("(a|ab|10\\.0\\.0\\.[0-9]{1,2}|host-[a-f]-[a-z]{0,9})", 0..40),
        ) {
            let mut recent = Recent::default();
            let mut known = Vec::new();
            for key in keys {
                let key = format!("{key} ");
                let text = format!("{key}group 1-7");
                let expected = known.iter().position(|other| *other == key).map(|at| at.to_string());
                prop_assert_eq!(recent.find(text.as_bytes(), begins).cloned(), expected.clone());
                if expected.is_none() {
                    if known.len() == RECENT {
                        known.clear();
                    }
                    recent.add(key.as_bytes(), known.len().to_string());
                    known.push(key);
                }
                prop_assert_eq!(recent.values().count(), known.len());
            }
        }
    }

    #[test]
    fn bytes_that_differ_are_chosen() {
        let mut recent = Recent::default();
        for host in ["10.0.0.1-east ", "setUp ", "10.0.0.2-east ", "10.0.0.3-east ", "10.0.1.1-east "] {
            recent.add(host.as_bytes(), host);
        }
        let found = |host: &str| place(host.as_bytes(), recent.from).map(|place| recent.by_place[place]);
        let hosts = ["10.0.0.1-east 1", "10.0.0.2-east 2", "10.0.0.3-east 3", "10.0.1.1-east 4"];
        assert_eq!(hosts.map(found), [Some(0), Some(2), Some(3), Some(4)]);
    }
}
