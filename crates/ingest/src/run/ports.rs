//! The frameworks under test by port: load-test scripts know a framework by its port.

use std::collections::BTreeMap;

/// The names of frameworks by the port on which each was tested.
///
/// ```
/// use perfpipe_ingest::run::Frameworks;
///
/// let frameworks: Frameworks = [(8181, "perfectnio".to_owned())].into_iter().collect();
/// assert_eq!(frameworks.on_port(8181), Some("perfectnio"));
/// assert_eq!(frameworks.on_port(9000), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frameworks(BTreeMap<u16, String>);

impl Frameworks {
    /// The framework that was tested on a port.
    pub fn on_port(&self, port: u16) -> Option<&str> {
        self.0.get(&port).map(String::as_str)
    }

    /// Returns true if no port has a name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(u16, String)> for Frameworks {
    fn from_iter<I: IntoIterator<Item = (u16, String)>>(ports: I) -> Self {
        Self(ports.into_iter().collect())
    }
}
