//! Sends the requests of the object store's client by the library that perfpipe uses for all of HTTP.

use std::error::Error as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpService,
};
use rustls::crypto::ring;
use tokio::task::spawn_blocking;
use ureq::Agent;
use ureq::http::{Method, Request, request};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may take from the last byte of its request on.
const ANSWER: Duration = Duration::from_secs(60);

/// How long it may take to send the body of a request, or to receive that of an answer.
const BODY: Duration = Duration::from_secs(300);

/// The number of connections that are kept for later requests.
const CONNECTIONS: usize = 32;

/// The size in bytes of the largest answer, unless the request says otherwise by [`SizeLimit`].
const LARGEST: u64 = 32 << 20;

/// The size in bytes of the largest answer to a request, as an extension of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SizeLimit(pub(super) u64);

/// That an answer is larger than was allowed.
#[derive(Debug, thiserror::Error)]
#[error("the answer is larger than {0} bytes")]
struct TooLarge(u64);

/// Returns true if an answer was larger than was allowed.
pub(super) fn is_too_large(error: &object_store::Error) -> bool {
    let mut below = error.source();
    while let Some(error) = below {
        if error.is::<TooLarge>() {
            return true;
        }
        below = error.source();
    }
    false
}

/// Makes clients.
#[derive(Debug)]
pub(super) struct HttpClients;

impl HttpConnector for HttpClients {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let is_plain_allowed =
            options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        let certificates = rustls_native_certs::load_native_certs().certs;
        let roots = certificates.iter().map(|der| Certificate::from_der(der).to_owned()).collect::<Vec<_>>();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(!is_plain_allowed)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_send_body(Some(BODY))
            .timeout_recv_body(Some(BODY))
            .max_idle_connections(CONNECTIONS)
            .max_idle_connections_per_host(CONNECTIONS)
            .tls_config(tls)
            .user_agent(concat!("perfpipe/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(HttpClient::new(AgentClient(config.into())))
    }
}

#[derive(Debug)]
struct AgentClient(Agent);

impl HttpService for AgentClient {
    // As the macro of the trait writes it.
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let agent = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let asked = spawn_blocking(move || ask(&agent, parts, &body)).await;
            asked.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?
        })
    }
}

fn ask(agent: &Agent, parts: request::Parts, body: &[u8]) -> Result<HttpResponse, HttpError> {
    let SizeLimit(most) = parts.extensions.get().copied().unwrap_or(SizeLimit(LARGEST));
    let has_body = matches!(parts.method, Method::POST | Method::PUT | Method::PATCH);
    let answer = match has_body {
        true => agent.run(Request::from_parts(parts, body)),
        false => agent.run(Request::from_parts(parts, ())),
    }
    .map_err(http_error)?;
    let (parts, mut body) = answer.into_parts();
    // One byte more, since a body of just the limit is refused where its length is not known.
    match body.with_config().limit(most.saturating_add(1)).read_to_vec() {
        Ok(body) if body.len() as u64 <= most => Ok(HttpResponse::from_parts(parts, body.into())),
        Ok(_) | Err(ureq::Error::BodyExceedsLimit(_)) => {
            Err(HttpError::new(HttpErrorKind::Unknown, TooLarge(most)))
        }
        Err(error) => Err(http_error(error)),
    }
}

/// Says whether the client may send the request again.
fn http_error(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::Io(error) => match error.kind() {
            std::io::ErrorKind::ConnectionRefused => HttpErrorKind::Connect,
            std::io::ErrorKind::InvalidData => HttpErrorKind::Unknown,
            _ => HttpErrorKind::Interrupted,
        },
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
