//! The script of the Action, against a host that answers as GitHub's API does.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::postgres::required::skip;
use crate::support::*;

const SECRET: &str = "ghs_5e0f3c5b9d6a4e1f8b7c2d1a0f9e8d7c";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns true if the programs that the script needs are there.
fn has_programs() -> bool {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let missing: Vec<&str> = ["curl", "jq", "bash"].into_iter().filter(|program| !runs(program)).collect();
    if !missing.is_empty() {
        skip("CURL_JQ", format!("{} is not installed", missing.join(" and ")));
    }
    missing.is_empty()
}

/// A pull request with comments, and answers that come before all others.
#[derive(Default)]
struct PullRequest {
    comments: Vec<Value>,
    /// The statuses of the first requests that write.
    faults: Vec<u16>,
}

impl PullRequest {
    fn comment(&mut self, login: &str, body: &str) -> Value {
        let id = 5_000_000_000_u64 + self.comments.len() as u64;
        let comment = json!({"id": id, "user": {"login": login}, "body": body});
        self.comments.push(comment.clone());
        comment
    }

    fn answer(&mut self, asked: &Asked) -> Reply {
        let text = |status, body: Value| Reply::Text(status, String::new(), body.to_string());
        let mut words = asked.line.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let comments = "/repos/our/repo/issues/7/comments";
        if let Some(query) = path.strip_prefix(&format!("{comments}?per_page=100&page=")) {
            let page: usize = query.parse().unwrap();
            let all: Vec<Value> = self.comments.iter().skip((page - 1) * 100).take(100).cloned().collect();
            return text(200, json!(all));
        }
        if !self.faults.is_empty() {
            return text(self.faults.remove(0), json!({"message": "no"}));
        }
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let body = body["body"].as_str().unwrap();
        if (method, path) == ("POST", comments) {
            return text(201, self.comment("github-actions[bot]", body));
        }
        let id: u64 = path.strip_prefix("/repos/our/repo/issues/comments/").unwrap().parse().unwrap();
        assert_eq!(method, "PATCH");
        let comment = self.comments.iter_mut().find(|comment| comment["id"] == id).unwrap();
        comment["body"] = body.into();
        text(200, comment.clone())
    }
}

/// A job on a runner, and the host of the API.
struct Job {
    store: Store,
    pull_request: Arc<Mutex<PullRequest>>,
    host: Monitor,
}

impl Job {
    fn new(pull_request: PullRequest) -> Self {
        let pull_request = Arc::new(Mutex::new(pull_request));
        let answering = Arc::clone(&pull_request);
        let host = Monitor::new(move |asked| answering.lock().unwrap().answer(asked));
        let store = Store::embedded();
        store.file(
            "event.json",
            json!({"pull_request": {"number": 7}, "repository": {"default_branch": "main"}}).to_string(),
        );
        let mut log = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
        log.extend((0..300_i64).map(|at| {
            format!("{},{},$(touch pwned)`touch pwned`,true,1\n", 1_795_000_000_000 + at * 100, 10 + at % 7)
        }));
        store.file("logs/one $(touch pwned).csv", &log);
        Self { store, pull_request, host }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.store.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn bodies(&self) -> Vec<String> {
        let comments = &self.pull_request.lock().unwrap().comments;
        comments.iter().map(|comment| comment["body"].as_str().unwrap().to_owned()).collect()
    }

    /// The script with the environment of a runner and these inputs.
    fn command(&self, step: &str, inputs: &[(&str, &str)]) -> Command {
        let programs = Path::new(env!("CARGO_BIN_EXE_perfpipe")).parent().unwrap().display().to_string();
        let mut command = Command::new("bash");
        command.arg(root().join("ci/github.sh")).arg(step).current_dir(self.store.folder.path()).env_clear();
        command.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()));
        command.envs([
            ("PERFPIPE_FONTS", "none"),
            ("GITHUB_REPOSITORY", "our/repo"),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_RUN_ID", "99"),
            ("GITHUB_WORKFLOW", "load --> test"),
            ("GITHUB_JOB", "gate"),
            ("GITHUB_SHA", "3f2a9c1"),
            ("GITHUB_REF_NAME", "7/merge"),
            ("GITHUB_HEAD_REF", "main;$(touch pwned)"),
            ("GITHUB_TOKEN", SECRET),
            ("GATE_FILES", "logs/one $(touch pwned).csv\n"),
            ("GATE_TEST", "t;touch pwned"),
            ("GATE_REPORT", "false"),
            ("GATE_RETRY_SECONDS", "0"),
        ]);
        command.env("GITHUB_API_URL", format!("http://{}", self.host.host));
        let files = ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_PATH"];
        command.envs(files.map(|name| (name, self.path(name))));
        command
            .env("GITHUB_EVENT_PATH", self.path("event.json"))
            .env("RUNNER_TEMP", self.store.folder.path());
        command.envs(inputs.iter().copied());
        command
    }

    /// Runs the gate, and returns what it printed.
    fn gate(&self, inputs: &[(&str, &str)], code: i32) -> String {
        let done = done(&mut self.command("gate", inputs));
        let said = format!("{}{}", String::from_utf8_lossy(&done.out), done.err);
        assert_eq!(done.code, Some(code), "{said}");
        assert!(!said.contains(SECRET), "{said}");
        assert!(!self.path("pwned").exists(), "an input was taken for code: {said}");
        said
    }
}

#[test]
fn comment_is_written_once_and_then_replaced_among_pages_of_others() {
    if !has_programs() {
        return;
    }
    let marker = "<!-- perfpipe:load%20--%3E%20test%2Fgate -->";
    let mut pull_request = PullRequest::default();
    for at in 0..230 {
        pull_request
            .comment("somebody", &format!("comment {at}\n\n{}", if at % 2 == 0 { marker } else { "" }));
    }
    let job = Job::new(pull_request);
    job.gate(
        &[("GATE_RULES", "max < 5ms\nmax of \"$(touch pwned)`touch pwned`\" < 1s"), ("GATE_REPORT", "true")],
        4,
    );
    let first = job.bodies();
    assert_eq!(first.len(), 231);
    assert!(
        first[230]
            .starts_with("**Failed: `max < 5ms`** in `app_t;touch pwned`: 16.00 ms; 1 of 2 rules failed\n"),
        "{}",
        first[230]
    );
    assert!(first[230].ends_with(&format!(
        "\n\n[Log and report](https://github.com/our/repo/actions/runs/99)\n\n{marker}\n"
    )));
    assert_eq!(job.read("GITHUB_STEP_SUMMARY"), first[230]);
    let outputs = job.read("GITHUB_OUTPUT");
    assert!(outputs.starts_with("exit-code=4\ncomment="), "{outputs}");
    let report = outputs.lines().find_map(|line| line.strip_prefix("report=")).unwrap();
    assert!(std::fs::read_to_string(report).unwrap().starts_with("<!DOCTYPE html>"));

    job.gate(&[("GATE_RULES", "max < 1s"), ("GITHUB_RUN_ATTEMPT", "2")], 0);
    let second = job.bodies();
    assert!(second[230].starts_with("**Passed**: `max < 1s` in `app_t;touch pwned#2`"), "{}", second[230]);
    assert_eq!((second.len(), &second[..230]), (231, &first[..230]), "comments of others are left alone");
    assert!(job.host.asked().iter().all(|asked| asked.authorization == Some(format!("Bearer {SECRET}"))));
    let lines: Vec<String> = job.host.asked().into_iter().map(|asked| asked.line).collect();
    assert_eq!(
        lines.iter().filter(|line| line.starts_with("GET")).count(),
        6,
        "three pages each time: {lines:?}"
    );
}

#[test]
fn exit_code_is_the_gate_s_whether_the_comment_can_be_written_or_not() {
    if !has_programs() {
        return;
    }
    let job = Job::new(PullRequest { faults: vec![403], ..PullRequest::default() });
    let said = job.gate(&[("GATE_RULES", "max < 5ms")], 4);
    assert_told(&said, &["::warning::the token may not comment (HTTP 403), as in a fork"]);
    assert!(
        job.bodies().is_empty() && job.read("GITHUB_STEP_SUMMARY").starts_with("**Failed: `max < 5ms`**")
    );

    job.pull_request.lock().unwrap().faults = vec![500, 502];
    // There is no baseline: 3, unless that passes.
    let baseline = [("GATE_RULES", "p95 < baseline"), ("GITHUB_RUN_ATTEMPT", "2")];
    let said = job.gate(&baseline, 3);
    assert!(!said.contains("::warning::"), "{said}");
    let bodies = job.bodies();
    assert!(bodies.len() == 1 && bodies[0].starts_with("**No baseline**"), "{bodies:?}");
    let passes = [("GATE_NO_BASELINE", "pass"), ("GITHUB_RUN_ATTEMPT", "3"), ("GATE_COMMENT", "false")];
    job.gate(&[&baseline[..1], &passes].concat(), 0);
    assert_eq!(job.bodies(), bodies, "no comment is wanted");

    // Both versions are measured in the job.
    let both =
        [("GATE_BASELINE_FILES", "logs"), ("GATE_RULES", "p95 <= baseline"), ("GITHUB_RUN_ATTEMPT", "4")];
    job.gate(&both, 0);
    assert!(job.bodies()[0].starts_with("**Passed**: "), "{:?}", job.bodies());

    // Nothing is checked: a log is missing.
    let said = job.gate(&[("GATE_FILES", "--help"), ("GATE_RULES", "max < 5ms")], 1);
    assert!(!said.contains("Usage: perfpipe"), "{said}");
    assert!(
        job.bodies()[0].starts_with("**Not checked**: perfpipe ended with exit code 1"),
        "{:?}",
        job.bodies()
    );
}

#[test]
fn release_is_run_only_with_its_checksum() {
    if !has_programs() {
        return;
    }
    let job = Job::new(PullRequest::default());
    let release = job.store.file("release", "#!/bin/sh\necho released\n");
    let (release, sum) =
        (format!("file://{release}"), Command::new("sha256sum").arg(&release).output().unwrap());
    let sum = String::from_utf8(sum.stdout).unwrap()[..64].to_owned();
    let install =
        |sum: &str| done(&mut job.command("install", &[("GATE_RELEASE", &release), ("GATE_SHA256", sum)]));
    for (wrong, told) in [("", "give sha256"), ("x", "not 64 digits"), (&*"0".repeat(64), "another checksum")]
    {
        assert_told(&install(wrong).complaint(1), &[told]);
    }
    assert_eq!(job.read("GITHUB_PATH"), "");
    install(&sum).said();
    let path = job.read("GITHUB_PATH");
    let told = Command::new(Path::new(path.trim_end()).join("perfpipe")).output().unwrap();
    assert_eq!(told.stdout, b"released\n");
}

/// Inputs are passed by the environment: in the text of a step they would be code.
#[test]
fn steps_of_the_action_have_no_inputs_in_their_text() {
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let steps: Vec<&str> = action.lines().map(str::trim).filter(|line| line.starts_with("run:")).collect();
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(steps.iter().all(|step| !step.contains("${{")), "{steps:?}");
    let script = std::fs::read_to_string(root().join("ci/github.sh")).unwrap();
    let documented = |name: &&str| script.split("set -euo").next().unwrap().contains(name);
    let given =
        action.lines().filter_map(|line| line.trim().split_once(": ${{ inputs.")).map(|(name, _)| name);
    let given: Vec<&str> = given.filter(|name| name.starts_with("GATE_")).collect();
    assert!(given.len() > 10 && given.iter().all(documented), "{given:?}");
}
