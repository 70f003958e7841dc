//! Answers of the server: pages, files, events and refusals, with the headers that keep them to their readers.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use bytes::Bytes;
use futures_util::{Stream, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode, header};
use perfpipe_plot::{SITE_FILES, site_policy};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The body of an answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// An answer to a request.
pub(crate) struct Answer(Response<Body>);

/// The bytes of a file that are in memory at a time.
const PIECE: usize = 32 << 10;

/// The most files that are read from at the same moment.
static READS: Semaphore = Semaphore::const_new(8);

/// Headers of every answer: nothing is framed, guessed, or disclosed to other sites.
const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// For what may be another at the next request.
const NOT_KEPT: HeaderValue = HeaderValue::from_static("no-store");

/// For files with a digest of their contents in their names.
const KEPT: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

const TEXT: &str = "text/plain; charset=utf-8";

impl Answer {
    /// An answer of bytes in memory; its type is that of a file of this name.
    pub(crate) fn of(name: &str, bytes: impl Into<Bytes>) -> Self {
        Self::new(type_of(name), Full::new(bytes.into()).map_err(io::Error::other).boxed_unsync())
    }

    /// A page that is asked for again after a second, with a sentence.
    pub(crate) fn waiting(title: &str, sentence: &str) -> Self {
        let page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"color-scheme\" content=\"light \
             dark\">\n<meta http-equiv=\"refresh\" content=\"1\">\n<title>{title}</title>\n<p>{sentence}</p>\n</html>\n"
        );
        Self::of("index.html", page)
    }

    /// Events that a page follows; the headers alone follow nothing.
    pub(crate) fn events(
        events: Option<impl Stream<Item = io::Result<Frame<Bytes>>> + Send + 'static>,
    ) -> Self {
        let body = events.map(|events| StreamBody::new(events).boxed_unsync());
        Self::new(
            "text/event-stream",
            body.unwrap_or_else(|| Full::default().map_err(io::Error::other).boxed_unsync()),
        )
    }

    /// The file of a site that a path names, read piece by piece. Whatever else is in the folder, and wherever its links
    /// lead, is not found.
    pub(crate) async fn file(folder: &Path, path: &str) -> Self {
        let Some((name, caching)) = site_file(path) else { return Self::not_found() };
        let whole = folder.join(name);
        let opened = spawn_blocking(move || opened(&whole)).await.map_err(io::Error::other);
        match opened.and_then(|opened| opened) {
            Ok((file, length)) => {
                let mut answer =
                    Self::new(type_of(name), StreamBody::new(pieces(file, length)).boxed_unsync());
                let headers = answer.0.headers_mut();
                headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
                headers.insert(header::CACHE_CONTROL, caching);
                answer
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::not_found(),
            Err(_) => Self::refusal(StatusCode::SERVICE_UNAVAILABLE, "The file can't be read at present.\n"),
        }
    }

    /// The answer to a path that names nothing.
    pub(crate) fn not_found() -> Self {
        Self::refusal(StatusCode::NOT_FOUND, "There is no such file. The page is at /.\n")
    }

    /// A request that is not fulfilled, and why.
    pub(super) fn refusal(status: StatusCode, why: &'static str) -> Self {
        let mut refusal = Self::new(TEXT, Full::from(why).map_err(io::Error::other).boxed_unsync());
        *refusal.0.status_mut() = status;
        refusal
    }

    /// The answer to a request that would change something.
    pub(super) fn only_read() -> Self {
        let mut refusal = Self::refusal(StatusCode::METHOD_NOT_ALLOWED, "The pages can only be read.\n");
        refusal.0.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        refusal
    }

    fn new(content: &'static str, body: Body) -> Self {
        let mut answer = Response::new(body);
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content));
        headers.insert(header::CACHE_CONTROL, NOT_KEPT);
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(site_policy()));
        headers.extend(HEADERS);
        Self(answer)
    }

    /// Returns what is sent.
    pub(crate) fn response(self) -> Response<Body> {
        self.0
    }
}

/// Returns the file within a site that the path of a request names, and how long a browser may keep it. There is no other
/// path: what is escaped, as `%2e`, names nothing.
fn site_file(path: &str) -> Option<(&str, HeaderValue)> {
    let path = path.strip_prefix('/')?;
    match path {
        "" | "index.html" => return Some(("index.html", NOT_KEPT)),
        "runs.js" => return Some((path, NOT_KEPT)),
        _ if SITE_FILES.iter().any(|(name, _)| *name == path) => return Some((path, NOT_KEPT)),
        _ => {}
    }
    let name = path.strip_prefix("runs/").or_else(|| path.strip_prefix("tests/"))?.strip_suffix(".js")?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (!name.is_empty() && name.chars().all(is_plain)).then_some((path, KEPT))
}

fn type_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        _ => TEXT,
    }
}

/// Opens a plain file in a folder that is no link; returns it with its length.
fn opened(path: &Path) -> io::Result<(File, u64)> {
    let is_plain = path.symlink_metadata()?.is_file()
        && path.parent().is_some_and(|folder| folder.symlink_metadata().is_ok_and(|folder| folder.is_dir()));
    if !is_plain {
        return Err(io::ErrorKind::NotFound.into());
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// Returns the first `length` bytes of a file, piece by piece.
fn pieces(file: File, length: u64) -> impl Stream<Item = io::Result<Frame<Bytes>>> + Send {
    stream::unfold(Some((file, length)), |state| async {
        let (file, left) = state.filter(|(_, left)| *left > 0)?;
        match piece(file, left).await {
            Ok((file, piece)) => {
                let left = left.saturating_sub(piece.len() as u64);
                Some((Ok(Frame::data(piece)), Some((file, left))))
            }
            Err(error) => Some((Err(error), None)),
        }
    })
}

async fn piece(mut file: File, left: u64) -> io::Result<(File, Bytes)> {
    let _turn = READS.acquire().await.map_err(io::Error::other)?;
    let read = spawn_blocking(move || {
        let size = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
        let mut piece = vec![0; size];
        file.read_exact(&mut piece)?;
        Ok((file, piece.into()))
    });
    read.await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_a_site_have_paths() {
        let kept = |path| site_file(path).map(|(name, caching)| (name, caching == KEPT));
        assert_eq!(kept("/"), Some(("index.html", false)));
        assert_eq!(kept("/index.html"), Some(("index.html", false)));
        for path in ["/runs.js", "/app.js", "/app.css"] {
            assert_eq!(kept(path), Some((&path[1..], false)));
        }
        assert_eq!(kept("/runs/go-2048-1-0a1b2c.js"), Some(("runs/go-2048-1-0a1b2c.js", true)));
        assert_eq!(kept("/tests/a.js"), Some(("tests/a.js", true)));
        for path in [
            "",
            "runs.js",
            "//runs.js",
            "/site.lock",
            "/runs",
            "/runs/",
            "/runs/.js",
            "/runs/../site.lock",
            "/runs/../runs.js",
            "/runs/../../etc/passwd.js",
            "/runs/%2e%2e/a.js",
            "/runs/..%2fa.js",
            "/runs/a\\b.js",
            "/runs/a/b.js",
            "/runs/A.js",
            "/runs/a.js.js",
            "/runs/a.js/",
            "/runs/a\0.js",
            "/RUNS.JS",
            "/.perfpipe-x",
            "/runs/.perfpipe-x",
            "*",
            "http://localhost/runs.js",
        ] {
            assert_eq!(kept(path), None, "{path}");
        }
    }

    #[test]
    fn links_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site");
        std::fs::create_dir_all(site.join("runs")).unwrap();
        let secret = folder.path().join("secret.js");
        std::fs::write(&secret, "mine").unwrap();
        std::fs::write(site.join("runs/a.js"), "a run").unwrap();
        let (file, length) = opened(&site.join("runs/a.js")).unwrap();
        assert_eq!((length, file.metadata().unwrap().len()), (5, 5));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&secret, site.join("runs/b.js")).unwrap();
            std::os::unix::fs::symlink(folder.path(), site.join("tests")).unwrap();
            for path in ["runs/b.js", "tests/secret.js", "runs"] {
                let error = opened(&site.join(path)).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NotFound, "{path}");
            }
        }
    }

    #[tokio::test]
    async fn file_comes_whole_in_pieces() {
        let folder = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..100_000_u32).map(|at| (at % 251) as u8).collect();
        std::fs::write(folder.path().join("runs.js"), &text).unwrap();
        let answer = Answer::file(folder.path(), "/runs.js").await.response();
        assert_eq!(answer.headers()[header::CONTENT_LENGTH], "100000");
        assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-store");
        assert!(answer.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().contains("'none'"));
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, text);
        let missing = Answer::file(folder.path(), "/app.js").await.response();
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    }
}
