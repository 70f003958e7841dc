//! A label beyond those that have counts of their own is looked at by reading the run's samples.

#![allow(clippy::unwrap_used, reason = "a test's helper fails by panicking")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

/// 260 labels, each with one request in each of two seconds; the time of a request tells its label.
fn log() -> String {
    let mut log = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
    for at in [0, 1000] {
        for label in 0..260 {
            let success = label != 255 || at == 0;
            writeln!(log, "{},{},page {label},200,{success},7", 1_700_000_000_000i64 + at, 100 + label)
                .unwrap();
        }
    }
    log
}

fn perfpipe(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_perfpipe"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("PERFPIPE_DATABASE_URL")
        .output()
        .unwrap()
}

/// The store with the run, in a folder that is gone when it is dropped.
fn stored(options: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("go_many.csv"), log()).unwrap();
    let output = perfpipe(folder.path(), &[&["ingest", "go_many.csv"], options].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const SECONDS: [&str; 8] =
    ["export", "--framework", "go", "--test", "many", "--percentiles", "50", "--label"];

#[test]
fn shared_label_is_counted_from_the_samples() {
    let folder = stored(&[]);
    let output = perfpipe(folder.path(), &[&SECONDS[..], &["page 255"]].concat());
    let note = "label page 255 shares its counts with others: reading the samples of go_many\n";
    assert_eq!(text(&output.stderr), note);
    let header = "second,successes,failures,load,elapsed_mean,elapsed_min,elapsed_max,latency_mean,latency_min,\
                  latency_max,p50,cpu\n";
    assert_eq!(text(&output.stdout), format!("{header}0,1,0,7,355,355,355,,,,355,\n1,0,1,7,,,,,,,,\n"));
    assert!(output.status.success());
    let own = perfpipe(folder.path(), &[&SECONDS[..], &["page 3"]].concat());
    assert_eq!(text(&own.stderr), "", "a label with counts of its own needs no samples");
    let report =
        perfpipe(folder.path(), &["report", "--test", "many", "--label", "page 255", "--table", "csv"]);
    assert!(text(&report.stderr).starts_with(note), "{}", text(&report.stderr));
    assert!(
        text(&report.stdout).contains(",go,1,0.7358351729212657,0.7358351729212657,0.7358351729212657,355,"),
        "{}",
        text(&report.stdout)
    );
}

#[test]
fn shared_label_without_samples_is_refused_with_a_remedy() {
    let folder = stored(&["--no-samples"]);
    let output = perfpipe(folder.path(), &[&SECONDS[..], &["page 255"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("Ingest the run again without --no-samples"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(text(&output.stdout), "");
}
