//! A headless Chromium that is told what to do over its DevTools pipe: JSON, each message ended by a NUL.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::postgres::required::skip;
use crate::support::Watch;

/// How long an answer may take before the browser counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one page; it ends with this, also where a test fails.
pub(crate) struct Chromium {
    child: Child,
    pipe: ChildStdin,
    messages: Receiver<Value>,
    /// What it told besides answers.
    events: Vec<Value>,
    session: Option<String>,
    calls: u64,
    watch: Watch,
    _profile: tempfile::TempDir,
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its other processes end with the first.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Chromium {
    /// Starts one; `None`, with a note, where there is none and none is demanded.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            skip("CHROMIUM", "no Chromium is installed");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let mut child = spawn(program, profile.path());
        let (pipe, mut out) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|length| length > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let watch = Watch::over(&child);
        let mut browser = Self {
            child,
            pipe,
            messages,
            events: Vec::new(),
            session: None,
            calls: 0,
            watch,
            _profile: profile,
        };
        browser.attach();
        Some(browser)
    }

    /// Says that it does not hang though it goes on for so long.
    pub(crate) fn goes_on(&mut self) {
        self.watch = Watch::over(&self.child);
    }

    fn attach(&mut self) {
        let page = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        self.session =
            Some(self.call("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.call(&format!("{domain}.enable"), json!({}));
        }
    }

    /// Asks for something and gives the answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.pipe.write_all(&bytes).unwrap();
        loop {
            let message =
                self.messages.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// The events of a kind that were told so far.
    pub(crate) fn events(&self, method: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["method"] == method).map(|event| &event["params"]).collect()
    }

    /// Opens a file and waits until it is loaded and drawn; gives its address.
    pub(crate) fn open(&mut self, path: &Path) -> String {
        let address = format!("file://{}", path.display());
        self.visit(&address);
        address
    }

    /// Opens an address and waits until it is loaded and drawn.
    pub(crate) fn visit(&mut self, address: &str) {
        self.load("Page.navigate", json!({ "url": address }));
        // Charts are drawn when they are seen, which is told after a frame.
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))");
    }

    /// Asks for something that loads a page, and waits until it is loaded.
    pub(crate) fn load(&mut self, method: &str, params: Value) {
        let before = self.events.len();
        self.call(method, params);
        let is_loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events[before..].iter().any(is_loaded) {
            let event = self.messages.recv_timeout(PATIENCE).expect("the page loads");
            self.events.push(event);
        }
    }

    /// The value of an expression of the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// The value of an expression that is a number.
    pub(crate) fn number(&mut self, expression: &str) -> f64 {
        let value = self.evaluate(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// Lets the pointer do something at a place of the window, the left button down or not.
    pub(crate) fn pointer(&mut self, what: &str, x: f64, y: f64, down: bool) {
        let buttons = i32::from(down);
        let button = if what == "mouseMoved" { "none" } else { "left" };
        let params =
            json!({ "type": what, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Presses a key and lets it go.
    pub(crate) fn key(&mut self, key: &str) {
        for what in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": what, "key": key }));
        }
    }

    /// What the page complained of, and every address that it asked for.
    pub(crate) fn complaints_and_requests(&self) -> (Vec<String>, Vec<String>) {
        let kinds = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"];
        let complaints = kinds.iter().flat_map(|kind| self.events(kind)).map(Value::to_string).collect();
        let requests = self.events("Network.requestWillBeSent");
        (
            complaints,
            requests.iter().map(|event| event["request"]["url"].as_str().unwrap().to_owned()).collect(),
        )
    }
}

/// The browser's program.
fn program() -> Option<&'static str> {
    let there = |name: &&str| {
        let told = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        told.is_ok_and(|status| status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(there)
}

/// Starts the browser with its pipe, which it has at 3 and 4, at our ends of its standard input and output.
fn spawn(program: &str, profile: &Path) -> Child {
    let shell = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
    let mut command = Command::new("sh");
    command.args([
        "-c",
        shell,
        program,
        "--headless",
        "--remote-debugging-pipe",
        "--disable-gpu",
        "--no-first-run",
    ]);
    // As root it has no sandbox; it opens nothing but our own files.
    command.args(["--no-sandbox", "--disable-background-networking", "--disable-component-update"]);
    command.args([
        "--disable-dev-shm-usage",
        "--disable-sync",
        "--no-default-browser-check",
        "--window-size=1280,2400",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}
