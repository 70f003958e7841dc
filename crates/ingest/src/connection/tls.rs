//! Encryption: the meaning of `sslmode`, and the trusted certificates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Error, ErrorKind, Place, Result};

use super::certificate::Certificate;
use super::settings::{Settings, bad};
use super::verifier::{ServerVerifier, TrustedCertificates};

/// The maximum size of a file of certificates, in bytes: all public authorities take a fraction of it.
const LARGEST: u64 = 16 << 20;

/// The values of `sslmode`, with their meaning in libpq.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SslMode {
    /// Never encrypted.
    Disable,
    /// Encrypted only if the server requires it.
    Allow,
    /// Encrypted if the server supports it.
    Prefer,
    /// Encrypted; any server is accepted.
    Require,
    /// Encrypted; the certificate must be signed by a trusted authority.
    VerifyCa,
    /// Encrypted; the certificate must also match the host.
    VerifyFull,
}

/// The source of trusted certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrustRoots {
    /// None; certificates are not checked.
    None,
    /// The operating system.
    System,
    /// A PEM file.
    File(PathBuf),
}

/// Resolves the settings `sslmode` and `sslrootcert`.
pub(crate) fn resolve(settings: &Settings, home: Option<&Path>) -> Result<(SslMode, TrustRoots)> {
    let told = settings.get("sslrootcert").map(String::as_str);
    let mode = settings.get("sslmode").map(|mode| parse_mode(mode)).transpose()?;
    if told == Some("system") {
        return match mode.unwrap_or(SslMode::VerifyFull) {
            SslMode::VerifyFull => Ok((SslMode::VerifyFull, TrustRoots::System)),
            _ => Err(bad(
                "sslrootcert",
                "is system, which needs sslmode=verify-full",
                "Set sslmode=verify-full too.",
            )),
        };
    }
    let usual = home.map(|home| home.join(".postgresql/root.crt")).filter(|path| path.exists());
    let roots = told.map(PathBuf::from).or(usual).map_or(TrustRoots::None, TrustRoots::File);
    match (mode.unwrap_or(SslMode::Prefer), roots) {
        (SslMode::VerifyCa | SslMode::VerifyFull, TrustRoots::None) => Err(bad(
            "sslmode",
            "asks to verify the server, but no trusted certificate is given",
            "Set sslrootcert=FILE, or sslrootcert=system for the operating system's.",
        )),
        // As in libpq, the server is verified if a root certificate exists.
        (SslMode::Require, roots @ TrustRoots::File(_)) => Ok((SslMode::VerifyCa, roots)),
        (mode, roots) => Ok((mode, roots)),
    }
}

fn parse_mode(mode: &str) -> Result<SslMode> {
    match mode {
        "disable" => Ok(SslMode::Disable),
        "allow" => Ok(SslMode::Allow),
        "prefer" => Ok(SslMode::Prefer),
        "require" => Ok(SslMode::Require),
        "verify-ca" => Ok(SslMode::VerifyCa),
        "verify-full" => Ok(SslMode::VerifyFull),
        _ => Err(bad(
            "sslmode",
            format!("is {mode:?}, which does not exist"),
            "It can be disable, allow, prefer, require, verify-ca or verify-full.",
        )),
    }
}

/// Creates the TLS client that checks a server's certificate as the mode requires.
pub(crate) fn connector(mode: SslMode, roots: &TrustRoots) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::store("preparing TLS", e))?;
    let config = match (mode, roots) {
        (SslMode::VerifyFull, TrustRoots::System) => builder.with_root_certificates(system_roots()?),
        (SslMode::VerifyCa | SslMode::VerifyFull, _) => {
            let named = mode == SslMode::VerifyFull;
            let check = ServerVerifier { trusted: Some(trusted(roots)?), named, provider };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(check))
        }
        _ => {
            let check = ServerVerifier { trusted: None, named: false, provider };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(check))
        }
    };
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

/// Returns the trusted certificates of the operating system.
fn system_roots() -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() { Err(no_roots()) } else { Ok(store) }
}

/// Reads the trusted certificates of a file, if one is named.
fn trusted(roots: &TrustRoots) -> Result<TrustedCertificates> {
    let TrustRoots::File(path) = roots else { return Err(no_roots()) };
    let unusable = |why: &dyn std::fmt::Display| {
        Error::input(
            ErrorKind::Certificates,
            Place::file(path),
            format!("not usable as trusted certificates: {why}"),
            "Set sslrootcert to a PEM file of the authority that signed the server's certificate.",
        )
    };
    let found = std::fs::metadata(path).map_err(|e| unusable(&e))?;
    if !found.is_file() || found.len() > LARGEST {
        return Err(unusable(&format!("it is no plain file of at most {} MiB", LARGEST >> 20)));
    }
    let mut trusted = TrustedCertificates { authorities: RootCertStore::empty(), known: Vec::new() };
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| unusable(&e))? {
        let certificate = certificate.map_err(|e| unusable(&e))?;
        let added = trusted.authorities.add(certificate.clone());
        // A certificate that is not accepted as an authority's may still be the server's own.
        if Certificate::read(&certificate).is_none() {
            added.map_err(|e| unusable(&e))?;
        }
        trusted.known.push(certificate);
    }
    if trusted.known.is_empty() { Err(no_roots()) } else { Ok(trusted) }
}

fn no_roots() -> Error {
    bad("sslrootcert", "names no certificate", "Name a PEM file with at least one.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(settings: &[(&str, &str)]) -> Result<(SslMode, TrustRoots)> {
        let settings = settings.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        resolve(&settings, None)
    }

    #[test]
    fn sslmode_means_what_libpq_means() {
        let file = TrustRoots::File("ca.pem".into());
        assert_eq!(resolved(&[]).unwrap(), (SslMode::Prefer, TrustRoots::None));
        for (text, mode) in [
            ("disable", SslMode::Disable),
            ("allow", SslMode::Allow),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
        ] {
            assert_eq!(resolved(&[("sslmode", text)]).unwrap(), (mode, TrustRoots::None));
        }
        for (text, mode) in [
            ("require", SslMode::VerifyCa),
            ("verify-ca", SslMode::VerifyCa),
            ("verify-full", SslMode::VerifyFull),
        ] {
            let found = resolved(&[("sslmode", text), ("sslrootcert", "ca.pem")]).unwrap();
            assert_eq!(found, (mode, file.clone()));
        }
    }

    #[test]
    fn systems_roots_go_with_verify_full_alone() {
        let full = (SslMode::VerifyFull, TrustRoots::System);
        assert_eq!(resolved(&[("sslrootcert", "system")]).unwrap(), full);
        assert_eq!(resolved(&[("sslrootcert", "system"), ("sslmode", "verify-full")]).unwrap(), full);
        assert!(resolved(&[("sslrootcert", "system"), ("sslmode", "require")]).is_err());
    }

    #[test]
    fn server_that_can_not_be_verified_is_refused() {
        assert!(
            resolved(&[("sslmode", "verify-full")]).unwrap_err().remedy().unwrap().contains("sslrootcert")
        );
        assert!(resolved(&[("sslmode", "verify-ca")]).is_err());
        assert!(resolved(&[("sslmode", "tls")]).is_err());
    }
}
