//! `alternate`: commands that are run in turn or at once, and what is kept of what they leave.

use crate::support::*;

/// A command that leaves a log of 30 seconds, whose requests take `harm` ms more than what all runs of a pair share. The runs of
/// a pair follow each other, or begin at once.
pub(super) fn command(harm: i64, together: bool) -> String {
    // Commands in turn may write the same file.
    let (start, log) =
        if together { ("pair * 600", "log-$PERFPIPE_SIDE.csv") } else { ("n * 200", "log-.csv") };
    format!(
        "n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count; \
         awk -v n=$n -v pair=$PERFPIPE_PAIR 'BEGIN {{ print \"timeStamp,elapsed,label,responseCode,success,allThreads\"; \
         for (i = 0; i < 1500; i++) printf \"%.0f,%d,Get,200,true,4\\n\", 1795000000000 + {start} * 1000 + i * 20, \
         400 + pair * 7919 % 100 + (i * 7919 + n * 104729) % 11 + {harm} }}' > {log}"
    )
}

pub(super) fn alternate(store: &Store, flags: &[&str], a: &str, b: &str) -> Done {
    let of = ["alternate", "--framework", "go", "--test", "t", "--decide", "elapsed_mean"];
    done(store.command(&[&of, flags].concat()).args(["--", a, b]).current_dir(store.folder.path()))
}

#[test]
fn versions_in_turn_are_compared_and_what_is_shown_stops_early() {
    let store = Store::embedded();
    let flags =
        ["--log", "log-*.csv", "--pairs", "10", "--stop-early", "--sides", "old,new", "--fail-on", "worse"];
    let found = alternate(&store, &flags, &command(0, false), &command(12, false));
    assert_eq!(found.code, Some(4), "{}", found.err);
    let said =
        ["after 4 of 10 pairs, a change from old to new is shown: elapsed_mean +", "4 pairs of runs in turn"];
    assert_told(&found.err, &said);
    assert_told(&found.err, &["[worse] new is worse than old: elapsed_mean +", "pair 4 of 10"]);
    let runs = store.list();
    assert_eq!(runs.len(), 8);
    // What is stored is compared again as it was.
    let of = ["--test", "t", "--framework", "go", "--tag", "side=old", "--tag", "side=new"];
    let again = store.run(&[&["compare"], &of[..], &["--decide", "elapsed_mean"]].concat());
    assert_eq!(String::from_utf8(again.out).unwrap(), String::from_utf8(found.out).unwrap());
}

#[test]
fn versions_at_once_need_logs_of_their_own() {
    let store = Store::embedded();
    let (a, b) = (command(0, true), command(0, true));
    let shared = alternate(&store, &["--together", "--log", "log-*.csv"], &a, &b);
    assert_told(&shared.complaint(2), &["{side}", "--together"]);
    let found = alternate(&store, &["--together", "--log", "log-{side}.csv", "--pairs", "3"], &a, &b);
    assert_told(&found.err, &["after 3 pairs, no change from a to b is shown", "3 pairs of runs at once"]);
    assert_eq!(found.code, Some(0));
}

#[test]
fn pair_of_a_command_that_fails_is_void_and_three_in_a_row_are_the_end() {
    let store = Store::embedded();
    // The second pair of all is void.
    let b = format!("[ $PERFPIPE_PAIR != 2 ] && {{ {}; }}", command(0, false));
    let found = alternate(&store, &["--log", "log-*.csv", "--pairs", "3"], &command(0, false), &b);
    assert_told(&found.err, &["pair 2 is void: the command of b exited with 1"]);
    assert_eq!((found.code, store.list().len()), (Some(0), 6));
    let other = Store::embedded();
    let ended = alternate(&other, &["--log", "log-*.csv"], "true", &command(0, false));
    assert_told(
        &ended.complaint(1),
        &["left no new file that matches log-*.csv", "3 pairs in a row are void"],
    );
    // A log that can't be read leaves nothing of its pair.
    let bad = "echo nothing > log-b.csv";
    let ended = alternate(&other, &["--log", "log-*.csv"], &command(0, false), bad);
    assert_told(&ended.complaint(1), &["the log of b: "]);
    assert!(other.list().is_empty());
    // What can't be decided or written is known before hours of measuring.
    let flags = ["--log", "log-*.csv", "--decide", "p99"];
    let wrong = alternate(&other, &flags, &command(0, false), &command(0, false));
    assert_told(&wrong.complaint(2), &["no figure p99", "--percentiles", "pair 1 of 7"]);
    let nowhere =
        alternate(&Store::embedded(), &["--log", "x", "-o", "no/such/file"], "echo ran >&2", "true");
    assert!(!nowhere.complaint(1).contains("ran"));
    for wrong in [["--tag", "pair=1"], ["--log", "a***b"], ["--sides", "a,a"], ["--sides", "../x,y"]] {
        alternate(&other, &[&["--log", "x"], &wrong[..]].concat(), "true", "true").complaint(2);
    }
}
