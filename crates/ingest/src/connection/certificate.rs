//! Parses certificates as leniently as OpenSSL: of any version, with or without extensions.

/// DER tags.
mod tag {
    pub(crate) const BITS: u8 = 0x03;
    pub(crate) const OBJECT: u8 = 0x06;
    pub(crate) const SHORT_TIME: u8 = 0x17;
    pub(crate) const LONG_TIME: u8 = 0x18;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const SET: u8 = 0x31;
    pub(crate) const VERSION: u8 = 0xa0;
    pub(crate) const EXTENSIONS: u8 = 0xa3;
}

/// The object identifier of a common name.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// The object identifier of the subject alternative name extension.
const OTHER_NAMES: &[u8] = &[0x55, 0x1d, 0x11];

/// A sequence of DER elements.
#[derive(Debug, Clone, Copy)]
struct DerBytes<'a>(&'a [u8]);

impl<'a> DerBytes<'a> {
    /// Takes the next element. Returns its tag and content.
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

    /// Takes the next element, which must have this tag. Returns its content.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }

    /// Takes the next element if it has this tag. Returns its content.
    fn take_if(&mut self, tag: u8) -> Option<&'a [u8]> {
        if self.0.first() == Some(&tag) { self.take(tag) } else { None }
    }
}

/// The parts of a certificate.
#[derive(Debug)]
pub(crate) struct Certificate<'a> {
    validity: DerBytes<'a>,
    subject: DerBytes<'a>,
    extensions: DerBytes<'a>,
    /// The public key's algorithm in DER, without the header of its sequence.
    pub(crate) algorithm: &'a [u8],
    /// The public key.
    pub(crate) key: &'a [u8],
}

impl<'a> Certificate<'a> {
    /// Parses a certificate; `None` if it is invalid.
    pub(crate) fn read(der: &'a [u8]) -> Option<Self> {
        let mut outer = DerBytes(DerBytes(der).take(tag::SEQUENCE)?);
        let mut fields = DerBytes(outer.take(tag::SEQUENCE)?);
        fields.take_if(tag::VERSION);
        let [_serial, _signature, _issuer] = [fields.next()?, fields.next()?, fields.next()?];
        let (validity, subject) = (fields.take(tag::SEQUENCE)?, fields.take(tag::SEQUENCE)?);
        let mut key = DerBytes(fields.take(tag::SEQUENCE)?);
        let algorithm = key.take(tag::SEQUENCE)?;
        let (_unused_bits, key) = key.take(tag::BITS)?.split_first()?;
        let mut extensions = None;
        while let Some((tag, content)) = fields.next() {
            extensions = extensions.or((tag == tag::EXTENSIONS).then_some(content));
        }
        let extensions =
            extensions.and_then(|content| DerBytes(content).take(tag::SEQUENCE)).unwrap_or_default();
        Some(Self {
            validity: DerBytes(validity),
            subject: DerBytes(subject),
            extensions: DerBytes(extensions),
            algorithm,
            key,
        })
    }

    /// Returns the start and end of the validity as `YYYYMMDDHHMMSS`, in UTC.
    pub(crate) fn validity(&self) -> Option<(String, String)> {
        let mut times = self.validity;
        Some((time(times.next()?)?, time(times.next()?)?))
    }

    /// Returns the subject's common name, unless the certificate has alternative names.
    pub(crate) fn common_name(&self) -> Option<&'a str> {
        let mut extensions = self.extensions;
        while let Some(extension) = extensions.take(tag::SEQUENCE) {
            let mut extension = DerBytes(extension);
            if extension.take(tag::OBJECT) == Some(OTHER_NAMES) && extension.next().is_some() {
                return None;
            }
        }
        let mut names = self.subject;
        while let Some(name) = names.take(tag::SET) {
            let mut name = DerBytes(DerBytes(name).take(tag::SEQUENCE)?);
            if name.take(tag::OBJECT) == Some(COMMON_NAME) {
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
pub(crate) fn matches_host(common_name: &str, host: &str) -> bool {
    let same = common_name.eq_ignore_ascii_case(host);
    let wild = common_name.strip_prefix("*.").zip(host.split_once('.'));
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    same || wild.is_some_and(|(domain, (first, rest))| {
        !first.is_empty() && !is_address && domain.eq_ignore_ascii_case(rest)
    })
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    use super::*;

    fn der(pem: &str) -> Vec<u8> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
    }

    const V1: &str = include_str!("../../tests/support/tls/v1.pem");
    const OWN: &str = include_str!("../../tests/support/tls/own-ca.pem");
    const NAMED: &str = include_str!("../../tests/support/tls/named-ca.pem");

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
