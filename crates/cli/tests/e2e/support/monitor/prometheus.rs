//! Answers as Prometheus does.

use serde_json::{Value, json};

use super::{Asked, EXPIRED, Reply, TOKEN};

/// A second of a reading.
const BEGIN: i64 = 8;

/// Prometheus with series that are read at an interval. What a step gives is the second of the latest reading, times the
/// number of its series.
pub(crate) struct Prometheus {
    /// The seconds between readings.
    pub(crate) interval: i64,
    /// The hosts, each a series.
    pub(crate) instances: Vec<&'static str>,
    /// The number of points from which on it refuses to answer.
    pub(crate) most: i64,
    /// The seconds that have readings.
    pub(crate) known: std::ops::Range<i64>,
}

impl Default for Prometheus {
    fn default() -> Self {
        Self { interval: 1, instances: vec![""], most: 11_000, known: 0..i64::MAX }
    }
}

impl Prometheus {
    pub(crate) fn answer(&self, asked: &Asked) -> Reply {
        match asked.authorization.as_deref().and_then(|header| header.strip_prefix("Bearer ")) {
            Some(TOKEN) => {}
            Some(EXPIRED) => {
                let expired = "WWW-Authenticate: Bearer error=\"invalid_token\", error_description=\"The token expired\"\r\n";
                return Reply::Text(401, expired.to_owned(), "Unauthorized".to_owned());
            }
            _ => return Reply::Text(401, String::new(), "Unauthorized".to_owned()),
        }
        match asked.line.contains("/api/v1/query?") {
            true => self.instant(asked.number("time")),
            false => self.range((asked.number("start"), asked.number("end")), asked.number("step")),
        }
    }

    /// The readings themselves of five minutes.
    fn instant(&self, time: i64) -> Reply {
        let within = (time - 299..=time)
            .filter(|second| (second - BEGIN).rem_euclid(self.interval) == 0 && self.known.contains(second));
        let values: Vec<Value> = within.map(|second| json!([second as f64 - 0.719, "1"])).collect();
        self.matrix(|_| values.clone())
    }

    fn range(&self, (start, end): (i64, i64), step: i64) -> Reply {
        if (end - start) / step >= self.most {
            let error = "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)";
            let body = json!({"status": "error", "errorType": "bad_data", "error": error});
            return Reply::Text(400, String::new(), body.to_string());
        }
        self.matrix(|number| {
            let steps = (start..=end).step_by(step as usize).filter(|second| self.known.contains(second));
            let value = |second: i64| (second - (second - BEGIN).rem_euclid(self.interval)) % 1000 * number;
            steps.map(|second| json!([second, value(second).to_string()])).collect()
        })
    }

    fn matrix(&self, values: impl Fn(i64) -> Vec<Value>) -> Reply {
        let metric = |instance: &str| match instance {
            "" => json!({}),
            instance => json!({"job": "node", "instance": instance}),
        };
        let of =
            |(number, instance): (i64, &&str)| json!({"metric": metric(instance), "values": values(number)});
        let result: Vec<Value> = (1..).zip(&self.instances).map(of).collect();
        Reply::json(json!({"status": "success", "data": {"resultType": "matrix", "result": result}}))
    }
}

/// Answers as Prometheus with one series that is read each second.
pub(crate) fn prometheus(asked: &Asked) -> Reply {
    Prometheus::default().answer(asked)
}
