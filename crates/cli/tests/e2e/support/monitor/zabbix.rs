//! Answers as Zabbix 6.0 and 7.2 do.

use serde_json::{Value, json};

use super::{Asked, EXPIRED, Reply, TOKEN};

/// Zabbix with items of which each has the same readings, times the number `times` of the item.
pub(crate) struct Zabbix {
    pub(crate) version: &'static str,
    pub(crate) items: Value,
    /// Epoch seconds and readings.
    pub(crate) readings: Vec<(i64, f64)>,
    pub(crate) trends: bool,
}

impl Default for Zabbix {
    fn default() -> Self {
        let item = json!({"itemid": "44518", "name": "CPU", "key_": "system.cpu.util", "value_type": "0", "units": "%",
            "delay": "1s", "lastclock": "1795203000", "hosts": [{"host": "sut"}]});
        Self { version: "6.0.14", items: json!([item]), readings: Vec::new(), trends: false }
    }
}

impl Zabbix {
    /// Adds an item.
    pub(crate) fn with(mut self, id: &str, (host, key): (&str, &str), kind: &str, times: f64) -> Self {
        let item = json!({"itemid": id, "name": key, "key_": key, "value_type": kind, "lastclock": "1795203000",
            "hosts": [{"host": host}], "times": times});
        self.items.as_array_mut().unwrap().push(item);
        self
    }

    pub(crate) fn answer(&self, asked: &Asked) -> Reply {
        let request: Value = serde_json::from_str(&asked.body).unwrap();
        let parameters = &request["params"];
        match request["method"].as_str().unwrap() {
            "apiinfo.version" => result(json!(self.version)),
            "user.login" if parameters["password"] == "zabbix" => result(json!(TOKEN)),
            "user.login" => error("Incorrect user name or password or account is temporarily blocked."),
            method => match self.refusal(asked, &request) {
                Some("API token expired.") => fault(-32500, "Application error.", "API token expired."),
                Some(why) => error(why),
                None => self.result(method, parameters),
            },
        }
    }

    /// Why a token is refused, as the versions tell it.
    fn refusal(&self, asked: &Asked, request: &Value) -> Option<&'static str> {
        let bearer = asked.authorization.as_deref().and_then(|header| header.strip_prefix("Bearer "));
        let in_body = request["auth"].as_str();
        let token = match self.version.starts_with("6.0") {
            true => in_body,
            false if in_body.is_some() => return Some("unexpected parameter \"auth\"."),
            false => bearer,
        };
        match token {
            Some(TOKEN) => None,
            Some(EXPIRED) => Some("API token expired."),
            Some(_) => Some("Session terminated, re-login, please."),
            None => Some("Not authorized."),
        }
    }

    fn result(&self, method: &str, parameters: &Value) -> Reply {
        match method {
            "host.get" if parameters["filter"]["host"][0] == "sut" => result(json!([{"hostid": "1"}])),
            "item.get" if parameters["search"]["key_"] == "system.cpu.num" => {
                let cores = if parameters["host"] == "sut" { "4" } else { "2" };
                result(json!([{"lastvalue": cores}]))
            }
            "item.get" => result(self.items(parameters)),
            "history.get" => result(self.history(parameters)),
            "trend.get" if self.trends => result(json!([{"clock": "1795201200"}])),
            _ => result(json!([])),
        }
    }

    /// The items that are asked for by number, or by host and key.
    fn items(&self, parameters: &Value) -> Value {
        let is_asked = |item: &&Value| match parameters["itemids"].as_array() {
            Some(ids) => ids.contains(&item["itemid"]),
            None => {
                let host = item.pointer("/hosts/0/host");
                host.is_none_or(|host| *host == parameters["host"])
                    && parameters["filter"]["key_"][0] == item["key_"]
            }
        };
        self.items.as_array().unwrap().iter().filter(is_asked).cloned().collect()
    }

    fn history(&self, parameters: &Value) -> Value {
        let id = &parameters["itemids"][0];
        let item = self.items.as_array().unwrap().iter().find(|item| item["itemid"] == *id).unwrap();
        assert_eq!(
            parameters["history"].to_string(),
            item["value_type"].as_str().unwrap(),
            "the kind of the item"
        );
        let (from, till) =
            (parameters["time_from"].as_i64().unwrap(), parameters["time_till"].as_i64().unwrap());
        let most = parameters["limit"].as_u64().unwrap_or(u64::MAX);
        let within = self.readings.iter().filter(|(clock, _)| (from..=till).contains(clock));
        let entry = |(clock, value): &(i64, f64)| {
            let value = value * item["times"].as_f64().unwrap_or(1.0);
            json!({"itemid": id, "clock": clock.to_string(), "value": value.to_string(), "ns": "1"})
        };
        within.take(usize::try_from(most).unwrap()).map(entry).collect()
    }
}

fn result(result: Value) -> Reply {
    Reply::json(json!({"jsonrpc": "2.0", "result": result, "id": 1}))
}

fn error(data: &str) -> Reply {
    fault(-32602, "Invalid params.", data)
}

fn fault(code: i32, message: &str, data: &str) -> Reply {
    let error = json!({"code": code, "message": message, "data": data});
    Reply::json(json!({"jsonrpc": "2.0", "error": error, "id": 1}))
}
