//! Encryption: the meaning of `sslmode`, the trusted certificates, and the verification of the server's certificate as libpq
//! does it, which accepts more forms of certificates than rustls.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::settings::{Settings, bad};
use perfpipe_model::error::{Error, ErrorKind, Place, Result};

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
    let given = settings.get("sslrootcert").map(String::as_str);
    let mode = settings.get("sslmode").map(|mode| parse_mode(mode)).transpose()?;
    if given == Some("system") {
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
    let roots = given.map(PathBuf::from).or(usual).map_or(TrustRoots::None, TrustRoots::File);
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

/// The trusted certificates.
#[derive(Debug)]
struct TrustedCertificates {
    /// The certificates that may have signed others.
    pub(crate) authorities: RootCertStore,
    /// The same certificates as given. The server may present one of them as its own.
    pub(crate) known: Vec<CertificateDer<'static>>,
}

/// Checks a server's certificate against the trusted ones.
#[derive(Debug)]
struct ServerVerifier {
    /// The trusted certificates. Without them every certificate is accepted.
    pub(crate) trusted: Option<TrustedCertificates>,
    /// True if the certificate must also match the host.
    pub(crate) named: bool,
    pub(crate) provider: Arc<CryptoProvider>,
}

impl ServerVerifier {
    /// Checks that a signature was made with the key of a certificate of any form.
    fn check_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let certificate = Certificate::read(certificate).ok_or(CertificateError::BadEncoding)?;
        let mapping = self.provider.signature_verification_algorithms.mapping;
        let of_scheme = mapping.iter().filter(|(scheme, _)| *scheme == signed.scheme);
        let fits = of_scheme.flat_map(|(_, algorithms)| algorithms.iter()).any(|algorithm| {
            algorithm.public_key_alg_id().as_ref() == certificate.algorithm
                && algorithm.verify_signature(certificate.key, message, signed.signature()).is_ok()
        });
        if fits {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
        }
    }
}

/// Returns true for schemes that TLS 1.3 does not allow.
fn is_older(scheme: SignatureScheme) -> bool {
    use SignatureScheme as Scheme;
    [Scheme::RSA_PKCS1_SHA1, Scheme::RSA_PKCS1_SHA256, Scheme::RSA_PKCS1_SHA384, Scheme::RSA_PKCS1_SHA512]
        .contains(&scheme)
}

impl ServerCertVerifier for ServerVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let Some(trusted) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        if trusted.known.iter().any(|known| known == certificate) {
            check_time(certificate, now)?;
        } else {
            let algorithms = self.provider.signature_verification_algorithms.all;
            let parsed = ParsedCertificate::try_from(certificate)?;
            verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &trusted.authorities,
                intermediates,
                now,
                algorithms,
            )?;
        }
        if self.named {
            check_name(certificate, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
            .or_else(|_| self.check_signature(message, certificate, signed))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms).or_else(|error| {
            if is_older(signed.scheme) {
                Err(error)
            } else {
                self.check_signature(message, certificate, signed)
            }
        })
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Fails if the certificate is not valid at this time.
fn check_time(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), TlsError> {
    let read = Certificate::read(certificate).and_then(|read| read.validity());
    let (from, until) = read.ok_or(CertificateError::BadEncoding)?;
    let seconds = i64::try_from(now.as_secs()).map_err(|_| TlsError::FailedToGetCurrentTime)?;
    let now = jiff::Timestamp::from_second(seconds).map_err(|_| TlsError::FailedToGetCurrentTime)?;
    let now = now.strftime("%Y%m%d%H%M%S").to_string();
    match () {
        () if now < from => Err(CertificateError::NotValidYet.into()),
        () if now > until => Err(CertificateError::Expired.into()),
        () => Ok(()),
    }
}

/// Fails if the certificate is not for this host. One without alternative names is checked by its common name.
fn check_name(certificate: &CertificateDer<'_>, host: &ServerName<'_>) -> Result<(), TlsError> {
    let common_name = Certificate::read(certificate).and_then(|read| read.common_name());
    match common_name {
        Some(name) if matches_host(name, &host.to_str()) => Ok(()),
        Some(name) => {
            let (expected, presented) = (host.to_owned(), vec![name.to_owned()]);
            Err(CertificateError::NotValidForNameContext { expected, presented }.into())
        }
        None => verify_server_name(&ParsedCertificate::try_from(certificate)?, host),
    }
}

/// DER tags.
mod tag {
    pub(super) const BITS: u8 = 0x03;
    pub(super) const OBJECT: u8 = 0x06;
    pub(super) const SHORT_TIME: u8 = 0x17;
    pub(super) const LONG_TIME: u8 = 0x18;
    pub(super) const SEQUENCE: u8 = 0x30;
    pub(super) const SET: u8 = 0x31;
    pub(super) const VERSION: u8 = 0xa0;
    pub(super) const EXTENSIONS: u8 = 0xa3;
}

/// The object identifier of a common name.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// The object identifier of the subject alternative name extension.
const OTHER_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// A sequence of DER elements.
#[derive(Debug, Clone, Copy)]
struct DerBytes<'a>(&'a [u8]);

impl<'a> DerBytes<'a> {
    /// Reads the next element. Returns its tag and content.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            0..=0x7f => (usize::from(*first), rest),
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
                (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }

    /// Reads the next element, which must have this tag. Returns its content.
    fn read(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }

    /// Reads the next element if it has this tag. Returns its content.
    fn read_if(&mut self, tag: u8) -> Option<&'a [u8]> {
        if self.0.first() == Some(&tag) { self.read(tag) } else { None }
    }
}

/// The parts of a certificate, parsed as leniently as by OpenSSL: of any version, with or without extensions.
#[derive(Debug)]
struct Certificate<'a> {
    validity: DerBytes<'a>,
    subject: DerBytes<'a>,
    extensions: DerBytes<'a>,
    /// The public key's algorithm in DER, without the header of its sequence.
    algorithm: &'a [u8],
    /// The public key.
    pub(crate) key: &'a [u8],
}

impl<'a> Certificate<'a> {
    /// Parses a certificate; `None` if it is invalid.
    fn read(der: &'a [u8]) -> Option<Self> {
        let mut outer = DerBytes(DerBytes(der).read(tag::SEQUENCE)?);
        let mut fields = DerBytes(outer.read(tag::SEQUENCE)?);
        fields.read_if(tag::VERSION);
        let [_serial, _signature, _issuer] = [fields.next()?, fields.next()?, fields.next()?];
        let (validity, subject) = (fields.read(tag::SEQUENCE)?, fields.read(tag::SEQUENCE)?);
        let mut key = DerBytes(fields.read(tag::SEQUENCE)?);
        let algorithm = key.read(tag::SEQUENCE)?;
        let (_unused_bits, key) = key.read(tag::BITS)?.split_first()?;
        let mut extensions = None;
        while let Some((tag, content)) = fields.next() {
            extensions = extensions.or((tag == tag::EXTENSIONS).then_some(content));
        }
        let extensions =
            extensions.and_then(|content| DerBytes(content).read(tag::SEQUENCE)).unwrap_or_default();
        Some(Self {
            validity: DerBytes(validity),
            subject: DerBytes(subject),
            extensions: DerBytes(extensions),
            algorithm,
            key,
        })
    }

    /// Returns the start and end of the validity as `YYYYMMDDHHMMSS`, in UTC.
    fn validity(&self) -> Option<(String, String)> {
        let mut times = self.validity;
        Some((time(times.next()?)?, time(times.next()?)?))
    }

    /// Returns the subject's common name, unless the certificate has alternative names.
    fn common_name(&self) -> Option<&'a str> {
        let mut extensions = self.extensions;
        while let Some(extension) = extensions.read(tag::SEQUENCE) {
            let mut extension = DerBytes(extension);
            if extension.read(tag::OBJECT) == Some(OTHER_NAMES) && extension.next().is_some() {
                return None;
            }
        }
        let mut names = self.subject;
        while let Some(name) = names.read(tag::SET) {
            let mut name = DerBytes(DerBytes(name).read(tag::SEQUENCE)?);
            if name.read(tag::OBJECT) == Some(COMMON_NAME) {
                return std::str::from_utf8(name.next()?.1).ok();
            }
        }
        None
    }
}

/// Parses a time of either form. The result has a four-digit year.
fn time((tag, text): (u8, &[u8])) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    match tag {
        tag::SHORT_TIME if text.len() == 12 => {
            // Two-digit years are from 1950 to 2049.
            let century = if text < "50" { "20" } else { "19" };
            Some(format!("{century}{text}"))
        }
        tag::LONG_TIME if text.len() == 14 => Some(text.to_owned()),
        _ => None,
    }
}

/// Returns true if a common name matches a host, as in libpq. It may have `*` as its first part.
fn matches_host(common_name: &str, host: &str) -> bool {
    let same = common_name.eq_ignore_ascii_case(host);
    let wild = common_name.strip_prefix("*.").zip(host.split_once('.'));
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    same || wild.is_some_and(|(domain, (first, rest))| {
        !first.is_empty() && !is_address && domain.eq_ignore_ascii_case(rest)
    })
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

    fn der(pem: &str) -> Vec<u8> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
    }

    const V1: &str = include_str!("../../../ingest/tests/support/tls/v1.pem");
    const OWN: &str = include_str!("../../../ingest/tests/support/tls/own-ca.pem");
    const NAMED: &str = include_str!("../../../ingest/tests/support/tls/named-ca.pem");

    #[test]
    fn certificates_of_every_form_are_read() {
        let key = |pem: &str| Certificate::read(&der(pem)).unwrap().key.to_vec();
        assert_eq!((key(V1), key(V1)[0], key(V1).len()), (key(OWN), 4, 65));
        for (pem, name) in [(V1, Some("localhost")), (OWN, Some("localhost")), (NAMED, None)] {
            let der = der(pem);
            let certificate = Certificate::read(&der).unwrap();
            assert_eq!(certificate.common_name(), name);
            let validity = certificate.validity().unwrap();
            assert_eq!(validity, ("20200101000000".into(), "21200101000000".into()));
        }
    }

    #[test]
    fn certificate_cut_or_changed_is_none_or_another_but_no_panic() {
        let whole = der(NAMED);
        for end in 0..whole.len() {
            assert!(Certificate::read(&whole[..end]).is_none(), "{end}");
        }
        for at in 0..whole.len() {
            for byte in [0, 0x7f, 0x80, 0x84, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                if let Some(read) = Certificate::read(&changed) {
                    let _ = (read.validity(), read.common_name());
                }
            }
        }
    }

    #[test]
    fn common_name_is_compared_as_libpq_does() {
        for (name, host) in
            [("LocalHost", "localhost"), ("*.db.example", "a.DB.example"), ("10.0.0.1", "10.0.0.1")]
        {
            assert!(matches_host(name, host), "{name} {host}");
        }
        for (name, host) in [
            ("*.db.example", "db.example"),
            ("*.db.example", "a.b.db.example"),
            ("*.0.0.1", "10.0.0.1"),
            ("*", "localhost"),
            ("localhost", "localhost.example"),
        ] {
            assert!(!matches_host(name, host), "{name} {host}");
        }
    }
}
