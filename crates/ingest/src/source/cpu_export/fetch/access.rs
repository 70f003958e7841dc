//! Secrets, and how a host is reached.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use perfpipe_model::error::secrets::Secrets;

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Secrets for a host, and how it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// A token of the API.
    pub token: Option<Secret>,
    /// The name and the password of a user, if there is no token.
    pub login: Option<(String, Secret)>,
    /// The URL of a proxy, which may contain a password.
    pub proxy: Option<Secret>,
    /// Certificates in PEM of authorities that are trusted besides those of the system.
    pub authorities: Vec<u8>,
    /// The environment variables that complete the URL of a database: those of PostgreSQL's own programs, `PGPASSWORD`
    /// among them, and `HOME` and `USER`.
    pub environment: BTreeMap<String, Secret>,
    /// The longest time of a request with its answer, or of all that is asked of a database.
    pub timeout: Duration,
    /// The time before the first of two repetitions of a request that failed; before the second it is twice as long.
    pub pause: Duration,
}

impl Access {
    /// Everything that no text may show.
    pub(super) fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        self.token.iter().for_each(|token| secrets.add(&token.0));
        self.login.iter().for_each(|(_, password)| secrets.add(&password.0));
        self.environment.get("PGPASSWORD").into_iter().for_each(|password| secrets.add(&password.0));
        if let Some((login, _)) = self.proxy.as_ref().and_then(|proxy| proxy.0.rsplit_once('@')) {
            let login = login.split_once("://").map_or(login, |(_, login)| login);
            let password = login.split_once(':').map_or(login, |(_, password)| password);
            secrets.add(password);
            secrets.add(&percent_decode_str(password).decode_utf8_lossy());
        }
        secrets
    }
}

impl Default for Access {
    fn default() -> Self {
        Self {
            token: None,
            login: None,
            proxy: None,
            authorities: Vec::new(),
            environment: BTreeMap::new(),
            timeout: Duration::from_secs(30),
            pause: Duration::from_millis(500),
        }
    }
}
