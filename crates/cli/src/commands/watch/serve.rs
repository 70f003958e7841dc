//! The live page of a running test, at an address of this machine: it can be read, and nothing can be changed by it.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use bytes::Bytes;
use futures_util::{Stream, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use perfpipe_analyze::breakdown::Details;
use perfpipe_analyze::format::one_line;
use perfpipe_analyze::{League, Phases, Timeline, View};
use perfpipe_ingest::watch::{Look, Watch};
use perfpipe_plot::{Report, ReportRun, Style};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::sync::watch::{Receiver, Sender};
use tokio::time::{sleep, timeout};

use super::lines::{PERCENTILES, Pace};
use crate::error::CliError;
use crate::output::{note, warn};

/// How long the end waits for pages that are open to ask for the last figures.
const LINGER: Duration = Duration::from_secs(1);

/// The error of an address that can't be had.
fn refused(address: SocketAddr, error: &io::Error) -> CliError {
    let (problem, remedy) = match error.kind() {
        io::ErrorKind::AddrInUse => (
            "another program listens at this port".to_owned(),
            format!(
                "Give another port, or 0 for any that is free: --serve {}.",
                SocketAddr::new(address.ip(), 0)
            ),
        ),
        io::ErrorKind::AddrNotAvailable => (
            "this machine has no such address".to_owned(),
            format!(
                "Give --serve 127.0.0.1:{0} for browsers of this machine, or --serve 0.0.0.0:{0} for those of others.",
                address.port()
            ),
        ),
        io::ErrorKind::PermissionDenied => (
            "this user may not listen at this port".to_owned(),
            format!("Give a port from 1024 on, as in --serve {}.", SocketAddr::new(address.ip(), 8090)),
        ),
        _ => (error.to_string(), "Give an address of this machine, as in --serve 127.0.0.1:8090.".to_owned()),
    };
    CliError::refused(format!("--serve {address}: {problem}"), remedy)
}

/// The server of a live page.
pub(super) struct Serving {
    latest: Arc<LatestPage>,
    address: SocketAddr,
    pace: Pace,
    /// True if there is more to show than the page has.
    stale: bool,
    complete: u32,
    recounts: u64,
    cpu_reads: u64,
}

impl Serving {
    /// Begins to serve at an address.
    ///
    /// # Errors
    /// If the address can't be had.
    pub(super) async fn begin(address: SocketAddr) -> Result<Self> {
        let refused = |error: std::io::Error| refused(address, &error);
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        if !address.ip().is_loopback() {
            let port = address.port();
            warn(&format!(
                "--serve {address}: whoever reaches this machine can read the page; --serve 127.0.0.1:{port} keeps it to \
                 this machine, and ssh -L {port}:127.0.0.1:{port} HOST shows it elsewhere"
            ));
        }
        note(&format!("the live page is http://{address}/"));
        let latest = Arc::new(LatestPage::default());
        tokio::spawn(serve(listener, Arc::clone(&latest)));
        Ok(Self {
            latest,
            address,
            pace: Pace::default(),
            stale: false,
            complete: 0,
            recounts: 0,
            cpu_reads: 0,
        })
    }

    /// The address of the page.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Draws the page again, about once a second, if there is something new, and somebody to see it.
    pub(super) fn show(&mut self, watch: &Watch, look: &Look) -> Result<()> {
        let is_corrected = look.changed.first().is_some_and(|second| *second < look.complete);
        let newest = (look.complete, look.recounts, look.cpu_reads);
        self.stale |= is_corrected || (self.complete, self.recounts, self.cpu_reads) != newest;
        (self.complete, self.recounts, self.cpu_reads) = newest;
        let is_due = look.ended || self.pace.is_due();
        if !self.stale || !is_due || !self.latest.is_wanted() {
            return Ok(());
        }
        let begun = Instant::now();
        if let Some(page) = page(watch, self.latest.next_state())? {
            self.latest.show(page);
            self.stale = false;
        }
        self.pace.pause_after(begun.elapsed());
        Ok(())
    }

    /// Announces the end of the test to open pages.
    pub(super) async fn end(self, sentence: &str) {
        if self.latest.end(sentence) {
            tokio::time::sleep(LINGER).await;
        }
    }
}

/// The newest state of a test.
#[derive(Debug, Clone, Default)]
pub(super) struct PageState {
    /// The number of the page: none has been drawn at 0.
    pub(super) number: u64,
    /// The page as HTML.
    pub(super) page: Bytes,
    /// How the test ended.
    pub(super) ended: Option<String>,
}

/// The newest state, and who wants to know it.
#[derive(Debug, Default)]
pub(super) struct LatestPage {
    state: Sender<PageState>,
    /// True if the page was asked for since it was drawn.
    asked: AtomicBool,
}

impl LatestPage {
    /// Returns true if somebody follows the page or has asked for it, or if it was never drawn.
    fn is_wanted(&self) -> bool {
        self.state.receiver_count() > 0 || self.asked.load(Ordering::Relaxed) || self.next_state() == 1
    }

    /// Returns the number of the next state.
    fn next_state(&self) -> u64 {
        self.state.borrow().number + 1
    }

    /// Publishes a new page.
    pub(super) fn show(&self, page: String) {
        self.asked.store(false, Ordering::Relaxed);
        self.state.send_modify(|state| {
            state.number += 1;
            state.page = page.into();
        });
    }

    /// Publishes the end of the test; returns true if somebody follows it.
    pub(super) fn end(&self, sentence: &str) -> bool {
        self.state.send_modify(|state| state.ended = Some(one_line(sentence)));
        self.state.receiver_count() > 0
    }

    /// Returns the page, empty if none was drawn yet.
    pub(super) fn page(&self) -> Bytes {
        self.asked.store(true, Ordering::Relaxed);
        self.state.borrow().page.clone()
    }

    /// Follows the states, from the present one on.
    pub(super) fn follow(&self) -> Receiver<PageState> {
        let mut states = self.state.subscribe();
        states.mark_changed();
        states
    }
}

/// Returns the page of a state; `None` if no second is complete.
///
/// What stands out is left to the report of the stored run: what is looked for again each second is found too often. So are
/// the phases: while a load climbs in steps, each step looks like a hold, and those after it like a tail.
pub(super) fn page(watch: &Watch, state: u64) -> Result<Option<String>> {
    let Some(run) = watch.run(0)? else { return Ok(None) };
    let view = View::of(&run.info).with_percentiles(PERCENTILES);
    let mut details = Details::new(&run, &view)?;
    details.phases.clear();
    let mut timeline = Timeline::new(&run, &view)?;
    (timeline.phases, timeline.hold) = (Phases::default(), None);
    let timelines = [timeline];
    let league = League::new(&timelines)?;
    let runs = timelines.iter().map(|timeline| ReportRun {
        timeline,
        details: &details,
        findings: &[],
        verdicts: &[],
    });
    let report = Report { test: &run.info.key.test, runs: runs.collect(), league: &league, verdicts: &[] };
    Ok(Some(perfpipe_plot::live_html(&report, &Style::default(), state)?))
}

/// The most connections at a time; others wait.
const CONNECTIONS: usize = 32;

/// The most bytes of a request.
const REQUEST: usize = 16 << 10;

/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a connection lasts. One that nobody reads keeps no page for longer; an open page connects again.
const LIFE: Duration = Duration::from_secs(60);

/// Serves the page of a test.
pub(super) async fn serve(listener: TcpListener, latest: Arc<LatestPage>) {
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(place) = Arc::clone(&free).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let latest = Arc::clone(&latest);
                tokio::spawn(async move {
                    // A client that ends its connection early, or never reads, gets no page.
                    let _ = timeout(LIFE, talk(stream, latest)).await;
                    drop(place);
                });
            }
            // Too many files are open: some will be closed.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Answers the request of a connection.
async fn talk(
    stream: TcpStream,
    latest: Arc<LatestPage>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let local = stream.local_addr()?.ip();
    let service = service_fn(move |request| {
        let answer = answer(&request, local, &latest);
        async move { Ok::<_, Infallible>(answer) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(REQUEST).keep_alive(false);
    server.serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}

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
        (Some(Ok(host)), None) => is_own_host(host, local),
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

/// Returns the events of a test until it ends. They announce a new page and do not contain it: a slow reader costs
/// nothing.
fn events(states: Receiver<PageState>) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    stream::unfold(Some(states), next)
}

/// Waits for the next state. Nothing follows the end.
async fn next(
    states: Option<Receiver<PageState>>,
) -> Option<(Result<Frame<Bytes>, Infallible>, Option<Receiver<PageState>>)> {
    let mut states = states?;
    states.changed().await.ok()?;
    let state = states.borrow_and_update().clone();
    let event = event(state.number, state.ended.as_deref());
    Some((Ok(Frame::data(event.into())), state.ended.is_none().then_some(states)))
}

/// Returns the events of a state. A page that lost its connection tries again after half a second.
fn event(number: u64, ended: Option<&str>) -> String {
    let ended = ended.map(|ended| format!("event: ended\ndata: {ended}\n\n")).unwrap_or_default();
    format!("retry: 500\nevent: state\ndata: {number}\n\n{ended}")
}

/// Returns true if a `Host` header names this machine: as `localhost`, by a loopback address, or by the address at which
/// the connection came in. A site that lets its own name point to this machine is refused, so that its scripts can't read
/// the page.
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
    fn end_is_told_after_the_last_page() {
        assert_eq!(event(7, None), "retry: 500\nevent: state\ndata: 7\n\n");
        let events = event(8, Some("It is stored."));
        assert_eq!(events, "retry: 500\nevent: state\ndata: 8\n\nevent: ended\ndata: It is stored.\n\n");
    }

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
