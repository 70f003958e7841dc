//! The names by which a page may be asked for. A site that lets its own name point to this machine is refused by them, so
//! that its scripts can't read the page.

use std::net::IpAddr;

/// Returns true if a `Host` header names this machine: as `localhost`, by a loopback address, or by the address at which
/// the connection came in.
pub(super) fn is_own(host: &str, local: IpAddr) -> bool {
    let name = without_port(host);
    let is_own = |address: IpAddr| address.is_loopback() || address == local.to_canonical();
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_own)
}

/// Returns a host without its port, and an IPv6 address without its brackets.
fn without_port(host: &str) -> &str {
    if let Some((address, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    host.split_once(':').map_or(host, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        let local: IpAddr = "192.0.2.7".parse().unwrap();
        for host in
            ["localhost", "LOCALHOST:8090", "127.0.0.1:8090", "127.8.8.8", "[::1]:80", "192.0.2.7:8090"]
        {
            assert!(is_own(host, local), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "192.0.2.8"] {
            assert!(!is_own(host, local), "{host}");
        }
        assert!(is_own("192.0.2.7", "::ffff:192.0.2.7".parse().unwrap()));
    }
}
