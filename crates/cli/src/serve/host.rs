//! Which `Host` headers name this machine.

use std::net::{IpAddr, Ipv6Addr};

use hyper::header::HeaderValue;
use hyper::{Request, header};

/// Returns true if the one `Host` header of a request that came in at a local address names this machine. A site that lets
/// its own name point to this machine is refused, so that its scripts can't read the pages.
pub(super) fn is_asked_by_own_name<B>(request: &Request<B>, local: IpAddr) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next().map(HeaderValue::to_str), hosts.next()) {
        (Some(Ok(host)), None) => is_own_host(host, local),
        _ => false,
    }
}

/// Returns true for `localhost`, a loopback address, and the address at which the connection came in.
fn is_own_host(host: &str, local: IpAddr) -> bool {
    let Some(name) = without_port(host) else { return false };
    let is_own = |address: IpAddr| address.is_loopback() || address == local.to_canonical();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_own)
}

/// Returns a host without its port, and an IPv6 address without its brackets; `None` if it is none.
fn without_port(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(address) => {
            let (address, rest) = address.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (address, rest)
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        let local: IpAddr = "192.0.2.7".parse().unwrap();
        for host in [
            "localhost",
            "localhost:",
            "LOCALHOST:8090",
            "[::1]",
            "127.0.0.1:8090",
            "127.8.8.8",
            "[::1]:80",
            "192.0.2.7:8090",
        ] {
            assert!(is_own_host(host, local), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:80",
            "192.0.2.8",
            "[::1]evil.example",
            "[::1]:80.evil.example",
            "[::1",
            "[localhost]",
            "[127.0.0.1]",
            "localhost:x@evil.example",
            "localhost:80@evil.example",
            "evil.example@localhost",
            "localhost:80:80",
        ] {
            assert!(!is_own_host(host, local), "{host}");
        }
        assert!(is_own_host("192.0.2.7", "::ffff:192.0.2.7".parse().unwrap()));
    }
}
