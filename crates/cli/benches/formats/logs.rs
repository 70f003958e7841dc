//! The same requests as the logs of several load tools.

use std::io::{Result, Write};

/// The moment at which the test begins, epoch ns.
const BEGIN: i64 = 1_795_000_000_250_431_907;

/// The number of requests that end in a second.
const RATE: i64 = 24_000;

/// The number of virtual users.
const USERS: i64 = 256;

/// One in so many requests fails.
const FAILING: u64 = 200;

/// The names of the requests.
const LABELS: [&str; 4] = ["home", "search", "cart", "checkout"];

/// Writes a log of so many requests.
pub(crate) type WriteLog = fn(i64, &mut dyn Write) -> Result<()>;

/// The formats: what is printed of each, the name of its file, and what writes it.
pub(crate) const LOGS: [(&str, &str, WriteLog); 12] = [
    ("JMeter CSV", "jmeter.csv", jmeter_csv),
    ("JMeter XML", "jmeter.xml", jmeter_xml),
    ("Gatling text", "text.log", gatling_text),
    ("Gatling binary", "binary.log", gatling_binary),
    ("k6 CSV", "k6.csv", k6_csv),
    ("k6 JSON", "k6.json", k6_json),
    ("vegeta CSV", "vegeta.csv", vegeta_csv),
    ("vegeta JSON", "vegeta.json", vegeta_json),
    ("h2load", "h2load.log", h2load),
    ("hey CSV", "hey.csv", hey),
    ("oha CSV", "oha.csv", oha),
    ("AIPerf JSON", "aiperf.jsonl", aiperf),
];

/// A request.
struct Request {
    number: i64,
    /// Epoch ns.
    end: i64,
    /// In ns.
    took: i64,
    label: &'static str,
    failed: bool,
}

impl Request {
    fn start(&self) -> i64 {
        self.end - self.took
    }

    fn start_ms(&self) -> i64 {
        self.start() / 1_000_000
    }

    fn end_ms(&self) -> i64 {
        self.end / 1_000_000
    }

    fn code(&self) -> i64 {
        if self.failed { 500 } else { 200 }
    }

    /// Returns a time in ms, with 6 decimals.
    fn ms(ns: i64) -> String {
        format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
    }
}

/// Returns requests in the order of their ends, with times from 3 to some 50 ms.
fn requests(count: i64) -> impl Iterator<Item = Request> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |number| {
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 11
        };
        let slow = 1 + random() % 8;
        Request {
            number,
            end: BEGIN + 60_000_000 + number * (1_000_000_000 / RATE),
            took: 3_000_000 + (random() % (6_000_000 * slow)) as i64,
            label: LABELS[(random() % 4) as usize],
            failed: random() % FAILING == 0,
        }
    })
}

fn jmeter_csv(count: i64, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,\
         sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"
    )?;
    for request in requests(count) {
        let (took, user) = (request.took / 1_000_000, request.number % USERS);
        let message = if request.failed { "Internal Server Error" } else { "OK" };
        writeln!(
            out,
            "{},{took},{},{},{message},users 1-{user},text,{},,1{},122,{USERS},{USERS},http://10.0.0.1:8080/{},{},0,0",
            request.start_ms(),
            request.label,
            request.code(),
            !request.failed,
            user + 100,
            request.label,
            took - 1,
        )?;
    }
    Ok(())
}

fn jmeter_xml(count: i64, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">")?;
    for request in requests(count) {
        let (took, user) = (request.took / 1_000_000, request.number % USERS);
        let message = if request.failed { "Internal Server Error" } else { "OK" };
        writeln!(
            out,
            "<httpSample t=\"{took}\" it=\"0\" lt=\"{}\" ct=\"0\" ts=\"{}\" s=\"{}\" lb=\"{}\" rc=\"{}\" rm=\"{message}\" \
             tn=\"users 1-{user}\" dt=\"text\" by=\"1{}\" sby=\"122\" ng=\"{USERS}\" na=\"{USERS}\">\n  \
             <java.net.URL>http://10.0.0.1:8080/{}</java.net.URL>\n</httpSample>",
            took - 1,
            request.start_ms(),
            !request.failed,
            request.label,
            request.code(),
            user + 100,
            request.label,
        )?;
    }
    writeln!(out, "</testResults>")
}

fn gatling_text(count: i64, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "RUN\tSim\tsim\t{}\t \t3.12.0", BEGIN / 1_000_000)?;
    for _ in 0..USERS {
        writeln!(out, "USER\tusers\tSTART\t{}", BEGIN / 1_000_000)?;
    }
    for request in requests(count) {
        let outcome =
            if request.failed { "KO\tstatus.find.is(200), but actually found 500" } else { "OK\t " };
        writeln!(
            out,
            "REQUEST\tshop\t{}\t{}\t{}\t{outcome}",
            request.label,
            request.start_ms(),
            request.end_ms()
        )?;
    }
    Ok(())
}

fn gatling_binary(count: i64, out: &mut dyn Write) -> Result<()> {
    let begin = BEGIN / 1_000_000;
    let text = |text: &str, out: &mut dyn Write| {
        out.write_all(&(text.len() as i32).to_be_bytes())?;
        out.write_all(text.as_bytes())?;
        out.write_all(if text.is_empty() { &[] } else { &[0] })
    };
    out.write_all(&[0])?;
    text("3.13.5", out)?;
    text("Sim", out)?;
    out.write_all(&begin.to_be_bytes())?;
    text("", out)?;
    out.write_all(&1_i32.to_be_bytes())?;
    text("users", out)?;
    out.write_all(&0_i32.to_be_bytes())?;
    for _ in 0..USERS {
        out.write_all(&[2, 0, 0, 0, 0, 1, 0, 0, 0, 0])?;
    }
    // A text is written once, with its number, and then by its number alone.
    let mut known: Vec<&str> = Vec::new();
    let mut cached =
        |text_of: &'static str, out: &mut dyn Write| match known.iter().position(|other| *other == text_of) {
            Some(at) => out.write_all(&(-(at as i32) - 1).to_be_bytes()),
            None => {
                known.push(text_of);
                out.write_all(&(known.len() as i32).to_be_bytes())?;
                text(text_of, out)
            }
        };
    for request in requests(count) {
        out.write_all(&[1, 0, 0, 0, 1])?;
        cached("shop", out)?;
        cached(request.label, out)?;
        out.write_all(&((request.start_ms() - begin) as i32).to_be_bytes())?;
        out.write_all(&((request.end_ms() - begin) as i32).to_be_bytes())?;
        out.write_all(&[u8::from(!request.failed)])?;
        cached(if request.failed { "status.find.is(200), but actually found 500" } else { "" }, out)?;
    }
    Ok(())
}

/// The metrics of a request in k6, in their order, with their values in ns, or in units.
fn metrics(request: &Request) -> [(&'static str, String); 9] {
    let (sending, receiving) = (request.took / 50, request.took / 40);
    let ms = Request::ms;
    [
        ("http_reqs", "1.000000".to_owned()),
        ("http_req_duration", ms(request.took)),
        ("http_req_blocked", ms(2000)),
        ("http_req_connecting", ms(0)),
        ("http_req_tls_handshaking", ms(0)),
        ("http_req_sending", ms(sending)),
        ("http_req_waiting", ms(request.took - sending - receiving)),
        ("http_req_receiving", ms(receiving)),
        ("http_req_failed", if request.failed { "1.000000" } else { "0.000000" }.to_owned()),
    ]
}

fn k6_csv(count: i64, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,\
         service,status,subproto,tls_version,url,extra_tags,metadata"
    )?;
    for request in requests(count) {
        for (metric, value) in metrics(&request) {
            writeln!(
                out,
                "{metric},{},{value},,,{},{},::shop,GET,{},HTTP/1.1,ramp,,{},,,http://10.0.0.1:8080/{},,",
                request.end / 1_000_000_000,
                if request.failed { "1500" } else { "" },
                !request.failed,
                request.label,
                request.code(),
                request.label,
            )?;
        }
    }
    Ok(())
}

fn k6_json(count: i64, out: &mut dyn Write) -> Result<()> {
    for request in requests(count) {
        let time = moment(request.end);
        for (metric, value) in metrics(&request) {
            writeln!(
                out,
                "{{\"metric\":\"{metric}\",\"type\":\"Point\",\"data\":{{\"time\":\"{time}\",\"value\":{value},\
                 \"tags\":{{\"expected_response\":\"{}\",\"group\":\"::shop\",\"method\":\"GET\",\"name\":\"{}\",\
                 \"proto\":\"HTTP/1.1\",\"scenario\":\"ramp\",\"status\":\"{}\",\"url\":\"http://10.0.0.1:8080/{}\"}}}}}}",
                !request.failed,
                request.label,
                request.code(),
                request.label,
            )?;
        }
    }
    Ok(())
}

/// The headers of an answer, as vegeta writes them in CSV.
const HEADERS: &str = "Q29udGVudC1MZW5ndGg6IDEyDQpDb250ZW50LVR5cGU6IHRleHQvcGxhaW47IGNoYXJzZXQ9dXRmLTgNCkRhdGU6IFN1biwgMjIgTm92IDIwMjYgMTE6NDc6MTQgR01UDQoNCg==";

fn vegeta_csv(count: i64, out: &mut dyn Write) -> Result<()> {
    for request in requests(count) {
        writeln!(
            out,
            "{},{},{},0,12,,aGVsbG8sIHdvcmxk,shop,{},GET,http://10.0.0.1:8080/{},{HEADERS}",
            request.start(),
            request.code(),
            request.took,
            request.number,
            request.label,
        )?;
    }
    Ok(())
}

fn vegeta_json(count: i64, out: &mut dyn Write) -> Result<()> {
    for request in requests(count) {
        writeln!(
            out,
            "{{\"attack\":\"shop\",\"seq\":{},\"code\":{},\"timestamp\":\"{}\",\"latency\":{},\"bytes_out\":0,\
             \"bytes_in\":12,\"error\":\"\",\"body\":\"aGVsbG8sIHdvcmxk\",\"method\":\"GET\",\
             \"url\":\"http://10.0.0.1:8080/{}\",\"headers\":{{\"Content-Length\":[\"12\"],\
             \"Content-Type\":[\"text/plain; charset=utf-8\"],\"Date\":[\"Sun, 22 Nov 2026 11:47:14 GMT\"]}}}}",
            request.number,
            request.code(),
            moment(request.start()),
            request.took,
            request.label,
        )?;
    }
    Ok(())
}

fn h2load(count: i64, out: &mut dyn Write) -> Result<()> {
    for request in requests(count) {
        writeln!(out, "{}\t{}\t{}", request.start() / 1000, request.code(), request.took / 1000)?;
    }
    Ok(())
}

fn hey(count: i64, out: &mut dyn Write) -> Result<()> {
    writeln!(
        out,
        "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
    )?;
    for request in requests(count) {
        let (took, start) = (request.took / 100_000, (request.start() - BEGIN) / 100_000);
        writeln!(
            out,
            "0.{took:04},0.0000,0.0000,0.0000,0.{took:04},0.0000,{},{}.{:04}",
            request.code(),
            start / 10_000,
            start % 10_000,
        )?;
    }
    Ok(())
}

fn oha(count: i64, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status")?;
    for request in requests(count) {
        let start = request.start() - BEGIN;
        writeln!(
            out,
            "{}.{:09},0.000000000,0.000000000,0.{:09},0.{:09},12,{}",
            start / 1_000_000_000,
            start % 1_000_000_000,
            request.took - 1000,
            request.took,
            request.code(),
        )?;
    }
    Ok(())
}

fn aiperf(count: i64, out: &mut dyn Write) -> Result<()> {
    for request in requests(count) {
        let number = request.number;
        write!(
            out,
            "{{\"metadata\":{{\"session_num\":{number},\"x_request_id\":\"{number}\",\"turn_index\":0,\
             \"request_start_ns\":{},\"request_end_ns\":{},\"worker_id\":\"worker_1\",\
             \"record_processor_id\":\"record_processor_1\",\"benchmark_phase\":\"profiling\",\
             \"was_cancelled\":false}},\"metrics\":{{",
            request.start(),
            request.end,
        )?;
        if request.failed {
            writeln!(out, "}},\"error\":{{\"code\":500,\"type\":\"Error\",\"message\":\"overloaded\"}}}}")?;
        } else {
            writeln!(
                out,
                "\"request_latency\":{{\"value\":{},\"unit\":\"ms\"}},\"time_to_first_token\":{{\"value\":{},\
                 \"unit\":\"ms\"}},\"inter_chunk_latency\":{{\"value\":[1.25,1.5,0.75,2.5],\"unit\":\"ms\"}},\
                 \"output_sequence_length\":{{\"value\":5,\"unit\":\"tokens\"}}}}}}",
                Request::ms(request.took),
                Request::ms(request.took / 4),
            )?;
        }
    }
    Ok(())
}

/// Returns a moment as RFC 3339 has it, in ns.
fn moment(ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(ns.into()).expect("a moment of this century").to_string()
}
