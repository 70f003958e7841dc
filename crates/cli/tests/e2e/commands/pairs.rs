//! Runs in pairs, as `compare`, `check` and `plan` take them.

use crate::support::*;

/// Ingests the runs of pairs, of 30 seconds each: those of the side `new` take `harm` ms longer, and what slows both runs of a
/// pair down is a tenth to a third. The runs of a pair begin `apart` seconds after each other.
fn ingest(store: &Store, pairs: i64, harm: i64, apart: i64) {
    for run in 0..2 * pairs {
        let (pair, is_new) = (run / 2, run % 2);
        let mut text = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
        let start = 1_795_000_000_000 + pair * 300_000 + is_new * apart * 1000;
        for request in 0..1500_i64 {
            let elapsed = 400 + pair * 7919 % 100 + (request * 7919 + run * 104_729) % 11 + is_new * harm;
            text += &format!("{},{elapsed},Get,200,true,4\n", start + request * 20);
        }
        let file = store.file("run.csv", text);
        let (pair, side) = (format!("pair={pair}"), format!("side={}", ["old", "new"][is_new as usize]));
        let flags = ["--framework", "go", "--test", "t", "--append-repeat", "--tag", &pair, "--tag", &side];
        store.run(&[&["ingest", &file], &flags[..]].concat()).said();
    }
}

const SIDES: [&str; 8] = ["--test", "t", "--framework", "go", "--tag", "side=old", "--tag", "side=new"];

#[test]
fn harm_that_other_noise_hides_shows_within_pairs() {
    let store = Store::embedded();
    ingest(&store, 5, 12, 60);
    let compare = [&["compare"], &SIDES[..], &["--decide", "elapsed_mean"]].concat();
    let done = store.run(&[&compare[..], &["--format", "json"]].concat());
    let said =
        ["5 pairs of runs in turn", "the variance of elapsed_mean within pairs is 1/", "pairs show 5 %"];
    assert_told(&done.err, &said);
    let rows = done.rows();
    let first = &rows[0];
    assert_eq!((first["measure"].as_str(), first["noise"].as_str()), (Some("elapsed_mean"), Some("pairs")));
    assert_eq!(first["outcome"], "worse");
    assert_eq!(store.run(&[&compare[..], &["--fail-on", "worse"]].concat()).code, Some(4));
    // The other runs of the pairs are found by their tags.
    let check = |rule| store.run(&["check", "--test", "t", "--tag", "side=new", "--baseline", "pair", rule]);
    assert_eq!(check("mean not worse than baseline").code, Some(4));
    assert_told(&check("mean not worse than baseline by 5%").text(), &["within pairs"]);
}

#[test]
fn runs_that_are_no_pairs_are_named_or_refused() {
    let store = Store::embedded();
    ingest(&store, 3, 0, 15);
    let compare = [&["compare"], &SIDES[..]].concat();
    assert_told(&store.run(&compare).complaint(3), &["unfit-pair", "overlap by 50 %", "tags `pair`"]);
    let check =
        ["check", "--test", "t", "--tag", "side=new", "--baseline", "pair", "p95 not worse than baseline"];
    assert_told(&store.run(&check).complaint(3), &["unfit-pair"]);
    let other = Store::embedded();
    ingest(&other, 2, 0, 0);
    other.run(&["drop", "go_t#4", "--yes"]).said();
    let done = other.run(&[&compare[..], &["--format", "json"]].concat());
    assert_told(&done.err, &["the pair 1 has 1 run and is left out", "one pair shows no scatter"]);
    let file = other.file("lone.csv", "timeStamp,elapsed,label,responseCode,success\n1,2,Get,200,true\n");
    other.run(&["ingest", &file, "--framework", "lone", "--test", "t"]).said();
    let lone = other.run(&["check", "lone_t", "--baseline", "pair", "p95 not worse than baseline"]);
    assert_told(&lone.complaint(2), &["lone_t has no tags pair and side"]);
}
