//! JMeter's XML log, against the CSV log of the same run.

use std::path::Path;

use perfpipe_ingest::run::Reject;
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{IngestOptions, RunKey, StoredRun, ingest};

use crate::support::*;

/// Stores a log and reads it back.
fn stored(file: &Path) -> StoredRun {
    let folder = tempfile::tempdir().unwrap();
    let store = ParquetStore::open(folder.path()).unwrap();
    let options = IngestOptions::default().with_framework("f").with_test("t");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(ingest(&store, &[file.to_owned()], &options)).unwrap();
    store.read(&RunKey::new("f", "t")).unwrap().unwrap()
}

/// Samples in an order that does not depend on the log's.
fn sorted(log: &Log) -> Vec<String> {
    let mut rows: Vec<String> = log.samples.iter().map(|sample| format!("{sample:?}")).collect();
    rows.sort();
    rows
}

#[test]
fn xml_and_csv_of_one_run_are_stored_alike() {
    let csv = fixture("jmeter/same.csv");
    let (expected, samples) = (stored(&csv), sorted(&read(&csv)));
    assert_eq!(samples.len(), 720);
    for name in ["jmeter/min.xml", "jmeter/full.xml.gz"] {
        let found = stored(&fixture(name));
        let cells = |run: &StoredRun| run.cells.iter().collect::<Result<Vec<_>, _>>().unwrap();
        if name == "jmeter/min.xml" {
            // The other one names the machine of each sample.
            assert_eq!(cells(&found), cells(&expected), "{name}");
        }
        assert_eq!(found.cells.labels, expected.cells.labels, "{name}");
        assert_eq!(found.errors, expected.errors, "{name}");
        assert_eq!(found.labels, expected.labels, "{name}");
        assert_eq!(sorted(&read(&fixture(name))), samples, "{name}");
    }
}

#[test]
fn requests_and_transactions_have_the_figures_reckoned_elsewhere() {
    let log = read(&fixture("jmeter/min.xml"));
    assert_eq!(log.outcomes(), (461, 19));
    let transactions =
        |success| log.samples.iter().filter(move |one| one.transaction && one.success == success);
    assert_eq!((transactions(true).count(), transactions(false).count()), (221, 19));
    assert_eq!([50.0, 90.0, 95.0].map(|percent| log.percentile(percent)), [11.0, 82.0, 137.0]);
    assert!((log.percentile(99.0) - 582.4).abs() < 1e-9 && (log.mean() - 38.472_885).abs() < 1e-6);
    let seconds = [(29, 1), (59, 2), (102, 4), (170, 8), (76, 3), (25, 1)];
    assert_eq!(log.by_second(), seconds);
}

const SAMPLE: &str = "<httpSample t=\"12\" lt=\"9\" ts=\"1795348785951\" s=\"true\" lb=\"a\"/>\n";

#[test]
fn parts_of_a_sample_come_behind_it() {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n\
        <sample t=\"40\" ts=\"1795348785951\" s=\"false\" lb=\"outer &amp; &lt;all&gt;\">\n\
        <httpSample t=\"12\" ts=\"1795348785952\" s=\"true\" lb=\"first\"><responseData>&lt;sample/&gt;</responseData></httpSample>\n\
        <httpSample t=\"20\" ts=\"1795348785970\" s=\"false\" lb=\"second\">\n\
        <assertionResult><failureMessage>no &quot;luck&quot;</failureMessage></assertionResult>\n\
        <assertionResult><failureMessage>another</failureMessage></assertionResult>\n\
        <sample t=\"3\" ts=\"1795348785971\" s=\"true\" lb=\"inner\"/></httpSample>\n</sample>\n</testResults>\n";
    let (_folder, file) = written("nested.jtl", text.as_bytes());
    let labels: Vec<String> = read(&file).samples.into_iter().map(|sample| sample.label).collect();
    assert_eq!(labels, ["outer & <all>", "first", "second", "second-0"]);
    let errors: Vec<String> = stored(&file).errors.iter().map(|error| error.message.to_string()).collect();
    assert!(errors.contains(&"no \"luck\"".to_owned()), "{errors:?}");
}

#[test]
fn log_that_ends_within_a_sample_loses_that_one() {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n{}<httpSample t=\"12\" ts=\"17953",
        SAMPLE.repeat(50)
    );
    let (_folder, file) = written("cut.jtl", text.as_bytes());
    let log = read(&file);
    assert_eq!((log.samples.len(), log.done.info.rejects), (50, 1));
    // A log whose JMeter was stopped lacks its end alone.
    let text = format!("<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n{}", SAMPLE.repeat(50));
    let (_folder, file) = written("stopped.jtl", text.as_bytes());
    let log = read(&file);
    assert_eq!((log.samples.len(), log.done.info.rejects), (50, 0));
}

#[test]
fn samples_within_one_that_never_ends_are_read() {
    let open = "<sample t=\"40\" ts=\"1795348785951\" s=\"true\" lb=\"outer\">\n";
    for (outer, inner) in [(1, 50), (90, 1), (300, 50), (3000, 400)] {
        let text =
            format!("<testResults version=\"1.2\">\n{SAMPLE}{}{}", open.repeat(outer), SAMPLE.repeat(inner));
        let (_folder, file) = written("open.jtl", text.as_bytes());
        let log = read_with(&file, IngestOptions::default().with_max_rejects(5000)).unwrap();
        assert_eq!((log.samples.len(), log.done.info.rejects), (1 + inner, outer as u64));
    }
}

#[test]
fn broken_sample_is_rejected_and_the_next_ones_are_read() {
    let begin = "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n";
    let open = "<httpSample t=\"12\" ts=\"1795348785951\" s=\"true\" lb=\"b\">\n<java.net.URL>http://a/\n";
    let text = format!("{begin}{SAMPLE}{open}{begin}{SAMPLE}{SAMPLE}</testResults>\n");
    let (_folder, file) = written("twice.jtl", text.as_bytes());
    let log = read(&file);
    assert_eq!((log.samples.len(), log.done.info.rejects), (3, 1));
    let text = format!("{begin}{SAMPLE}{}{SAMPLE}</testResults>\n", SAMPLE.replace("t=\"12\"", "t=\"soon\""));
    let (_folder, file) = written("bad.jtl", text.as_bytes());
    let error = read_with(&file, IngestOptions::default().with_max_rejects(0)).unwrap_err().to_string();
    assert!(error.contains("line 4") && error.contains("soon"), "{error}");
}

/// A log behind another that was not ended, with a byte-order mark between them.
#[test]
fn mark_between_two_logs_loses_no_sample() {
    let log = std::fs::read_to_string(fixture("jmeter/min.xml")).unwrap();
    let whole = read(&fixture("jmeter/min.xml")).samples.len();
    let (_folder, file) = written("two.xml", format!("{log}\u{feff}{log}").as_bytes());
    for block_size in [100, 1 << 20] {
        assert_eq!(read_by(&file, block_size).samples.len(), 2 * whole, "by {block_size}");
    }
}

/// The number of samples that are stored of a log, and what is rejected.
fn samples_and_rejects(file: &Path) -> (u64, Vec<Reject>) {
    let folder = tempfile::tempdir().unwrap();
    let store = ParquetStore::open(folder.path()).unwrap();
    let options = IngestOptions::default().with_framework("f").with_test("t");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let done = runtime.block_on(ingest(&store, &[file.to_owned()], &options)).unwrap();
    let mut rejects = Vec::new();
    let mut each = |reject| {
        rejects.push(reject);
        Ok(())
    };
    store.rejects(&RunKey::new("f", "t"), &mut each).unwrap();
    (done.info.successes + done.info.failures, rejects)
}

/// Values that only the reader of the converted text refuses are told with the line, the byte and the element of the log itself.
#[test]
fn refused_values_are_told_by_the_log_itself() {
    let begin = "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n";
    let bad = [
        "<httpSample t=\"soon\" lt=\"9\" ts=\"1795348785951\" s=\"true\" lb=\"a, &quot;b&quot;\"/>",
        "<httpSample t=\"12\" ts=\"1795348785951\" s=\"maybe\" lb=\"a\">",
        "<sample t=\"12\" ts=\"1795348785951\" s=\"true\" lb=\"a\"\n by=\"1099511627776\"/>",
        "<sample t=\"12\" ts=\"1795348785951\" s=\"true\" lb=\"a\" na=\"2147483648\"/>",
        "<sample t=\"12\" ts=\"1795348785951\" s=\"true\" lb=\"a\" ng=\"?\"/>",
        "<sample t=\"12\" ts=\"1895348785951\" s=\"true\" lb=\"a\"/>",
        "<sample t=\"12\" s=\"true\" lb=\"a\"/>",
    ];
    let nested = format!(
        "<sample t=\"12\" ts=\"1795348785951\" s=\"true\" lb=\"a\">{}</httpSample>{}</sample>\n",
        bad[1], bad[2]
    );
    let text = [begin, SAMPLE, bad[0], &nested, bad[3], bad[4], "\n", bad[5], bad[6], "\n", SAMPLE].concat();
    let (_folder, file) = written("bad.jtl", text.as_bytes());
    let (samples, rejects) = samples_and_rejects(&file);
    let told: Vec<_> = rejects.iter().map(|one| (one.line, one.byte, &*one.record)).collect();
    let line = |byte: usize| text[..byte].matches('\n').count() as u64 + 1;
    let place =
        |record: &&'static str| text.find(record).map(|byte| (line(byte), byte as u64, *record)).unwrap();
    assert_eq!(told, bad.iter().map(place).collect::<Vec<_>>());
    assert_eq!(samples, 3);
    for (at, value) in [(0, "soon"), (2, "1099511627776"), (3, "2147483648"), (4, "?")] {
        assert!(rejects[at].reason.contains(value), "{:?}", rejects[at]);
    }
}
