//! `serve` and `open`: what is served to whom, what is stored meanwhile, and how they end.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::support::*;
use crate::tools::chromium::Chromium;

/// A store of two runs.
fn filled() -> Store {
    let store = Store::embedded();
    ingest(&store, "go");
    ingest(&store, "node");
    store
}

fn ingest(store: &Store, framework: &str) {
    let log = fixture("crlf.csv");
    store.run(&["ingest", log.to_str().unwrap(), "--framework", framework, "--test", "a/b"]).said();
}

/// A store that is served at an address.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn begin(store: &Store, arguments: &[&str]) -> Self {
        // Another process may have the port before the command does.
        for _ in 0..5 {
            let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
            let serve = [&["serve", "--listen", &address, "--every", "1"], arguments].concat();
            let mut child =
                store.command(&serve).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            wait_for("the address is served", || {
                child.try_wait().unwrap().is_some() || TcpStream::connect(&address).is_ok()
            });
            if child.try_wait().unwrap().is_none() {
                return Self { child, address };
            }
        }
        panic!("no port is free");
    }

    fn get(&self, path: &str) -> (String, String) {
        get(&self.address, path)
    }

    /// The list of all runs, once there is one.
    fn list(&self) -> serde_json::Value {
        let mut text = String::new();
        wait_for("the site is written", || {
            text = self.get("/runs.js").1;
            text.starts_with("perfpipe.store(")
        });
        let json = text.strip_prefix("perfpipe.store(").unwrap().strip_suffix(");\n").unwrap();
        serde_json::from_str(json).unwrap()
    }

    fn frameworks(&self) -> Vec<String> {
        let list = self.list();
        let runs = list["runs"].as_array().unwrap().iter();
        runs.map(|run| run["framework"].as_str().unwrap().to_owned()).collect()
    }

    fn end(self) -> Done {
        signal("INT", self.child.id());
        finish(self.child)
    }
}

/// The head and the body of an answer.
fn get(address: &str, path: &str) -> (String, String) {
    let answer = answer(address, &format!("GET {path} HTTP/1.1\nHost: {address}\n\n"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{path}: {answer}"));
    (head.to_owned(), body.to_owned())
}

fn answer(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    // A server that refuses a request need not read all of it, so that its end may be a reset.
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn store_is_served_with_what_is_stored_meanwhile() {
    let store = filled();
    let served = Served::begin(&store, &["--title", "nightly"]);
    let list = served.list();
    assert_eq!((list["name"].as_str(), list["served"]["live"].as_str()), (Some("nightly"), None));
    let site = store.folder.path().join("site");
    store.run(&["site", site.to_str().unwrap(), "--title", "nightly"]).said();
    let mut files =
        vec!["index.html".to_owned(), "runs.js".to_owned(), "app.js".to_owned(), "app.css".to_owned()];
    for part in ["runs", "tests"] {
        files.extend(
            list[part].as_array().unwrap().iter().map(|row| row["file"].as_str().unwrap().to_owned()),
        );
    }
    for file in files {
        let (head, body) = served.get(&format!("/{file}"));
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{file}: {head}");
        let written = fs::read_to_string(site.join(&file)).unwrap();
        // A served list has a number.
        let served = written.replace("]});\n", &format!("],\"served\":{}}});\n", list["served"]));
        assert_eq!(body, if file == "runs.js" { served } else { written }, "{file}");
        let caching = if file.contains('/') { "immutable" } else { "no-store" };
        assert_told(&head, &[caching, "nosniff", "default-src 'none'; script-src 'self'"]);
    }
    ingest(&store, "spring");
    wait_for("the third run is shown", || served.frameworks().len() == 3);
    store.run(&["drop", "node_a/b"]).said();
    wait_for("the second run is not shown", || served.frameworks() == ["go", "spring"]);
    let done = served.end();
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_told(&done.err, &["the store is at http://127.0.0.1:"]);
    assert!(!done.err.contains("warning") && !done.err.contains("SIGINT"), "{}", done.err);
}

#[test]
fn only_the_site_is_served_and_to_this_machine_alone() {
    let store = filled();
    let served = Served::begin(&store, &[]);
    served.list();
    let address = &served.address;
    fs::write(store.folder.path().join("secret.js"), "secret").unwrap();
    for path in [
        "/site.lock",
        "/runs",
        "/runs/",
        "/runs/../site.lock",
        "/runs/%2e%2e/%2e%2e/secret.js",
        "/x.js",
        "//runs.js",
    ] {
        let (head, body) = served.get(path);
        assert!(head.starts_with("HTTP/1.1 404"), "{path}: {head}");
        assert_eq!(body, "There is no such file. The page is at /.\n", "{path}");
    }
    let long = "x".repeat(20_000);
    for (request, status) in [
        ("GET / HTTP/1.1\nHost: evil.example\n\n".to_owned(), "403"),
        (format!("GET /runs.js HTTP/1.1\nHost: {address}.evil.example\n\n"), "403"),
        (format!("POST /runs.js HTTP/1.1\nHost: {address}\nContent-Length: 0\n\n"), "405"),
        (format!("DELETE /runs.js HTTP/1.1\nHost: {address}\n\n"), "405"),
        (format!("GET / HTTP/1.1\nHost: {address}\nCookie: {long}\n\n"), "431"),
    ] {
        let answer = answer(address, &request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:.60} {answer}");
    }
    let head = answer(address, &format!("HEAD /runs.js HTTP/1.1\nHost: {address}\n\n"));
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
    let taken = store.run(&["serve", "--listen", address]).complaint(1);
    assert_told(&taken, &["another program listens", "--listen 127.0.0.1:0"]);
    assert_eq!(served.end().code, Some(0));
}

#[test]
fn last_site_is_served_on_when_the_store_cannot_be_read() {
    let store = filled();
    let served = Served::begin(&store, &[]);
    assert_eq!(served.frameworks().len(), 2);
    let (place, away) = (store.place().to_owned(), store.folder.path().join("away"));
    fs::rename(&place, &away).unwrap();
    fs::write(&place, "no folder").unwrap();
    for _ in 0..5 {
        assert_eq!(served.frameworks().len(), 2);
        std::thread::sleep(Duration::from_millis(500));
    }
    fs::remove_file(&place).unwrap();
    fs::rename(&away, &place).unwrap();
    ingest(&store, "spring");
    wait_for("the third run is shown", || served.frameworks().len() == 3);
    let done = served.end();
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(done.err.matches("the site stays as it was").count(), 1, "{}", done.err);

    // The site of before is there at once at the next start, though it can't be looked at.
    fs::rename(&place, &away).unwrap();
    let refused = store.run(&["serve", "--listen", "127.0.0.1:0"]).complaint(1);
    assert_told(&refused, &["there is no store"]);
}

#[test]
fn two_hundred_readers_at_once_get_all() {
    let store = filled();
    let served = Served::begin(&store, &[]);
    let list = served.list();
    let file = format!("/{}", list["runs"][0]["file"].as_str().unwrap());
    let (app, run) = (served.get("/app.js").1, served.get(&file).1);
    let begin = Arc::new(Barrier::new(200));
    let readers: Vec<_> = (0..200)
        .map(|_| {
            let (begin, address) = (Arc::clone(&begin), served.address.clone());
            let (file, app, run) = (file.clone(), app.len(), run.len());
            std::thread::spawn(move || {
                begin.wait();
                let sizes = ["/app.js", &file].map(|path| get(&address, path).1.len());
                assert_eq!(sizes, [app, run]);
            })
        })
        .collect();
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    assert_eq!(served.end().code, Some(0));
}

/// A page that is open shows what is stored, without being loaded again, and says when the server is gone.
#[test]
fn open_page_shows_what_is_stored_meanwhile() {
    let Some(mut browser) = Chromium::start() else { return };
    let store = filled();
    let served = Served::begin(&store, &[]);
    served.list();
    browser.visit(&format!("http://{}/", served.address));
    browser.evaluate("void (window.loaded = 'once')");
    let mut until = |expression: &str| {
        browser.evaluate(&format!(
            "new Promise((done, fail) => {{
                setTimeout(() => fail(new Error(document.body.innerText)), 50000);
                const look = () => ({expression}) ? done(true) : setTimeout(look, 20);
                look();
            }})"
        ));
    };
    until("document.querySelectorAll('.run-row').length === 2");
    until("document.querySelector('.run-row input').click() || true");
    ingest(&store, "spring");
    until("document.querySelectorAll('.run-row').length === 3");
    until("document.querySelector('.sidebar .lists').innerText.includes('Home\\n3')");
    until("document.querySelectorAll('.run-row input:checked').length === 1 && window.loaded === 'once'");
    until("(location.hash = document.querySelector('a[href*=\"run/spring\"]').hash) !== ''");
    until("document.querySelector('h1').textContent.includes('spring #1')");
    store.run(&["drop", "spring_a/b"]).said();
    until("document.querySelector('main').innerText.includes('no such run')");
    assert_eq!(served.end().code, Some(0));
    until("document.querySelector('.notice').innerText.startsWith('The server can')");
}

/// A browser that only says what it was asked to open.
fn browser(store: &Store) -> String {
    let browser =
        store.file("browser", "#!/bin/sh\nprintf '%s' \"$1\" > opened.part && mv opened.part opened\n");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    browser
}

#[test]
fn open_starts_a_browser_at_the_site_or_at_the_store() {
    let store = filled();
    let (browser, opened) = (browser(&store), store.folder.path().join("opened"));
    let mut command = store.command(&["open"]);
    command.env("BROWSER", &browser);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the browser is started", || opened.is_file());
    let address = fs::read_to_string(&opened).unwrap();
    let host = address.strip_prefix("http://").unwrap().strip_suffix('/').unwrap();
    wait_for("the site is served", || get(host, "/runs.js").1.contains("\"node\""));
    signal("INT", child.id());
    let ended = finish(child);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_told(&ended.err, &[&address]);

    store.run(&["site", "public"]).said();
    fs::remove_file(&opened).unwrap();
    let mut command = perfpipe();
    command.args(["open", "public"]).current_dir(store.folder.path()).env("BROWSER", &browser);
    assert_eq!(done(&mut command).code, Some(0));
    wait_for("the browser is started", || opened.is_file());
    assert_eq!(fs::read_to_string(&opened).unwrap(), "public/index.html");

    let mut command = perfpipe();
    command.args(["open", "public"]).current_dir(store.folder.path());
    for name in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"] {
        command.env_remove(name);
    }
    assert_told(&done(&mut command).said(), &["no display", "public/index.html"]);
    let mut command = perfpipe();
    command.args(["open", "nowhere"]).current_dir(store.folder.path()).env("BROWSER", &browser);
    assert_told(&done(&mut command).complaint(1), &["there is no store at nowhere"]);
}
