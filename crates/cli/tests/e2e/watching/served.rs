//! The live page of a watched run.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

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

/// The list of all runs within an answer.
fn list(answer: &str) -> Value {
    let (_, list) = answer.split_once("perfpipe.store(").unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(list.strip_suffix(");\n").unwrap()).unwrap()
}

/// The data of a run within an answer or a file.
fn data(answer: &str) -> Value {
    let (_, packed) = answer.split_once("perfpipe.run(").unwrap_or_else(|| panic!("{answer}"));
    let packed = packed.split('"').nth(3).unwrap();
    let mut json = String::new();
    flate2::read::ZlibDecoder::new(&*base64(packed)).read_to_string(&mut json).unwrap();
    serde_json::from_str(&json).unwrap()
}

/// The bytes of a text in base64.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = |letter: &u8| DIGITS.iter().position(|digit| digit == letter).map(|value| value as u32);
    let letters: Vec<u32> = text.as_bytes().iter().filter_map(value).collect();
    let bytes = |four: &[u32]| {
        let bits = four.iter().enumerate().fold(0, |bits, (at, value)| bits | value << (18 - 6 * at));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    letters.chunks(4).flat_map(bytes).collect()
}

/// The names of the parts of a run.
fn parts(answer: &str) -> Vec<String> {
    let parts = data(answer)["head"]["parts"].clone();
    parts.as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap().to_owned()).collect()
}

/// Waits until the page shows so many seconds.
pub(super) fn until_it_shows(browser: &mut Chromium, seconds: u32) {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    browser.evaluate(&format!(
        "new Promise((done, fail) => {{
            setTimeout(() => fail(new Error(document.body.innerText)), 50000);
            const look = () => {{
                const shown = document.querySelector('.window-text')?.textContent ?? '';
                shown.startsWith('0:00 to {minutes}:{rest:02}') ? done(true) : setTimeout(look, 20);
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
    let count = "function () { return this.filter((one) => { try { return one.matches('div.run') } catch { return false } }).length }";
    let counted = json!({"objectId": elements["objects"]["objectId"], "functionDeclaration": count, "returnByValue": true});
    let counted = browser.call("Runtime.callFunctionOn", counted);
    browser.call("Runtime.releaseObject", json!({"objectId": elements["objects"]["objectId"]}));
    counted["result"]["value"].as_u64().unwrap()
}

/// What stands beside the title, and below it.
fn state(browser: &mut Chromium) -> String {
    browser.evaluate("document.querySelector('.page-head').innerText").as_str().unwrap().to_owned()
}

/// What is said on whatever page is shown.
fn notice(browser: &mut Chromium) -> String {
    browser.evaluate("document.querySelector('.notice').innerText").as_str().unwrap().to_owned()
}

/// The second at which the cursor stands.
fn second(browser: &mut Chromium) -> String {
    browser.evaluate("document.querySelector('.window-at').textContent").as_str().unwrap().to_owned()
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
    assert_told(&state(&mut browser), &["live, 0:15", "750 requests so far", "Pause"]);
    let tiles = browser.evaluate("document.querySelector('.tiles').innerText");
    assert_told(tiles.as_str().unwrap(), &["45 of 750", "last 10 s"]);
    // The cursor stands at the newest second, and shows of another what its line tells.
    assert_told(&second(&mut browser), &["second 14,"]);
    (0..5).for_each(|_| browser.key("ArrowLeft"));
    assert_told(&second(&mut browser), &["second 9,"]);
    let shown = browser.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.time-charts .chart-list > div')]
            .map((row) => [row.querySelector('dt').textContent.trim(), row.querySelector('dd').textContent.trim()]))",
    );
    let names = ["successes", "threads", "p50", "p95", "p99", "failures"];
    let shown: Vec<&str> = names.iter().map(|name| shown[name].as_str().unwrap_or("-")).collect();
    assert_eq!(shown, last_line(&watching.told, "9")[1..]);
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
    until_it_shows(&mut browser, 16);
    assert_told(&notice(&mut browser), &["The test has ended, and is stored: perfpipe report go_live"]);
    let (complaints, requests) = browser.complaints_and_requests();
    assert!(complaints.iter().all(|complaint| complaint.contains("favicon")), "{complaints:?}");
    assert!(requests.iter().all(|asked| asked.starts_with(&format!("http://{address}/"))), "{requests:?}");
    assert_same_as_ingest(&store, &[("run.jtl", log(0..16))]);
}

/// The page has the other runs of the store beside the live one, the rules so far, and at the end the stored run, whatever
/// its number.
#[test]
fn page_has_the_store_and_becomes_that_of_the_stored_run() {
    let Some(mut browser) = Chromium::start() else { return };
    let (store, address) = (Store::embedded(), free());
    let before = store.file("before.jtl", log(0..9));
    store.run(&[&["ingest", &before], &NAMED[..]].concat()).said();
    let rules = store.file("rules.toml", "rules = [\"p95 < 1s\", \"failures < 1%\"]\n");
    let mut writer = Writer::new(&store, "run.jtl");
    let serve = ["run.jtl", "--serve", &address, "--append-repeat", "--rules", &rules];
    let mut watching = Watching::begin(&store, &[&serve[..], &NAMED[..]].concat());
    writer.write(&log(0..6));
    watching.until(4);
    browser.visit(&format!("http://{address}/"));
    until_it_shows(&mut browser, 5);
    let rules = "document.querySelector('.rules').innerText.replace(/\\s+/g, ' ')";
    let rules = browser.evaluate(rules).as_str().unwrap().to_owned();
    assert_told(&rules, &["Rule, so far", "✓ p95 < 1s", "✗ failures < 1%"]);
    let listed = "new Promise((done) => {
        const look = () => {
            const rows = [...document.querySelectorAll('.run-row')].map((row) => row.innerText.replace(/\\s+/g, ' '));
            rows.length === 2 ? done(rows.join('; ')) : setTimeout(look, 20);
        };
        location.hash = '#/';
        look();
    })";
    let listed = browser.evaluate(listed).as_str().unwrap().to_owned();
    assert_told(&listed, &["go liverunning 250", "live #1"]);
    browser.evaluate("history.back()");
    until_it_shows(&mut browser, 5);
    writer.write(&records(6..9, ""));
    watching.until(7);
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(4), "{}", done.err);
    until_it_shows(&mut browser, 9);
    assert_told(&notice(&mut browser), &["The test has ended, and is stored: perfpipe report 'go_live#2'"]);
    assert_told(&state(&mut browser), &["go #2", "◂ #1", "1 of 2 rules failed"]);
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
            const look = () => document.querySelector('.pill').textContent.includes('lost since') ? done(true) : setTimeout(look, 50);
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
        (format!("GET /../run.jtl HTTP/1.1\nHost: {address}\n\n"), "404 Not Found", "no such file"),
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
    let request = format!("GET /runs.js HTTP/1.1\nHost: {address}\n\n");
    let list = list(&answer(&address, &request));
    let file = list["runs"][0]["file"].as_str().unwrap();
    let run = answer(&address, &format!("GET /{file} HTTP/1.1\nHost: {address}\n\n"));
    assert_eq!(parts(&run), ["whole"]);
    assert_eq!(watching.end("INT").0.code, Some(0));
    let site = store.folder.path().join("site");
    store.run(&["site", site.to_str().unwrap()]).said();
    let run = std::fs::read_dir(site.join("runs")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(parts(&std::fs::read_to_string(run).unwrap()), ["whole", "hold", "tail"]);
}

#[test]
fn list_of_a_running_test_names_its_newest_state_and_events_end_with_it() {
    let (store, address) = (Store::embedded(), free());
    let (mut writer, mut watching) = served(&store, &address);
    let ask = |path: &str| answer(&address, &format!("GET {path} HTTP/1.1\nHost: {address}\n\n"));
    // Whoever asks for the page is shown what is new.
    let mut newest = Value::Null;
    wait_for("the page has the fifth second", || {
        ask("/");
        newest = list(&ask("/runs.js"));
        newest["runs"][0]["requests"] == 250
    });
    let live = &newest["served"]["live"];
    assert_eq!(live["run"], newest["runs"][0]["id"]);
    assert_eq!(newest["runs"][0]["file"], format!("runs/live-{}.js", live["state"]));
    assert_eq!(newest["name"], "store");
    writer.write(&records(6..9, ""));
    watching.until(7);
    let mut events = TcpStream::connect(&address).unwrap();
    write!(events, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    signal("INT", watching.child.id());
    let mut told = String::new();
    events.read_to_string(&mut told).unwrap();
    assert_told(
        &told,
        &[
            "event: list\ndata: ",
            "event: live\ndata: ",
            "event: stored\ndata: go-live-1-",
            "event: ended\ndata: The test has ended",
        ],
    );
    let (done, _) = watching.ended();
    assert_eq!(done.code, Some(0), "{}", done.err);
}

/// At the end, the page has the figures of the stored run.
#[test]
fn last_state_has_the_figures_of_the_stored_run() {
    let (store, address) = (Store::embedded(), free());
    let (mut writer, mut watching) = served(&store, &address);
    writer.write(&records(6..9, ""));
    watching.until(7);
    let mut events = TcpStream::connect(&address).unwrap();
    write!(events, "GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    // A page that follows is shown the last state.
    let mut begun = [0; 64];
    assert!(events.read(&mut begun).unwrap() > 0);
    signal("INT", watching.child.id());
    // Until the end, and for a moment more, the page can be asked for.
    let request = format!("GET /runs.js HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut shown = Value::Null;
    while let Ok(mut stream) = TcpStream::connect(&address) {
        let mut answer = String::new();
        let asked = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
        if asked.is_ok() && answer.ends_with(");\n") {
            shown = list(&answer)["runs"][0].clone();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut told = String::new();
    events.read_to_string(&mut told).unwrap();
    assert_told(&told, &["event: ended\ndata: The test has ended"]);
    assert_eq!(watching.ended().0.code, Some(0));
    let exported =
        store.run(&["export", "go_live", "--what", "summary", "--format", "json"]).json()[0].clone();
    assert_eq!(shown["requests"], 450);
    for figure in ["p50", "p95", "p99", "throughput"] {
        assert_eq!(shown[figure].as_f64(), exported[figure].as_f64(), "{figure}: {exported}");
    }
}
