//! Detects unresponsive servers: the settings `keepalives` and `tcp_user_timeout`, with the meaning that libpq gives
//! them.

use std::time::Duration;

use tokio_postgres::Config;

use crate::error::Result;

use super::settings::{Settings, bad};

/// The TCP settings for idle connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeepaliveSettings {
    /// True if keepalive probes are sent.
    asks: bool,
    /// The idle time before the first probe. The system's default of 2 hours is too long for a waiting load.
    idle: Duration,
    interval: Duration,
    count: u32,
    /// The maximum time that sent data may stay unacknowledged or unsent; `None` for the system's limit.
    unanswered: Option<Duration>,
}

impl Default for KeepaliveSettings {
    fn default() -> Self {
        let (idle, interval) = (Duration::from_secs(60), Duration::from_secs(10));
        Self { asks: true, idle, interval, count: 6, unanswered: None }
    }
}

impl KeepaliveSettings {
    /// Reads the settings. As in libpq, 0 and empty values mean the default.
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

    /// Applies them to the client's configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.keepalives(self.asks);
        config.keepalives_idle(self.idle).keepalives_interval(self.interval).keepalives_retries(self.count);
        if let Some(limit) = self.unanswered {
            config.tcp_user_timeout(limit);
        }
    }
}

/// Parses an integer setting; `None` if it is missing or not positive.
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

    fn resolved(settings: &[(&str, &str)]) -> Result<KeepaliveSettings> {
        KeepaliveSettings::resolve(
            &settings.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
        )
    }

    #[test]
    fn setting_left_out_or_0_is_the_default() {
        assert_eq!(resolved(&[]).unwrap(), KeepaliveSettings::default());
        assert_eq!(
            resolved(&[("keepalives_idle", "0"), ("tcp_user_timeout", "-1")]).unwrap(),
            KeepaliveSettings::default()
        );
        assert!(!resolved(&[("keepalives", "0")]).unwrap().asks);
    }

    #[test]
    fn settings_reach_the_client() {
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
    fn setting_that_is_no_number_is_refused() {
        let error = resolved(&[("keepalives_idle", "soon")]).unwrap_err();
        assert!(error.to_string().contains("keepalives_idle"), "{error}");
    }
}
