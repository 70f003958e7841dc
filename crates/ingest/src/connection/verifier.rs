//! Verifies a server's certificate as libpq does, which accepts more forms of certificates than rustls.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme};

use super::certificate::{Certificate, matches_host};

/// The trusted certificates.
#[derive(Debug)]
pub(crate) struct TrustedCertificates {
    /// The certificates that may have signed others.
    pub(crate) authorities: RootCertStore,
    /// The same certificates as given. The server may present one of them as its own.
    pub(crate) known: Vec<CertificateDer<'static>>,
}

/// Checks a server's certificate against the trusted ones.
#[derive(Debug)]
pub(crate) struct ServerVerifier {
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
