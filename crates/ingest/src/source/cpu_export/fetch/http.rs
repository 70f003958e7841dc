//! Asks a host by HTTP, within bounds of time and size.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use rustls::crypto::ring;
use ureq::http::{Response, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Proxy};

use super::access::Access;
use super::answered::answer;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::error::secrets::Secrets;
use perfpipe_model::run::damage::Fault;

/// The maximum size of an answer with readings, and of any other, in bytes.
pub(super) const LARGEST: u64 = 64 << 20;
pub(super) const SMALL: u64 = 1 << 20;

/// How often a request is sent, if the host can't be reached or is overloaded.
const ATTEMPTS: u32 = 3;

/// A clock that differs by more is reported, in seconds.
const CLOCKS: i64 = 5;

/// A client of one host.
pub(super) struct HttpClient {
    agent: Agent,
    /// The proxy by host and port, without its password.
    proxy: Option<String>,
    timeout: Duration,
    pause: Duration,
    read: u64,
    crc: crc32fast::Hasher,
    /// How far the host's clock is ahead of this one, in seconds.
    ahead: Option<i64>,
    /// What the host is sent that no text may show.
    pub(super) secrets: Secrets,
}

/// A request; it may be sent again.
pub(super) struct HttpRequest<'a> {
    pub(super) url: &'a str,
    /// The body of a POST, and its type.
    pub(super) body: Option<(&'a str, &'static str)>,
    /// The value of the Authorization header.
    pub(super) authorization: Option<String>,
    /// The maximum size of the answer, in bytes.
    pub(super) largest: u64,
}

/// An answer of a host.
pub(super) struct HttpAnswer {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
}

impl HttpClient {
    /// # Errors
    /// If the token, the certificates or the proxy can't be used.
    pub(super) fn new(access: &Access) -> Result<Self, Fault> {
        if access
            .token
            .as_ref()
            .is_some_and(|token| !token.text().bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(denied(
                "can't be sent the token: it has a space, a line end, or a letter that is not ASCII",
            ));
        }
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots(&access.authorities)?)))
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build();
        let proxy = access.proxy.as_ref().map(|proxy| Proxy::new(proxy.text())).transpose();
        let proxy = proxy.map_err(|_| {
            let remedy = "Set it as in HTTPS_PROXY=http://proxy:3128, or unset it.";
            Fault::new(ErrorKind::SourceUrl, "the URL of the proxy can't be used", remedy)
        })?;
        let named = proxy.as_ref().map(|proxy| format!("{}:{}", proxy.host(), proxy.port()));
        let config = Agent::config_builder()
            .timeout_global(Some(access.timeout))
            .http_status_as_error(false)
            // A secret goes to no other host than the one that was named.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .tls_config(tls)
            .user_agent(concat!("perfpipe/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Self {
            agent: config.into(),
            proxy: named,
            timeout: access.timeout,
            pause: access.pause,
            read: 0,
            crc: crc32fast::Hasher::new(),
            ahead: None,
            secrets: access.secrets(),
        })
    }

    /// Returns the number of bytes of all answers, and their CRC-32.
    pub(super) fn read(self) -> (u64, u32) {
        (self.read, self.crc.finalize())
    }

    /// A note if the host's clock is off.
    pub(super) fn clock_note(&self) -> Option<String> {
        let ahead = self.ahead.filter(|ahead| ahead.abs() > CLOCKS)?;
        let (by, side) = (ahead.abs(), if ahead > 0 { "ahead of" } else { "behind" });
        Some(format!(
            "its clock is {by} s {side} that of this machine: if the log's clock is right, add {} to the CPU offset",
            -ahead
        ))
    }

    /// Sends a request, and again if the host can't be reached or is overloaded.
    ///
    /// # Errors
    /// If there is no answer, too large a one, or a redirect.
    pub(super) fn send(&mut self, request: &HttpRequest<'_>) -> Result<HttpAnswer, Fault> {
        let mut attempt = 1;
        loop {
            let outcome = self.once(request);
            let again = match &outcome {
                Ok(HttpAnswer { status, .. }) => {
                    status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
                }
                Err((_, again)) => *again,
            };
            if !again || attempt == ATTEMPTS {
                let answer = outcome.map_err(|(fault, _)| fault)?;
                self.read += answer.body.len() as u64;
                self.crc.update(&answer.body);
                return checked(answer);
            }
            sleep(self.pause * attempt);
            attempt += 1;
        }
    }

    /// Sends a request once. The error says whether it may help to send it again.
    fn once(&mut self, request: &HttpRequest<'_>) -> Result<HttpAnswer, (Fault, bool)> {
        let (timeout, proxy) = (self.timeout, self.proxy.as_deref());
        let failed = |error: ureq::Error| {
            (unreachable(&error, (timeout, request.largest), proxy), !is_lasting(&error))
        };
        let mut response = match request.body {
            Some((body, kind)) => {
                let builder = self.agent.post(request.url).header("Content-Type", kind);
                match &request.authorization {
                    Some(value) => builder.header("Authorization", value).send(body),
                    None => builder.send(body),
                }
            }
            None => {
                let builder = self.agent.get(request.url);
                match &request.authorization {
                    Some(value) => builder.header("Authorization", value).call(),
                    None => builder.call(),
                }
            }
        }
        .map_err(failed)?;
        self.ahead = clock(&response).or(self.ahead);
        let status = response.status();
        let body = response.body_mut().with_config().limit(request.largest).read_to_vec();
        Ok(HttpAnswer { status, body: body.map_err(failed)? })
    }
}

/// Refuses redirects and errors of the server; other errors are explained by their bodies.
fn checked(answered: HttpAnswer) -> Result<HttpAnswer, Fault> {
    let status = answered.status;
    if status.is_redirection() {
        let remedy = "Name the address that answers itself. perfpipe follows no redirect, so that a secret goes to no \
                      other host.";
        let problem = format!("answers with a redirect to another address ({status})");
        return Err(Fault::new(ErrorKind::SourceAnswer, problem, remedy));
    }
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(denied(&format!("answers {status}")));
    }
    if status.is_server_error() {
        return Err(answer(format!("answers {status}, {ATTEMPTS} times")));
    }
    Ok(answered)
}

/// The fault of a secret that a host does not accept.
pub(super) fn denied(problem: &str) -> Fault {
    let remedy = "Give a token that is valid, or a user and a password, and check what it may read.";
    Fault::new(ErrorKind::SourceDenied, problem, remedy)
}

/// Returns true if an error would come again.
fn is_lasting(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => tls_of(error).is_some(),
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::Timeout(_) => false,
        _ => true,
    }
}

/// Returns the error of TLS that is within one of the operating system.
fn tls_of(error: &std::io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// The fault of a host that gives no answer. Errors of HTTP have no secret, as they contain neither headers nor bodies.
fn unreachable(error: &ureq::Error, (timeout, largest): (Duration, u64), proxy: Option<&str>) -> Fault {
    let tls = match error {
        ureq::Error::Io(error) => tls_of(error),
        ureq::Error::Rustls(error) => Some(error),
        _ => None,
    };
    if let Some(why @ rustls::Error::InvalidCertificate(_)) = tls {
        let problem = format!("its certificate is not trusted: {why}");
        let remedy = "Give the certificate of the authority that signed it, and the name that it is for.";
        return Fault::new(ErrorKind::SourceUntrusted, problem, remedy);
    }
    let (problem, remedy) = match error {
        ureq::Error::HostNotFound => ("there is no such host".to_owned(), "Check its name, and the network."),
        ureq::Error::Timeout(_) => (
            format!("there is no whole answer within {} s", timeout.as_secs_f64()),
            "Try again, or allow more time.",
        ),
        ureq::Error::BodyExceedsLimit(_) => (
            format!("its answer is larger than {} MiB", largest >> 20),
            "Ask for one series only, and check that the address is the right one.",
        ),
        ureq::Error::ConnectProxyFailed(why) => (
            format!("the proxy {} refuses to connect to it: {}", proxy.unwrap_or_default(), why.trim()),
            "Check what the proxy allows, and its user and password in HTTPS_PROXY; NO_PROXY names hosts that are asked without it.",
        ),
        error => match proxy {
            None => (format!("it can't be asked: {error}"), "Check that it runs, and its address and port."),
            Some(proxy) => (
                format!("it can't be asked through the proxy {proxy}: {error}"),
                "Check that both run, and their addresses and ports; NO_PROXY names hosts that are asked without the proxy.",
            ),
        },
    };
    Fault::new(ErrorKind::SourceUnreachable, problem, remedy)
}

/// Returns how far the clock of the host is ahead, in seconds.
fn clock(response: &Response<Body>) -> Option<i64> {
    let date = response.headers().get("date")?.to_str().ok()?;
    let theirs = jiff::fmt::rfc2822::parse(&date.replace("GMT", "+0000")).ok()?;
    Some(theirs.timestamp().as_second() - jiff::Timestamp::now().as_second())
}

/// Returns the authorities of the system and those in these PEM texts.
fn roots(pem: &[u8]) -> Result<Vec<Certificate<'static>>, Fault> {
    let system = rustls_native_certs::load_native_certs().certs;
    let mut roots: Vec<Certificate<'static>> =
        system.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    let before = roots.len();
    for item in parse_pem(pem) {
        if let Ok(PemItem::Certificate(certificate)) = item {
            roots.push(certificate);
        }
    }
    if !pem.is_empty() && roots.len() == before {
        let remedy = "Give a PEM file with at least one certificate.";
        return Err(Fault::new(
            ErrorKind::Certificates,
            "the file of authorities contains no certificate",
            remedy,
        ));
    }
    Ok(roots)
}
