//! The proxy to a source of readings, by the usual variables.

use perfpipe_ingest::source::ReadingsSource;

/// Returns the URL of the proxy to a source, by the usual variables in either case.
pub(super) fn proxy(source: &ReadingsSource, environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let of = |name: &str| environment(name).or_else(|| environment(&name.to_uppercase()));
    let host = source.host().rsplit_once(':').map_or(source.host(), |(host, _)| host);
    let excluded = |pattern: &str| {
        let bare = pattern.trim().trim_start_matches("*.").trim_start_matches('.');
        pattern.trim() == "*" || !bare.is_empty() && (host == bare || host.ends_with(&format!(".{bare}")))
    };
    if of("no_proxy").is_some_and(|list| list.split(',').any(excluded)) {
        return None;
    }
    let own = if source.is_encrypted() { of("https_proxy") } else { of("http_proxy") };
    own.or_else(|| of("all_proxy"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxy_is_that_of_the_scheme_unless_the_host_is_excluded() {
        let of = |url: &str, set: &[(&str, &str)]| {
            let find =
                |name: &str| set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
            proxy(&url.parse().unwrap(), &find)
        };
        let (plain, secure) = ("prometheus+http://mon.lan:9090?query=a", "zabbix+https://mon.lan?itemid=1");
        let set = [("http_proxy", "http://a"), ("HTTPS_PROXY", "http://b")];
        assert_eq!(
            (of(plain, &set).as_deref(), of(secure, &set).as_deref()),
            (Some("http://a"), Some("http://b"))
        );
        assert_eq!(of(secure, &[("all_proxy", "http://c")]).as_deref(), Some("http://c"));
        for list in ["*", "mon.lan", "x,.lan", "*.lan"] {
            assert_eq!(of(plain, &[("http_proxy", "http://a"), ("no_proxy", list)]), None, "{list}");
        }
        assert!(of(plain, &[("http_proxy", "http://a"), ("no_proxy", "on.lan")]).is_some());
    }
}
