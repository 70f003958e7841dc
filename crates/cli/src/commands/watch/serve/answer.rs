//! The answers to requests: the page, its events, and refusals.

use std::convert::Infallible;
use std::net::IpAddr;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::events::events;
use super::hosts::is_own;
use super::latest_page::LatestPage;

/// The body of an answer.
type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The page until a second is complete.
const WAITING: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"color-scheme\" \
    content=\"light dark\">\n<meta http-equiv=\"refresh\" content=\"1\">\n<title>perfpipe watch</title>\n\
    <p>Waiting for the first second to be complete.</p>\n</html>\n";

/// Headers of every answer: nothing is kept, framed, guessed, or disclosed to other sites.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// Returns the answer to a request that came in at a local address.
pub(super) fn answer<B>(request: &Request<B>, local: IpAddr, latest: &LatestPage) -> Response<Body> {
    let mut answer = routed(request, local, latest);
    answer.headers_mut().extend(HEADERS);
    answer
}

fn routed<B>(request: &Request<B>, local: IpAddr, latest: &LatestPage) -> Response<Body> {
    if !is_asked_by_own_name(request, local) {
        return refusal(StatusCode::FORBIDDEN, "The Host header names no address of this machine.\n");
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut refusal = refusal(StatusCode::METHOD_NOT_ALLOWED, "The page can only be read.\n");
        refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    match request.uri().path() {
        "/" => {
            let page = latest.page();
            let page = if page.is_empty() { Bytes::from_static(WAITING.as_bytes()) } else { page };
            of_type("text/html; charset=utf-8", Full::new(page).boxed_unsync())
        }
        // The headers alone do not follow anything.
        "/events" if request.method() == Method::HEAD => of_type("text/event-stream", Body::default()),
        "/events" => of_type("text/event-stream", StreamBody::new(events(latest.follow())).boxed_unsync()),
        _ => refusal(StatusCode::NOT_FOUND, "There is only the page, at /.\n"),
    }
}

/// Returns true if the one `Host` header names this machine.
fn is_asked_by_own_name<B>(request: &Request<B>, local: IpAddr) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next().map(HeaderValue::to_str), hosts.next()) {
        (Some(Ok(host)), None) => is_own(host, local),
        _ => false,
    }
}

fn of_type(content: &'static str, body: Body) -> Response<Body> {
    let mut answer = Response::new(body);
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content));
    answer
}

fn refusal(status: StatusCode, why: &'static str) -> Response<Body> {
    let mut refusal = of_type("text/plain; charset=utf-8", Full::from(why).boxed_unsync());
    *refusal.status_mut() = status;
    refusal
}
