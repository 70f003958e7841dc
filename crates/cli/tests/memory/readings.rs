//! Readings of the server that are made to take much memory: in files of 100 KB, and as answers of a host.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::measured::{Run, measured};

/// MB that no command may take more of.
pub(crate) const LIMIT: u64 = 300;

/// A text that is mostly repetition.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    pub(crate) name: &'static str,
    /// The name of the file, without `.gz`.
    file: &'static str,
    begin: &'static str,
    again: &'static str,
    times: usize,
    end: &'static str,
}

const PROMETHEUS: &str = r#"{"status":"success","data":{"resultType":"matrix","result":["#;
const ZABBIX: &str = r#"{"jsonrpc":"2.0","result":["#;
const SYSSTAT: &str = r#"{"sysstat":{"hosts":["#;
const HOST: &str =
    r#"{"sysstat":{"hosts":[{"nodename":"vm","number-of-cpus":2,"date":"2026-11-20","statistics":["#;
const SADF: &str = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n";
const VMSTAT: &str = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n \
    r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n";

/// The most bytes of a text.
const FULL: usize = 63 << 20;

impl Text {
    const fn new(
        name: &'static str,
        file: &'static str,
        (begin, again, end): (&'static str, &'static str, &'static str),
    ) -> Self {
        Self { name, file, begin, again, times: FULL / again.len(), end }
    }

    /// Writes the text.
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let many = self.again.repeat(1024);
        out.write_all(self.begin.as_bytes())?;
        for _ in 0..self.times / 1024 {
            out.write_all(many.as_bytes())?;
        }
        out.write_all(self.end.as_bytes())
    }

    fn len(&self) -> usize {
        self.begin.len() + self.times / 1024 * 1024 * self.again.len() + self.end.len()
    }

    /// Ingests a log with the text beside it as a file.
    pub(crate) fn ingest_as_file(&self, folder: &Path) -> Run {
        let path = folder.join(format!("{}.gz", self.file));
        let mut file = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
        self.write(&mut file).and_then(|()| file.try_finish()).unwrap();
        drop(file);
        ingest(folder, &[path.to_str().unwrap(), "--cores", "2"])
    }

    /// Ingests a log with the text as the answer of a host, to each request for readings.
    pub(crate) fn ingest_from_server(self, folder: &Path) -> Run {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap();
        let text = Arc::new(self);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let text = Arc::clone(&text);
                std::thread::spawn(move || answer(client.unwrap(), &text));
            }
        });
        let url = match self.file {
            "prometheus.json" => format!("prometheus+http://{host}?query=up&step=1&several=sum"),
            _ => format!("zabbix+http://{host}?itemid=7"),
        };
        ingest(folder, &["--cpu-from", &url, "--cpu-timeout", "120"])
    }
}

/// Texts of each monitor, recognised by their first bytes.
pub(crate) const TEXTS: [Text; 16] = [
    Text::new("Prometheus, series without anything", "prometheus.json", (PROMETHEUS, "{},", "{}]}}")),
    Text::new(
        "Prometheus, readings",
        "prometheus.json",
        (
            r#"{"status":"success","data":{"resultType":"matrix","result":[{"values":["#,
            r#"[1795203720,"1"],"#,
            r#"[1795203720,"1"]]}]}}"#,
        ),
    ),
    Text::new(
        "Prometheus, short readings",
        "prometheus.json",
        (
            r#"{"status":"success","data":{"resultType":"matrix","result":[{"values":["#,
            r#"[1,"1"],"#,
            r#"[1,"1"]]}]}}"#,
        ),
    ),
    Text::new(
        "Prometheus, labels",
        "prometheus.json",
        (
            r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"#,
            r#""a":"b","#,
            r#""c":""}}]}}"#,
        ),
    ),
    Text::new(
        "Prometheus, an error",
        "prometheus.json",
        (r#"{"status":"error","errorType":"x","error":""#, "xxxxxxxx", "\"}"),
    ),
    Text::new(
        "Zabbix, readings",
        "zabbix.json",
        (ZABBIX, r#"{"clock":"1795203720","value":"1"},"#, r#"{"clock":"1795203720","value":"1"}]}"#),
    ),
    Text::new("Zabbix, entries without anything", "zabbix.json", (ZABBIX, "{},", "{}]}")),
    Text::new("Zabbix, brackets", "zabbix.json", (ZABBIX, "[", "")),
    Text::new("Zabbix, zeros", "zabbix.json", (r#"{"jsonrpc":"2.0","result":[0"#, ",0", "]}")),
    Text::new("sysstat, hosts without anything", "sysstat.json", (SYSSTAT, "{},", "{}]}}")),
    Text::new("sysstat, statistics without anything", "sysstat.json", (HOST, "{},", "{}]}]}}")),
    Text::new(
        "sysstat, loads",
        "sysstat.json",
        (
            r#"{"sysstat":{"hosts":[{"statistics":[{"timestamp":{"date":"2026-11-20","time":"19:42:00","utc":1},"cpu-load":["#,
            r#"{"cpu":"1","idle":1},"#,
            r#"{"cpu":"all","idle":1}]}]}]}}"#,
        ),
    ),
    Text::new(
        "sysstat, a timestamp of zeros",
        "sysstat.json",
        (
            r#"{"sysstat":{"hosts":[{"statistics":[{"cpu-load":[{"cpu":"all","idle":1}],"timestamp":[0"#,
            ",0",
            "]}]}]}}",
        ),
    ),
    Text::new("sadf, fields", "sadf.csv", (SADF, ";", "\n")),
    Text::new("sadf, readings", "sadf.csv", (SADF, "v;1;1795203720;-1;;;;0;0;9\n", "")),
    Text::new("vmstat, fields", "vmstat.txt", (VMSTAT, "1 ", "\n")),
];

/// Ingests a log of a day with a request an hour, of which a host is asked for eight parts: each answer is as large as may be.
fn ingest(folder: &Path, more: &[&str]) -> Run {
    let log = folder.join("log.csv");
    let mut text = "timeStamp,elapsed,label,success,allThreads\n".to_owned();
    text.extend((0..24).map(|hour| format!("{},12,Get,true,1\n", (1_795_203_720_u64 + hour * 3600) * 1000)));
    std::fs::write(&log, text).unwrap();
    let store = folder.join("store");
    let key = ["ingest", log.to_str().unwrap(), "--framework", "f", "--test", "t", "--replace"];
    measured(&[&key[..], &["--store", store.to_str().unwrap()], more].concat(), folder, None)
}

/// Answers one request.
fn answer(client: TcpStream, text: &Text) -> Option<()> {
    let mut reader = BufReader::new(client);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8_lossy(&body);
    let mut client = reader.into_inner();
    let small = match () {
        () if text.name.contains("zeros") => None,
        () if body.contains("apiinfo.version") => Some(r#"{"result":"6.0.1"}"#),
        () if body.contains("item.get") => {
            Some(r#"{"result":[{"itemid":"7","key_":"x","value_type":"0","hosts":[{"host":"a"}]}]}"#)
        }
        () if body.contains("user.") => Some(r#"{"result":"x"}"#),
        () => None,
    };
    let length = small.map_or(text.len(), str::len);
    write!(client, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n").ok()?;
    match small {
        Some(small) => client.write_all(small.as_bytes()).ok(),
        None => text.write(&mut client).ok(),
    }
}

/// True if a host answers with such a text.
pub(crate) fn is_of_server(text: &Text) -> bool {
    ["prometheus.json", "zabbix.json"].contains(&text.file)
}
