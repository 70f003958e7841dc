//! Items of Zabbix, from its API or its database, and their history in the API, which is asked for by windows.

use serde_json::{Value, json};

use super::access::Access;
use super::address::{AskedItems, One};
use super::answered::{
    Answered, AnsweredPart, Nearest, SHIFTED, answer, count, no_readings, of, only_trends,
};
use super::http::{HttpClient, HttpRequest, LARGEST, SMALL, denied};
use crate::source::SourceOptions;
use crate::source::cpu_export::monitor::FoundReadings;
use crate::source::cpu_export::monitor::zabbix::read as read_history;
use perfpipe_model::error::ErrorKind;
use perfpipe_model::run::damage::Fault;
use perfpipe_model::run::options::CpuScale;

/// The seconds of history that are asked for at once.
const WINDOW: i64 = 20_000;

/// A session of the API.
struct ZabbixSession<'a> {
    client: &'a mut HttpClient,
    url: &'a str,
    token: Option<String>,
    /// True if the token belongs into the body, as before version 6.4.
    in_body: bool,
}

/// Reads the history of an item from `first` to `last`, epoch seconds.
pub(super) fn read(
    client: &mut HttpClient,
    url: &str,
    asked: &AskedItems,
    access: &Access,
    (first, last): (i64, i64),
    options: &SourceOptions,
) -> Result<Answered, Fault> {
    let mut session = ZabbixSession { client, url, token: None, in_body: true };
    session.log_in(access)?;
    let read = session.readings(asked, (first, last), options);
    if access.token.is_none() {
        // Whether this works does not matter to the readings.
        session.call("user.logout", json!([])).ok();
    }
    read
}

impl ZabbixSession<'_> {
    fn log_in(&mut self, access: &Access) -> Result<(), Fault> {
        let version = self.call("apiinfo.version", json!({}))?;
        let version = version.as_str().and_then(version_of);
        let version = version.ok_or_else(|| answer("answers, but not as the API of Zabbix does"))?;
        self.in_body = version < (6, 4);
        self.token = match (&access.token, &access.login) {
            (Some(token), _) => Some(token.text().to_owned()),
            (None, Some((user, password))) => {
                let name = if version < (5, 4) { "user" } else { "username" };
                let token = self.call("user.login", json!({ name: user, "password": password.text() }))?;
                token.as_str().map(|token| {
                    self.client.secrets.add(token);
                    token.to_owned()
                })
            }
            (None, None) => return Err(denied("needs a token, or a user and a password")),
        };
        Ok(())
    }

    fn readings(
        &mut self,
        asked: &AskedItems,
        window: (i64, i64),
        options: &SourceOptions,
    ) -> Result<Answered, Fault> {
        let each = asked.each();
        let mut parts = Vec::with_capacity(each.len());
        for item in &each {
            let part = self.part(*item, window, FoundReadings::beside(count(&parts)), options);
            parts.push(part.map_err(|fault| of(*item, each.len(), fault))?);
        }
        Ok(Answered { parts, notes: Vec::new() })
    }

    fn part(
        &mut self,
        asked: One<'_>,
        (first, last): (i64, i64),
        mut found: FoundReadings,
        options: &SourceOptions,
    ) -> Result<AnsweredPart, Fault> {
        let item = self.item(asked)?;
        let mut from = first;
        while from <= last {
            let till = last.min(from + WINDOW - 1);
            let asked = json!({ "itemids": [item.id], "history": item.kind.parse::<u8>().unwrap_or_default(),
                "time_from": from, "time_till": till, "output": "extend", "sortfield": "clock" });
            read_history(&self.ask("history.get", asked, LARGEST)?, &mut found)?;
            from = till + 1;
        }
        if found.len() == 0 {
            return Err(self.nothing(&item, (first, last))?);
        }
        let scale = match item.needs_cores(options) {
            true => Some(item.scale(self.cores(&item)?)?),
            false => item.known_scale(options),
        };
        Ok(AnsweredPart { name: item.name(asked), scale, found })
    }

    /// Finds the item.
    fn item(&mut self, asked: One<'_>) -> Result<ZabbixItem, Fault> {
        let output = json!(["itemid", "name", "key_", "value_type", "units", "delay", "lastclock"]);
        let hosts = json!(["host"]);
        let mut items = Vec::new();
        match asked {
            One::Id(id) => {
                let asked = json!({ "itemids": [id.to_string()], "output": output, "selectHosts": hosts });
                items = self.items(asked)?;
            }
            One::Named { host, item } => {
                for by in ["key_", "name"] {
                    if items.is_empty() {
                        let asked = json!({ "host": host, "filter": { by: [item] }, "output": output, "selectHosts": hosts });
                        items = self.items(asked)?;
                    }
                }
                if items.is_empty() {
                    return Err(self.missing_item(host, item)?);
                }
            }
        }
        only_item(items)
    }

    fn items(&mut self, asked: Value) -> Result<Vec<ZabbixItem>, Fault> {
        let found = self.call("item.get", asked)?;
        let found = found.as_array().ok_or_else(|| answer("answers item.get without a list"))?;
        let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
        Ok(found
            .iter()
            .map(|item| ZabbixItem {
                id: text(item, "itemid"),
                key: text(item, "key_"),
                host: item.pointer("/hosts/0/host").and_then(Value::as_str).unwrap_or_default().to_owned(),
                kind: text(item, "value_type"),
                last_clock: text(item, "lastclock").parse().ok().filter(|clock| *clock > 0),
            })
            .collect())
    }

    /// The fault of an item that is not found: perhaps because of its host.
    fn missing_item(&mut self, host: &str, item: &str) -> Result<Fault, Fault> {
        let asked = json!({ "filter": { "host": [host] }, "output": ["hostid"] });
        let hosts = self.call("host.get", asked)?;
        Ok(missing_item(host, item, hosts.as_array().is_some_and(|hosts| !hosts.is_empty())))
    }

    /// The fault of an item that has no readings of a time: perhaps they were deleted.
    fn nothing(&mut self, item: &ZabbixItem, (first, last): (i64, i64)) -> Result<Fault, Fault> {
        let asked = json!({ "itemids": [item.id], "time_from": first - 3600, "time_till": last, "output": ["clock"], "limit": 1 });
        let trends = self.call("trend.get", asked)?;
        if trends.as_array().is_some_and(|trends| !trends.is_empty()) {
            return Ok(only_trends());
        }
        let before = item.last_clock.filter(|clock| *clock < first);
        let after = match before {
            None => self.first_after(item, last)?,
            Some(_) => None,
        };
        Ok(no_readings((first, last), Nearest { before, after }))
    }

    /// The second of the first reading within some hours after a time.
    fn first_after(&mut self, item: &ZabbixItem, last: i64) -> Result<Option<i64>, Fault> {
        let asked = json!({ "itemids": [item.id], "history": item.kind.parse::<u8>().unwrap_or_default(),
            "time_from": last + 1, "time_till": last + SHIFTED, "output": "extend", "sortfield": "clock", "limit": 1 });
        let found = self.call("history.get", asked)?;
        let clock = found.pointer("/0/clock").and_then(Value::as_str);
        Ok(clock.and_then(|clock| clock.parse().ok()))
    }

    /// The number of the host's cores, if Zabbix reads it.
    fn cores(&mut self, item: &ZabbixItem) -> Result<Option<u32>, Fault> {
        let asked = json!({ "host": item.host, "search": { "key_": CORES }, "startSearch": true, "output": ["lastvalue"] });
        let found = self.call("item.get", asked)?;
        let cores = found.pointer("/0/lastvalue").and_then(Value::as_str).and_then(|text| text.parse().ok());
        Ok(cores.filter(|cores| *cores > 0))
    }

    /// Calls a method, and returns its result.
    fn call(&mut self, method: &str, parameters: Value) -> Result<Value, Fault> {
        let body = self.ask(method, parameters, SMALL)?;
        let mut answered: Value = serde_json::from_slice(&body)
            .map_err(|_| answer(format!("answers {method}, but not as the API of Zabbix does")))?;
        if let Some(error) = answered.get("error") {
            let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
            return Err(self.refused(method, &text("message"), &text("data")));
        }
        Ok(answered.get_mut("result").map(Value::take).unwrap_or_default())
    }

    /// Calls a method, and returns the whole answer.
    fn ask(&mut self, method: &str, parameters: Value, largest: u64) -> Result<Vec<u8>, Fault> {
        let mut request = json!({ "jsonrpc": "2.0", "method": method, "params": parameters, "id": 1 });
        let token = self.token.as_ref().filter(|_| method != "apiinfo.version");
        let mut authorization = None;
        match token {
            Some(token) if self.in_body => {
                request.as_object_mut().map(|request| request.insert("auth".to_owned(), json!(token)));
            }
            Some(token) => authorization = Some(format!("Bearer {token}")),
            None => {}
        }
        let body = request.to_string();
        let request = HttpRequest {
            url: self.url,
            body: Some((&body, "application/json-rpc")),
            authorization,
            largest,
        };
        let answered = self.client.send(&request)?;
        if !answered.status.is_success() {
            return Err(answer(format!("answers {}", answered.status)));
        }
        Ok(answered.body)
    }

    /// The fault of an error that Zabbix answers.
    fn refused(&self, method: &str, message: &str, data: &str) -> Fault {
        let text = format!("{message} {data}");
        let lower = text.to_lowercase();
        let secrets =
            ["not authori", "re-login", "session terminated", "incorrect user name", "api token", "blocked"];
        match method == "user.login" || secrets.iter().any(|words| lower.contains(words)) {
            true => denied(&format!("does not accept the token or the user: {text}")),
            false => answer(format!("answers {method} with an error: {text}")),
        }
    }
}

/// Returns the major and the minor version of Zabbix.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// The maximum number of items that an error lists.
const LISTED: usize = 20;

/// The key of the use of the CPU in percent of the machine, and that of its number of cores.
const CPU: &str = "system.cpu.util";
pub(super) const CORES: &str = "system.cpu.num";

/// An item.
pub(super) struct ZabbixItem {
    pub(super) id: String,
    pub(super) key: String,
    pub(super) host: String,
    /// The kind of its values: 0 or 3 for numbers.
    pub(super) kind: String,
    pub(super) last_clock: Option<i64>,
}

impl ZabbixItem {
    /// What distinguishes it from others that are asked for: its host, or its number.
    pub(super) fn name(&self, asked: One<'_>) -> String {
        match asked {
            One::Id(_) => self.id.clone(),
            One::Named { host, .. } => host.to_owned(),
        }
    }

    /// Returns true if its values are whole numbers.
    pub(super) fn is_whole(&self) -> bool {
        self.kind == "3"
    }

    /// Returns true if its readings are in percent of a machine whose number of cores is not known yet.
    pub(super) fn needs_cores(&self, options: &SourceOptions) -> bool {
        self.is_of_machine(options) && options.cores.is_none()
    }

    /// The unit of its readings, if it is known from its key and its cores.
    pub(super) fn known_scale(&self, options: &SourceOptions) -> Option<CpuScale> {
        let cores = options.cores.filter(|_| self.is_of_machine(options))?;
        Some(CpuScale::PercentOfMachine { cores })
    }

    fn is_of_machine(&self, options: &SourceOptions) -> bool {
        let is_cpu = self.key.split('[').next() == Some(CPU);
        is_cpu && options.cpu_scale.is_none() && options.series.is_none()
    }

    /// The unit of readings in percent of a machine of these cores.
    ///
    /// # Errors
    /// If the number of cores is unknown.
    pub(super) fn scale(&self, cores: Option<u32>) -> Result<CpuScale, Fault> {
        match cores {
            Some(cores) => Ok(CpuScale::PercentOfMachine { cores }),
            None => Err(Fault::new(
                ErrorKind::CpuCores,
                format!("{} is in percent of the whole machine, and the host has no item {CORES}", self.key),
                "Give the number of cores (SourceOptions::cores).",
            )),
        }
    }
}

/// Returns the only item of those that were found, if its values are numbers.
///
/// # Errors
/// If there are none or several, or its values are texts.
pub(super) fn only_item(mut items: Vec<ZabbixItem>) -> Result<ZabbixItem, Fault> {
    if items.len() > 1 {
        let list: Vec<String> =
            items.iter().take(LISTED).map(|item| format!("{} ({})", item.id, item.key)).collect();
        return Err(choose(format!("there are several such items: {}", list.join(", "))));
    }
    let item = items.pop();
    let item = item.ok_or_else(|| choose("there is no such item, or it may not be read".to_owned()))?;
    match item.kind.as_str() {
        "0" | "3" => Ok(item),
        _ => Err(choose(format!("the item {} ({}) has texts, not numbers", item.id, item.key))),
    }
}

/// The fault of an item that is not found: perhaps because of its host.
pub(super) fn missing_item(host: &str, item: &str, host_is_there: bool) -> Fault {
    choose(match host_is_there {
        true => format!("the host {host:?} has no item with the key or the name {item:?}"),
        false => format!("there is no host {host:?}, or it may not be read"),
    })
}

/// The fault of an item that can't be read.
pub(super) fn choose(problem: String) -> Fault {
    let remedy =
        "Name the host as Zabbix does, and one numeric item by its key, or by its number: itemid=44518.";
    Fault::new(ErrorKind::SourceItem, problem, remedy)
}
