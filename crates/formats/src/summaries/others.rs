//! Outputs of load tools that are not read, or not in this form: what they are, and what to do.

/// An output that is known by what it has.
struct KnownOutput {
    /// What all of it has to be in the text.
    has: &'static [&'static str],
    /// What it is.
    name: &'static str,
    /// What to do instead; nothing if perfpipe does not read the tool at all.
    remedy: Option<&'static str>,
}

/// What to do with the output of a tool that is not read.
const NOT_READ: &str = "perfpipe does not read this tool; docs/tools/README.md lists those that it reads.";

const fn of_other(has: &'static [&'static str], name: &'static str) -> KnownOutput {
    KnownOutput { has, name, remedy: None }
}

const fn in_other_form(
    has: &'static [&'static str],
    name: &'static str,
    remedy: &'static str,
) -> KnownOutput {
    KnownOutput { has, name, remedy: Some(remedy) }
}

/// What to do with a report of JMeter.
const JMETER: &str = "Give the log that jmeter -l or a listener wrote (.jtl, .csv): it has every request.";

/// The outputs that are known. Where several fit, the first one has it.
const OUTPUTS: &[KnownOutput] = &[
    in_other_form(
        &["Label,# Samples,Average,Median,"],
        "JMeter's Aggregate Report, which has no single requests",
        JMETER,
    ),
    in_other_form(
        &["Label,# Samples,Average,Min,"],
        "JMeter's Summary Report, which has no single requests",
        JMETER,
    ),
    in_other_form(
        &["\"sampleCount\"", "\"meanResTime\""],
        "statistics.json of JMeter's dashboard, which has no single requests",
        JMETER,
    ),
    in_other_form(
        &["Sample #,Start Time,Thread Name,Label,"],
        "the table of JMeter's View Results in Table",
        JMETER,
    ),
    in_other_form(&["Elapsed time;"], "the data of a chart of jmeter-plugins", JMETER),
    in_other_form(&["o.a.j.", " INFO "], "jmeter.log, the log of the program", JMETER),
    in_other_form(&[" jmeter.util.JMeterUtils: "], "jmeter.log, the log of the program", JMETER),
    in_other_form(
        &["summary ", " Avg: ", " Err: "],
        "what JMeter prints, which has no single requests",
        JMETER,
    ),
    in_other_form(
        &["<title>Apache JMeter Dashboard"],
        "JMeter's dashboard, which has no single requests",
        JMETER,
    ),
    in_other_form(
        &["<FinalStatus>", "<Group "],
        "the final statistics of Taurus, which have no single requests",
        "Give the log of the same run, kpi.jtl.",
    ),
    in_other_form(
        &["\tRUN\t", "\tREQUEST\t"],
        "a log of Gatling 2.0 or 2.1, which is not read",
        "Run the simulation with Gatling 2.2 or later.",
    ),
    in_other_form(
        &["response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read\n"],
        "the CSV of hey before 0.1.2, which does not say when a request began",
        "Run hey 0.1.2 or later.",
    ),
    in_other_form(
        &["\"metrics\"", "\"grpc_req_duration\"", "\"iterations\""],
        "a summary of k6 without HTTP requests, which does not count the others",
        "Give the requests themselves: k6 run --out csv=requests.csv.",
    ),
    in_other_form(
        &["{\"code\":", "\"timestamp\":", "\"latency\":", "\"bytes_out\":", "\"error\":"],
        "results of vegeta before 8, which are not read",
        "Give the text of vegeta report for a point of a sweep, or run vegeta 8 or later.",
    ),
    in_other_form(
        &["AAA,progname,nmon"],
        "a file of nmon, which is not read",
        "Record the CPU with vmstat -t 1, sar -u 1 or mpstat 1.",
    ),
    in_other_form(
        &["\"MetricDataResults\"", "\"Timestamps\""],
        "JSON of CloudWatch",
        "Convert it: jq -r '.MetricDataResults[0] | [.Timestamps, .Values] | transpose[] | @csv' data.json > cpu.csv",
    ),
    in_other_form(
        &["\"Datapoints\"", "\"Timestamp\"", "\"Average\""],
        "JSON of CloudWatch",
        "Convert it: jq -r '.Datapoints[] | [.Timestamp, .Average] | @csv' data.json > cpu.csv",
    ),
    in_other_form(
        &["\"timeseries\"", "\"timeStamp\"", "\"average\""],
        "JSON of Azure Monitor",
        "Convert it: jq -r '.value[0].timeseries[0].data[] | [.timeStamp, .average] | @csv' data.json > cpu.csv",
    ),
    in_other_form(
        &["top - ", "%Cpu(s):"],
        "the output of top, which is not read",
        "Record the CPU with vmstat -t 1, sar -u 1 or mpstat 1.",
    ),
    in_other_form(
        &["Transactions:", "Availability:", "Transaction rate:"],
        "the text of siege, which is not read",
        "Run siege with -j, or give its log file (-l).",
    ),
    in_other_form(
        &["Running ", "│ Stat", "2.5%", "97.5%"],
        "the table of autocannon, which is not read",
        "Run autocannon with --json.",
    ),
    in_other_form(
        &["http_req_duration..", "http_reqs..", "avg="],
        "what k6 prints at the end, which is not read",
        "Run k6 with --summary-export=summary.json, or with --out csv=requests.csv.",
    ),
    in_other_form(
        &["http.request_rate: ..", "http.requests: .."],
        "what artillery prints, which is not read",
        "Run artillery with --output report.json.",
    ),
    in_other_form(
        &["\"scenariosCompleted\"", "\"requestsCompleted\""],
        "the report of artillery 1, which is not read",
        "Run artillery 2, with --output report.json.",
    ),
    in_other_form(&["Method", "Name", "Error", "Occurrences"], "a list of Locust's failures", LOCUST),
    in_other_form(&["Count", "Message", "Traceback", "Nodes"], "a list of Locust's exceptions", LOCUST),
    in_other_form(
        &["Name", "# requests", "# failures", "Median response time"],
        "a table of Locust before 1.0, which is not read",
        "Run Locust 1.0 or later, and give its _stats.csv.",
    ),
    of_other(&["\"latencyDistribution\"", "\"endReason\""], "the result of ghz"),
    of_other(&["\"readThroughput\"", "\"writeThroughput\"", "\"elapsed\""], "the result of plow"),
    of_other(&["Benchmarking ", " connection(s).", "Elapsed", "RPS"], "the output of plow"),
    of_other(
        &["transaction type:", "number of transactions actually processed:", "tps = "],
        "the output of pgbench",
    ),
    of_other(&["[OVERALL], RunTime(ms)", "[OVERALL], Throughput(ops/sec)"], "the output of YCSB"),
    of_other(&["Connections per thread", "Ops/sec", "Hits/sec"], "the output of memtier_benchmark"),
    of_other(&["\"test\",\"rps\"", "\"avg_latency_ms\""], "the table of redis-benchmark"),
    of_other(&["# stats: dump at ", "stats: users"], "the log of Tsung"),
    of_other(&["Nighthawk - A layer 7"], "the output of Nighthawk"),
    of_other(
        &["Iterations ", "Base URL ", "Time taken for tests", "Requests per second"],
        "the output of drill",
    ),
    of_other(
        &["\"tcp_connect\"", "\"server_processing\"", "\"content_transfer\""],
        "the result of cassowary",
    ),
    of_other(&["=== PER REQUEST METRICS ===", "# reqs"], "the output of Goose"),
    of_other(&["Maximum connect burst length:", "Reply status:"], "the output of httperf"),
    of_other(&["Target URL:", "Completed requests:", "Effective rps:"], "the output of loadtest"),
];

const LOCUST: &str = "Give the file of the same run that ends with _stats.csv or _stats_history.csv.";

/// How much of a text is looked at, in bytes. Below, a tool's lines would be quoted in another text.
const NEAR: usize = 4 << 10;

/// Returns what a text is that no reader knows, and what to do, if it is known.
pub fn other_output(text: &[u8]) -> Option<(&'static str, &'static str)> {
    let near = text.get(..NEAR).unwrap_or(text);
    let has = |part: &&str| memchr::memmem::find(near, part.as_bytes()).is_some();
    let output = OUTPUTS.iter().find(|output| output.has.iter().all(&has))?;
    Some((output.name, output.remedy.unwrap_or(NOT_READ)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_known_by_what_they_have() {
        for (text, name, remedy) in [
            (
                "Transactions:\t\t 626 hits\nAvailability:\t\t 35.79 %\nTransaction rate:\t 11.97 trans/sec\n",
                "siege",
                "siege with -j",
            ),
            (
                "Running 5s test @ http://h\n100 connections\n│ Stat    │ 2.5%  │ 50%   │ 97.5% │ 99% │\n",
                "autocannon",
                "--json",
            ),
            (
                "  http_req_duration..........: avg=20.89ms\n  http_reqs......: 3000 49.4/s\n",
                "k6",
                "--summary-export",
            ),
            ("Label,# Samples,Average,Median,90% Line\n", "Aggregate Report", "jmeter -l"),
            ("Label,# Samples,Average,Min,Max,Std. Dev.\n", "Summary Report", "jmeter -l"),
            ("{\"Total\": {\"sampleCount\": 1, \"meanResTime\": 2.0}}", "statistics.json", "jmeter -l"),
            ("2017-08-18 17:23:41,964 INFO o.a.j.u.JMeterUtils: x\n", "jmeter.log", "jmeter -l"),
            (
                "summary +   1 in 00:00:01 = 1/s Avg: 1 Min: 1 Max: 1 Err: 0 (0.00%)\n",
                "JMeter prints",
                "jmeter -l",
            ),
            ("{\"MetricDataResults\": [{\"Timestamps\": []}]}", "CloudWatch", "jq -r"),
            ("\"Method\",\"Name\",\"Error\",\"Occurrences\"\n", "Locust", "_stats.csv"),
            (
                "[OVERALL], RunTime(ms), 10\n[OVERALL], Throughput(ops/sec), 9\n",
                "YCSB",
                "docs/tools/README.md",
            ),
        ] {
            let (is, what) = other_output(text.as_bytes()).unwrap();
            assert!(is.contains(name) && what.contains(remedy), "{is}: {what}");
        }
        assert_eq!(other_output(b"Name,Error\n"), None);
        let far = [vec![b'x'; NEAR], b"Nighthawk - A layer 7".to_vec()].concat();
        assert_eq!(other_output(&far), None);
    }
}
