//! A host on loopback that answers as Zabbix or Prometheus do, or as none should.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// The certificate of `localhost` and its key, by an authority that no system trusts.
const CERTIFICATE: &[u8] = include_bytes!("../../../../ingest/tests/support/tls/server.pem");
const KEY: &[u8] = include_bytes!("../../../../ingest/tests/support/tls/server.key");

/// A request, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The method, path and query.
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: String,
}

impl Asked {
    /// A number in the query.
    pub(crate) fn number(&self, name: &str) -> i64 {
        let (_, rest) = self.line.split_once(&format!("&{name}=")).unwrap();
        rest.split(['&', ' ']).next().unwrap().parse().unwrap()
    }
}

/// What is answered.
pub(crate) enum Reply {
    /// A status, further header lines and a body.
    Text(u16, String, String),
    /// Nothing, for as long as the client waits.
    Nothing,
    /// A body without an end.
    Endless,
}

impl Reply {
    pub(crate) fn json(body: Value) -> Self {
        Self::Text(200, String::new(), body.to_string())
    }
}

/// A host that runs until the tests end.
pub(crate) struct Monitor {
    /// Its address and port.
    pub(crate) host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Monitor {
    /// A host that answers by this function.
    pub(crate) fn new(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::through(Some, answer)
    }

    /// A host that answers through TLS.
    pub(crate) fn with_tls(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let certificates = CertificateDer::pem_slice_iter(CERTIFICATE).collect::<Result<_, _>>().unwrap();
        let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .unwrap();
        let config = Arc::new(config);
        let accept =
            move |client| Some(StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), client));
        Self::through(accept, answer)
    }

    /// A host whose connections pass through something.
    fn through<S: Read + Write>(
        accept: impl Fn(TcpStream) -> Option<S> + Send + Sync + 'static,
        answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, accept, log) = (Arc::new(answer), Arc::new(accept), Arc::clone(&asked));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (answer, accept, log) = (Arc::clone(&answer), Arc::clone(&accept), Arc::clone(&log));
                std::thread::spawn(move || serve(accept(client.unwrap())?, &*answer, &log));
            }
        });
        Self { host, asked }
    }

    /// All requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers one request; a client that goes away in between is no fault.
fn serve(client: impl Read + Write, answer: &dyn Fn(&Asked) -> Reply, log: &Mutex<Vec<Asked>>) -> Option<()> {
    let mut reader = BufReader::new(client);
    let (mut line, mut length, mut authorization) = (String::new(), 0, None);
    reader.read_line(&mut line).ok()?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let asked =
        Asked { line: line.trim_end().to_owned(), authorization, body: String::from_utf8(body).ok()? };
    log.lock().unwrap().push(asked.clone());
    let reply = answer(&asked);
    if matches!(reply, Reply::Nothing) {
        return reader.read_to_end(&mut Vec::new()).ok().map(drop);
    }
    let client = reader.get_mut();
    match reply {
        Reply::Text(status, headers, body) => {
            let length = body.len();
            write!(
                client,
                "HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
            .and_then(|()| client.flush())
            .ok()
        }
        Reply::Nothing => None,
        Reply::Endless => {
            write!(client, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").ok()?;
            while client.write_all(&[b' '; 4096]).is_ok() {}
            None
        }
    }
}

/// The secret that both systems accept.
pub(crate) const TOKEN: &str = "5e0f3c5b9d6a4e1f8b7c2d1a0f9e8d7c";

/// Zabbix with one item of a use of the CPU, as 6.0 and 7.2 answer.
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
    pub(crate) fn answer(&self, asked: &Asked) -> Reply {
        let request: Value = serde_json::from_str(&asked.body).unwrap();
        let parameters = &request["params"];
        let error = |data: &str| {
            let error = json!({"code": -32602, "message": "Invalid params.", "data": data});
            Reply::json(json!({"jsonrpc": "2.0", "error": error, "id": 1}))
        };
        let result = |result: Value| Reply::json(json!({"jsonrpc": "2.0", "result": result, "id": 1}));
        let bearer = format!("Bearer {TOKEN}");
        let accepted = match self.version.starts_with("6.0") {
            true => request["auth"] == TOKEN,
            false => asked.authorization.as_deref() == Some(bearer.as_str()) && request["auth"].is_null(),
        };
        match request["method"].as_str().unwrap() {
            "apiinfo.version" => result(json!(self.version)),
            "user.login" if parameters["password"] == "zabbix" => result(json!(TOKEN)),
            "user.login" => error("Incorrect user name or password or account is temporarily blocked."),
            _ if !accepted => error("Session terminated, re-login, please."),
            "host.get" if parameters["filter"]["host"][0] == "sut" => result(json!([{"hostid": "1"}])),
            "host.get" => result(json!([])),
            "item.get" if parameters["search"]["key_"] == "system.cpu.num" => {
                result(json!([{"lastvalue": "4"}]))
            }
            "item.get"
                if parameters["host"] != "sut" || parameters["filter"]["key_"][0] != "system.cpu.util" =>
            {
                result(json!([]))
            }
            "item.get" => result(self.items.clone()),
            "history.get" => {
                assert_eq!(parameters["history"], 0, "the kind of the item");
                let (from, till) =
                    (parameters["time_from"].as_i64().unwrap(), parameters["time_till"].as_i64().unwrap());
                let within = self.readings.iter().filter(|(clock, _)| (from..=till).contains(clock));
                let entry = |(clock, value): &(i64, f64)| json!({"itemid": "44518", "clock": clock.to_string(), "value": value.to_string(), "ns": "1"});
                result(within.map(entry).collect())
            }
            "trend.get" if self.trends => result(json!([{"clock": "1795201200"}])),
            _ => result(json!([])),
        }
    }
}

/// Prometheus with one series, each of whose steps has its own time as its reading.
pub(crate) fn prometheus(asked: &Asked) -> Reply {
    if asked.authorization.as_deref() != Some(&format!("Bearer {TOKEN}")) {
        return Reply::Text(401, String::new(), "Unauthorized".to_owned());
    }
    let (start, end, step) = (asked.number("start"), asked.number("end"), asked.number("step"));
    if (end - start) / step >= 11_000 {
        let error = "exceeded maximum resolution of 11,000 points per timeseries.";
        let body = json!({"status": "error", "errorType": "bad_data", "error": error});
        return Reply::Text(400, String::new(), body.to_string());
    }
    let values: Vec<Value> =
        (start..=end).step_by(step as usize).map(|at| json!([at, (at % 1000).to_string()])).collect();
    let result = json!([{"metric": {}, "values": values}]);
    Reply::json(json!({"status": "success", "data": {"resultType": "matrix", "result": result}}))
}
