//! `plan`: what it says of repeats and pairs, and what it leaves out.

use crate::support::*;

/// Ingests runs of 40 seconds, each with its tags; `spread` is the range of their mean response times, in ms.
fn ingest(store: &Store, framework: &str, runs: i64, spread: i64, tags: fn(i64) -> [String; 2]) {
    for run in 0..runs {
        let mut text = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
        for request in 0..2000_i64 {
            let elapsed = 100 + (request * 7919 + run * 104_729) % 11 + run * 3 % (spread + 1);
            text +=
                &format!("{},{elapsed},Get,200,true,4\n", 1_795_000_000_000 + run * 3_600_000 + request * 20);
        }
        let (file, [one, other]) = (store.file("run.csv", text), tags(run));
        let flags =
            ["--framework", framework, "--test", "t", "--append-repeat", "--tag", &one, "--tag", &other];
        store.run(&[&["ingest", &file], &flags[..]].concat()).said();
    }
}

fn in_pairs(run: i64) -> [String; 2] {
    [format!("pair={}", run / 2), format!("side={}", run % 2)]
}

#[test]
fn framework_with_one_run_is_left_out_and_said() {
    let store = Store::embedded();
    ingest(&store, "go", 4, 2, in_pairs);
    ingest(&store, "solo", 1, 0, in_pairs);
    let done = store.run(&["plan", "--test", "t", "--change", "3%"]);
    assert_told(
        &done.err,
        &["left out: solo has no two runs of one version", "go: to show that p95 changed by 3 %"],
    );
    let only = ["plan", "--test", "t", "--framework", "solo"];
    assert_told(&store.run(&only).complaint(3), &["few-repeats", "--append-repeat"]);
}

#[test]
fn pairs_that_lack_a_run_are_left_out_and_equal_ones_scatter_by_their_rounding() {
    let store = Store::embedded();
    ingest(&store, "go", 5, 0, in_pairs);
    let done = store.run(&["plan", "--test", "t", "--pairs", "--format", "json"]);
    assert_told(&done.err, &["go: the pair 2 has 1 run and is left out"]);
    let rows = done.rows();
    let p95 = rows.iter().find(|row| row["figure"] == "p95").unwrap();
    // The whole ms of both runs: 100 * sqrt(2 / 12) / 110.
    let scatter = p95["scatter_percent"].as_f64().unwrap();
    assert!((0.36..0.39).contains(&scatter), "{scatter}");
    let none = store.run(&["plan", "--test", "t", "--framework", "go", "--repeat", "5", "--pairs"]);
    assert_told(&none.complaint(3), &["go has no two pairs"]);
}
