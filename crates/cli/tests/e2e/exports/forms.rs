//! Logs of one run in several forms give the same exports.

use serde_json::Value;

use crate::support::*;

/// All that is exported of a run, but for the packed counts, which name the files.
const WHAT: [&str; 15] = [
    "seconds",
    "samples",
    "errors",
    "cpu",
    "series",
    "summary",
    "phases",
    "sweep",
    "labels",
    "rejects",
    "percentiles",
    "codes",
    "statistics",
    "hgrm",
    "run",
];

/// The exports of a log, those of the run without what tells its files apart.
fn exports(store: &Store, log: &str, framework: &str) -> Vec<(&'static str, String)> {
    store.run(&["ingest", log, "--framework", framework, "--test", "t"]).said();
    let of = |what: &'static str| {
        let done = store.run(&["export", "--framework", framework, "--test", "t", "--what", what]);
        // A log without readings of the server has neither CPU nor series, which is told.
        let text = String::from_utf8(done.out).unwrap();
        let text = if what == "run" { without_files(&text) } else { text };
        (what, format!("{:?} {}", done.code, text.replace(framework, "f")))
    };
    WHAT.into_iter().map(of).collect()
}

/// The export of a run without what tells the files and the ingests apart.
fn without_files(run: &str) -> String {
    let mut run: Value = serde_json::from_str(run).unwrap();
    run.as_object_mut().unwrap().remove("ingested_at").unwrap();
    for source in run["sources"].as_array_mut().unwrap() {
        for name in ["file", "bytes", "crc32"] {
            source.as_object_mut().unwrap().remove(name).unwrap();
        }
    }
    run.to_string()
}

/// The lines of JMeter's CSV in the order in which the XML log of the same run has them: two listeners wrote them, and may
/// have been told of requests that ended together in either order.
fn in_the_order_of(xml: &str, csv: &str) -> String {
    let attribute = |sample: &str, name: &str| {
        let value = sample.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap();
        value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    };
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let mut left: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut written = csv::Writer::from_writer(Vec::new());
    written.write_record(&header).unwrap();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let columns = [("ts", "timeStamp"), ("t", "elapsed"), ("lb", "label"), ("tn", "threadName")];
    let columns = columns.map(|(short, long)| (short, place(long)));
    for sample in xml.split('<').filter(|part| part.starts_with("httpSample ") || part.starts_with("sample "))
    {
        let is = |record: &csv::StringRecord| {
            columns.iter().all(|(short, at)| record[*at] == attribute(sample, short))
        };
        let at = left.iter().position(is).unwrap();
        written.write_record(&left.remove(at)).unwrap();
    }
    assert!(left.is_empty());
    String::from_utf8(written.into_inner().unwrap()).unwrap()
}

#[test]
fn xml_and_csv_of_one_run_give_the_same_exports() {
    let read = |name: &str| std::fs::read_to_string(fixture(&format!("other/jmeter/{name}"))).unwrap();
    let (xml, csv) = (read("min.xml"), read("same.csv"));
    for store in Store::each() {
        let (xml_log, csv_log) =
            (store.file("run.xml", &xml), store.file("run.csv", in_the_order_of(&xml, &csv)));
        let [of_xml, of_csv] =
            [(&xml_log, "fxml"), (&csv_log, "fcsv")].map(|(log, name)| exports(&store, log, name));
        for ((what, xml), (_, csv)) in of_xml.iter().zip(&of_csv) {
            assert_eq!(xml, csv, "--what {what}");
        }
    }
}

/// A bad record is rejected in both forms, with the same reason at another place.
#[test]
fn rejects_of_xml_and_csv_differ_by_their_places_only() {
    let store = Store::embedded();
    let xml = "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n<httpSample t=\"12\" ts=\"1795348785951\" s=\"true\" lb=\"a\"/>\n\
               <httpSample t=\"soon\" ts=\"1795348785952\" s=\"true\" lb=\"a\"/>\n</testResults>\n";
    let csv = "timeStamp,elapsed,label,success\n1795348785951,12,a,true\n1795348785952,soon,a,true\n";
    let reasons = [("run.xml", xml), ("run.csv", csv)].map(|(name, text)| {
        let log = store.file(name, text);
        store.run(&["ingest", &log, "--framework", "f", "--test", name]).said();
        let rejects =
            rows(&store.run(&["export", "--framework", "f", "--test", name, "--what", "rejects"]).text());
        assert_eq!(
            (rejects.len(), rejects[0]["line"].as_str()),
            (1, if name == "run.xml" { "4" } else { "3" })
        );
        (rejects[0]["code"].clone(), rejects[0]["reason"].clone())
    });
    assert_eq!(reasons[0], reasons[1]);
}
