//! How a server that is gone without a word is noticed: `keepalives` and `tcp_user_timeout`, as libpq means them.

use std::time::Duration;

use tokio_postgres::Config;

use crate::error::Result;

use super::settings::{Settings, bad};

/// What TCP does on a connection on which nothing comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alive {
    /// Whether the other end is asked for a sign of life.
    asks: bool,
    /// Silence before the first question. The system's 2 hours would be long for a load that waits.
    idle: Duration,
    interval: Duration,
    count: u32,
    /// How long what was sent may be without an answer, or wait to be sent; the system's limit unless told.
    unanswered: Option<Duration>,
}

impl Default for Alive {
    fn default() -> Self {
        let (idle, interval) = (Duration::from_secs(60), Duration::from_secs(10));
        Self { asks: true, idle, interval, count: 6, unanswered: None }
    }
}

impl Alive {
    /// What the settings ask for; 0 or nothing is the default, as with libpq.
    pub(crate) fn resolve(settings: &Settings) -> Result<Self> {
        let usual = Self::default();
        let seconds = |name: &str| Ok(number(settings, name)?.map(|n| Duration::from_secs(u64::from(n))));
        Ok(Self {
            asks: settings.get("keepalives").is_none_or(|text| text.trim() != "0"),
            idle: seconds("keepalives_idle")?.unwrap_or(usual.idle),
            interval: seconds("keepalives_interval")?.unwrap_or(usual.interval),
            count: number(settings, "keepalives_count")?.unwrap_or(usual.count),
            unanswered: number(settings, "tcp_user_timeout")?.map(|ms| Duration::from_millis(u64::from(ms))),
        })
    }

    /// Puts them into the client's settings.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.keepalives(self.asks);
        config.keepalives_idle(self.idle).keepalives_interval(self.interval).keepalives_retries(self.count);
        if let Some(limit) = self.unanswered {
            config.tcp_user_timeout(limit);
        }
    }
}

/// A number that is more than 0.
fn number(settings: &Settings, name: &str) -> Result<Option<u32>> {
    let Some(text) = settings.get(name).map(|text| text.trim()).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let number: i32 =
        text.parse().map_err(|_| bad(name, "is not a whole number", "0 leaves it as it is by default."))?;
    Ok(u32::try_from(number).ok().filter(|number| *number > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(settings: &[(&str, &str)]) -> Result<Alive> {
        Alive::resolve(&settings.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect())
    }

    #[test]
    fn what_is_left_out_or_0_is_as_by_default() {
        assert_eq!(resolved(&[]).unwrap(), Alive::default());
        assert_eq!(
            resolved(&[("keepalives_idle", "0"), ("tcp_user_timeout", "-1")]).unwrap(),
            Alive::default()
        );
        assert!(!resolved(&[("keepalives", "0")]).unwrap().asks);
    }

    #[test]
    fn what_is_told_reaches_the_client() {
        let alive = resolved(&[
            ("keepalives_idle", "7"),
            ("keepalives_interval", "2"),
            ("keepalives_count", "3"),
            ("tcp_user_timeout", "1500"),
        ]);
        let mut config = Config::new();
        alive.unwrap().apply(&mut config);
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(7));
        assert_eq!(config.get_keepalives_interval(), Some(Duration::from_secs(2)));
        assert_eq!(config.get_keepalives_retries(), Some(3));
        assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_millis(1500)));
    }

    #[test]
    fn what_is_no_number_is_named() {
        let error = resolved(&[("keepalives_idle", "soon")]).unwrap_err();
        assert!(error.to_string().contains("keepalives_idle"), "{error}");
    }
}
