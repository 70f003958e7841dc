//! The live page of a watched run.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;

use super::same::{NAMED, assert_same_as_ingest};
use super::shown::last_line;
use super::writer::{HEADER, T0, Watching, Writer, log, records};
use crate::support::*;
use crate::tools::chromium::Chromium;

/// An address of this machine with a port that is free.
pub(super) fn free() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Watches a log of six seconds with a page.
fn served(store: &Store, address: &str) -> (Writer, Watching) {
    let mut writer = Writer::new(store, "run.jtl");
    let mut watching = Watching::begin(store, &[&["run.jtl", "--serve", address], &NAMED[..]].concat());
    writer.write(&log(0..6));
    watching.until(4);
    (writer, watching)
}

/// The answer to a request, as it comes.
fn answer(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    // A server that refuses a request need not read all of it, so that its end may be a reset.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// Waits until the page shows so many seconds.
pub(super) fn until_it_shows(browser: &mut Chromium, seconds: u32) {
    browser.evaluate(&format!(
        "new Promise((done, fail) => {{
            setTimeout(() => fail(new Error(document.body.innerText)), 50000);
            const look = () => {{
                const shown = document.querySelectorAll('main').length === 1 && document.getElementById('index');
                shown && JSON.parse(shown.textContent).runs[0].seconds === {seconds} ? done(true) : setTimeout(look, 20);
            }};
            look();
        }})"
    ));
}

/// The number of elements, with those that are kept though they are not shown, and of listeners.
pub(super) fn kept(browser: &mut Chromium) -> (u64, u64) {
    browser.call("HeapProfiler.collectGarbage", json!({}));
    let counters = browser.call("Memory.getDOMCounters", json!({}));
    (counters["nodes"].as_u64().unwrap(), counters["jsEventListeners"].as_u64().unwrap())
}

/// The number of states of the page that are kept: the one that is shown, and those that something still holds.
fn copies(browser: &mut Chromium) -> u64 {
    let prototype = browser.call("Runtime.evaluate", json!({"expression": "HTMLElement.prototype"}));
    let asked = json!({"prototypeObjectId": prototype["result"]["objectId"]});
    let elements = browser.call("Runtime.queryObjects", asked);
    // The prototype itself has no name.
    let count = "function () { return this.filter((one) => { try { return one.tagName === 'MAIN' } catch { return false } }).length }";
    let counted = json!({"objectId": elements["objects"]["objectId"], "functionDeclaration": count, "returnByValue": true});
    let counted = browser.call("Runtime.callFunctionOn", counted);
    browser.call("Runtime.releaseObject", json!({"objectId": elements["objects"]["objectId"]}));
    counted["result"]["value"].as_u64().unwrap()
}

/// The line about the state of the test.
fn state(browser: &mut Chromium) -> String {
    browser.evaluate("document.getElementById('state').textContent").as_str().unwrap().to_owned()
}

#[test]
fn page_keeps_up_with_the_lines() {
    let Some(mut browser) = Chromium::start() else { return };
    let (store, address) = (Store::embedded(), free());
    let (mut writer, mut watching) = served(&store, &address);
    browser.visit(&format!("http://{address}/"));
    until_it_shows(&mut browser, 5);
    let mut sizes = Vec::new();
    for end in 7..17_u32 {
        writer.write(&records(i64::from(end) - 1..i64::from(end), ""));
        until_it_shows(&mut browser, end - 1);
        sizes.push(kept(&mut browser));
    }
    watching.until(14);
    // What was drawn last may be kept until the next frame.
    let one = (0..100).map(|_| copies(&mut browser)).find(|copies| *copies == 1);
    assert_eq!(one, Some(1), "earlier states of the page are kept");
    let (third, last) = (sizes[2], sizes[9]);
    assert!(last.0 < third.0 * 5 / 4 && last.1 < third.1 * 5 / 4, "{sizes:?}");
    let facts = browser.evaluate("document.querySelector('.facts').innerText");
    assert_told(facts.as_str().unwrap(), &["live", "750", "45 (6"]);
    // The cross-hair tells of a second what its line tells, and holds the page.
    browser.evaluate(
        "{ const second = document.querySelector('.scrub'); second.value = 9; second.dispatchEvent(new Event('input')) }",
    );
    let told = browser.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#live-0 [data-reading]')]
            .map((place) => [place.dataset.reading, parseFloat((place.title || place.textContent).replace('second ', '')).toFixed(0)]))",
    );
    let line = last_line(&watching.told, "9").join(" ");
    let names = ["second", "successes/s", "load", "p50", "p95", "p99", "failures/s"];
    let told: Vec<&str> = names.iter().map(|name| told[name].as_str().unwrap_or("-")).collect();
    assert_eq!(told.join(" "), line);
    browser.key("Escape");
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
    until_it_shows(&mut browser, 16);
    assert_told(&state(&mut browser), &["ended", "perfpipe report go_live"]);
    let (complaints, requests) = browser.complaints_and_requests();
    assert!(complaints.iter().all(|complaint| complaint.contains("favicon")), "{complaints:?}");
    assert!(requests.iter().all(|asked| asked.starts_with(&format!("http://{address}/"))), "{requests:?}");
    assert_same_as_ingest(&store, &[("run.jtl", log(0..16))]);
}

#[test]
fn page_tells_that_the_connection_is_lost() {
    let Some(mut browser) = Chromium::start() else { return };
    let (store, address) = (Store::embedded(), free());
    let (_writer, mut watching) = served(&store, &address);
    browser.visit(&format!("http://{address}/"));
    until_it_shows(&mut browser, 5);
    watching.child.kill().unwrap();
    browser.evaluate(
        "new Promise((done) => {
            const look = () => document.getElementById('state').textContent.includes('lost') ? done(true) : setTimeout(look, 50);
            look();
        })",
    );
    watching.child.wait().unwrap();
}

#[test]
fn only_readers_of_this_machine_are_answered() {
    let (store, address) = (Store::embedded(), free());
    let (_writer, watching) = served(&store, &address);
    let port = address.rsplit(':').next().unwrap();
    let (long, nothing) = ("x".repeat(20_000), "");
    let cases = [
        (format!("GET / HTTP/1.1\nHost: {address}\n\n"), "200 OK", "</html>"),
        (format!("GET / HTTP/1.1\nHost: localhost:{port}\n\n"), "200 OK", "connect-src 'self'"),
        (format!("HEAD / HTTP/1.1\nHost: {address}\n\n"), "200 OK", "no-store"),
        (format!("HEAD /events HTTP/1.1\nHost: {address}\n\n"), "200 OK", "text/event-stream"),
        (format!("GET /../run.jtl HTTP/1.1\nHost: {address}\n\n"), "404 Not Found", "only the page"),
        (
            format!("POST / HTTP/1.1\nHost: {address}\nContent-Length: 0\n\n"),
            "405 Method",
            "allow: GET, HEAD",
        ),
        (format!("GET / HTTP/1.1\nHost: evil.example:{port}\n\n"), "403 Forbidden", "Host header"),
        (format!("GET / HTTP/1.1\nHost: {address}\nHost: evil.example\n\n"), "403 Forbidden", nothing),
        (format!("GET http://{address}/ HTTP/1.1\nHost: evil.example\n\n"), "403 Forbidden", nothing),
        ("GET / HTTP/1.0\n\n".to_owned(), "403 Forbidden", nothing),
        (format!("GET / HTTP/1.1\nHost: {address}\nCookie: {long}\n\n"), "431 Request Header", nothing),
        ("nonsense\n\n".to_owned(), "400 Bad Request", nothing),
    ];
    for (request, status, part) in cases {
        let answer = answer(&address, &request);
        assert!(
            answer.split_once(' ').is_some_and(|(_, rest)| rest.starts_with(status)),
            "{request}{answer}"
        );
        assert!(answer.contains(part), "{request}{answer}");
        assert!(!request.starts_with("HEAD") || answer.ends_with("\r\n\r\n"), "{answer}");
    }
    let (done, _) = watching.end("INT");
    assert_told(&done.err, &[&format!("http://{address}/")]);
    assert!(!done.err.contains("warning"), "{}", done.err);
}

#[test]
fn readers_who_never_read_do_not_stop_it() {
    let (store, address) = (Store::embedded(), free());
    let (mut writer, mut watching) = served(&store, &address);
    // More than are answered at a time, some of which say nothing either.
    let idle: Vec<TcpStream> = (0..60)
        .map(|number| {
            let mut stream = TcpStream::connect(&address).unwrap();
            let path = ["/", "/events"][number % 2];
            if number % 3 > 0 {
                write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            }
            stream
        })
        .collect();
    writer.write(&records(6..9, ""));
    watching.until(7);
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
    drop(idle);
    assert_same_as_ingest(&store, &[("run.jtl", log(0..9))]);
}

#[test]
fn address_must_be_free_and_one_that_others_reach_is_warned_of() {
    let store = Store::embedded();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert_told(
        &store.run(&["watch", "run.jtl", "--serve", &address]).complaint(1),
        &[&address, "another program", "--serve 127.0.0.1:0"],
    );
    // Addresses for documentation, which no machine has.
    let elsewhere = store.run(&["watch", "run.jtl", "--serve", "192.0.2.1:8090"]).complaint(1);
    assert_told(&elsewhere, &["no such address", "--serve 127.0.0.1:8090", "--serve 0.0.0.0:8090"]);
    assert_told(&store.run(&["watch", "run.jtl", "--serve", "here"]).complaint(2), &["127.0.0.1:8090"]);
    let complaint = store.run(&["watch", "run.jtl", "--serve", "0.0.0.0:0", "--idle-end", "1s"]).complaint(2);
    assert_told(
        &complaint,
        &["warning: --serve 0.0.0.0:", "can read the page", "--serve 127.0.0.1:", "ssh -L"],
    );
}

/// While a load climbs in steps, the first step looks like a hold: only the end tells.
#[test]
fn page_of_a_running_test_names_no_phase() {
    let (store, address) = (Store::embedded(), free());
    let mut writer = Writer::new(&store, "run.jtl");
    let serve = ["run.jtl", "--serve", &address];
    let mut watching = Watching::begin(&store, &[&serve[..], &NAMED[..]].concat());
    writer.write(HEADER);
    for second in 0..14 {
        let threads = if second < 9 { 10 } else { 12 };
        let record = |number: i64| {
            let (at, elapsed) = (T0 + second * 1000 + number * 20, 5 + number % 40);
            format!("{at},{elapsed},Get,200,OK,Group 1-{number},true,120,{threads},{threads},3\n")
        };
        writer.write(&(0..50).map(record).collect::<String>());
    }
    watching.until(11);
    let request = format!("GET / HTTP/1.1\nHost: {address}\nConnection: close\n\n");
    let page = answer(&address, &request);
    let names = ["\"name\":\"hold\"", "\"name\":\"tail\"", "class=\"phases\""];
    assert!(page.contains("\"name\":\"whole\"") && names.iter().all(|name| !page.contains(name)), "{page}");
    assert_eq!(watching.end("INT").0.code, Some(0));
    let phases = store.export(&Key::new("go", "live"), "phases", "csv", &[]);
    assert!(["hold", "tail"].iter().all(|name| phases.contains(name)), "the stored run has phases: {phases}");
}
