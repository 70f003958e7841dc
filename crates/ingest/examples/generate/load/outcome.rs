//! The outcomes of requests: success, and the failures that occur in real logs.

use super::Plan;
use super::random::Random;
use super::record::{fields, quoted};

/// The effect of an outcome on the times of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timing {
    /// The server answered.
    Served,
    /// The client gave up waiting.
    TimedOut,
    /// There was no connection.
    Refused,
}

/// An outcome, with the fields that are the same for all its requests.
pub(super) struct Outcome {
    pub(super) timing: Timing,
    pub(super) success: bool,
    /// responseCode and responseMessage.
    pub(super) response: Vec<u8>,
    /// dataType, success, failureMessage, bytes and sentBytes.
    pub(super) verdict: Vec<u8>,
    /// responseCode and success alone.
    pub(super) short: Vec<u8>,
    pub(super) bytes: i64,
    pub(super) sent_bytes: i64,
    /// The frequency relative to the other failures.
    weight: u64,
}

/// All outcomes.
pub(super) struct Outcomes {
    pub(super) all: Vec<Outcome>,
    failures: f64,
    weights: u64,
}

const SUCCESS: usize = 0;
const REFUSED: usize = 1;

impl Outcomes {
    pub(super) fn new(plan: &Plan) -> Self {
        let all: Vec<Outcome> = kinds(plan).iter().map(|kind| kind.outcome(plan.delimiter)).collect();
        let weights = all.iter().map(|outcome| outcome.weight).sum();
        Self { all, failures: plan.failures, weights }
    }

    /// Returns the index of the next request's outcome.
    #[inline]
    pub(super) fn draw(&self, outage: bool, random: &mut Random) -> usize {
        if outage {
            return REFUSED;
        }
        if self.failures == 0.0 || random.share() >= self.failures {
            return SUCCESS;
        }
        let mut at = random.below(self.weights);
        let chosen = self.all.iter().position(|outcome| {
            let here = at < outcome.weight;
            at = at.saturating_sub(outcome.weight);
            here
        });
        chosen.unwrap_or(REFUSED)
    }
}

/// An outcome before it is formatted.
struct Kind {
    timing: Timing,
    code: &'static str,
    message: String,
    data_type: &'static str,
    /// failureMessage, or `None` for a success.
    failure: Option<String>,
    bytes: i64,
    sent_bytes: i64,
    weight: u64,
}

impl Kind {
    fn outcome(&self, delimiter: u8) -> Outcome {
        let success = if self.failure.is_none() { "true" } else { "false" };
        let failure = self.failure.as_deref().unwrap_or_default();
        let (bytes, sent) = (self.bytes.to_string(), self.sent_bytes.to_string());
        Outcome {
            timing: self.timing,
            success: self.failure.is_none(),
            response: [quoted(self.code, delimiter), quoted(&self.message, delimiter)].join(&delimiter),
            verdict: fields(&[self.data_type, success, failure, &bytes, &sent], delimiter),
            short: fields(&[self.code, success], delimiter),
            bytes: self.bytes,
            sent_bytes: self.sent_bytes,
            weight: self.weight,
        }
    }
}

/// Returns success first, refusal second, then the occasional failures.
fn kinds(plan: &Plan) -> Vec<Kind> {
    let mut kinds = vec![success(plan), refused(plan)];
    kinds.extend(wrong_bodies());
    kinds.extend(server_errors());
    kinds.extend(lost_connections(plan));
    kinds
}

fn success(plan: &Plan) -> Kind {
    let digits = plan.test.len() - plan.test.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let size: i64 = plan.test[plan.test.len() - digits..].parse().unwrap_or(2048);
    Kind {
        timing: Timing::Served,
        code: "200",
        message: "OK".into(),
        data_type: "text",
        failure: None,
        bytes: size.saturating_add(104),
        sent_bytes: 117 + plan.test.len() as i64,
        weight: 0,
    }
}

fn refused(plan: &Plan) -> Kind {
    let server = &plan.server;
    Kind {
        timing: Timing::Refused,
        code: "Non HTTP response code: org.apache.http.conn.HttpHostConnectException",
        message: format!(
            "Non HTTP response message: Connect to {server} [/127.0.0.1] failed: Connection refused"
        ),
        failure: Some(String::new()),
        bytes: 2683,
        sent_bytes: 0,
        ..failure(0)
    }
}

/// Returns successful responses with a failed assertion. The messages have several lines, quotes and delimiters.
fn wrong_bodies() -> [Kind; 2] {
    let body =
        |text: &str| Kind { message: "OK".into(), failure: Some(text.into()), bytes: 171, ..failure(3) };
    [
        body(
            "Body is not as expected:\n\n  wanted   : {\"state\": \"done\"}\n  received : {\"state\": \"queued\", \"place\": 12}\n",
        ),
        body("Field \"quota\" is missing, see the body:\r\n---\r\nname;size\r\n\"Größe\";17\r\n"),
    ]
}

fn server_errors() -> [Kind; 3] {
    let error = |code, message: &str, text: &str, weight| Kind {
        code,
        message: message.into(),
        failure: Some(text.into()),
        ..failure(weight)
    };
    [
        error(
            "500",
            "Internal Server Error",
            "Handler gave up:\n at pool.take(\"main\", 20)\n at serve(7)\n",
            3,
        ),
        error("500", "Pool \"main\" is empty, 20 of 20 taken; see the log", "", 2),
        error("503", "Service Unavailable", "", 1),
    ]
}

fn lost_connections(plan: &Plan) -> [Kind; 2] {
    [
        Kind {
            timing: Timing::TimedOut,
            code: "Non HTTP response code: java.net.SocketTimeoutException",
            message: "Non HTTP response message: Read timed out".into(),
            bytes: 2677,
            sent_bytes: 0,
            ..failure(2)
        },
        Kind {
            code: "Non HTTP response code: org.apache.http.NoHttpResponseException",
            message: format!("Non HTTP response message: {} failed to respond", plan.server),
            bytes: 1865,
            sent_bytes: 0,
            ..failure(1)
        },
    ]
}

/// Returns the values that most failures share.
fn failure(weight: u64) -> Kind {
    Kind {
        timing: Timing::Served,
        code: "200",
        message: String::new(),
        data_type: "text",
        failure: Some(String::new()),
        bytes: 228,
        sent_bytes: 121,
        weight,
    }
}
