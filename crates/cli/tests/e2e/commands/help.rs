//! Help and usage: an example for every command, and exit code 2 for what can't be meant.

use crate::support::*;

/// The commands that the help lists.
fn commands() -> Vec<String> {
    let text = done(perfpipe().arg("--help")).text();
    let listed =
        text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let name = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    listed.filter(|line| !line.starts_with("   ")).map(name).filter(|name| name != "help").collect()
}

#[test]
fn every_command_explains_itself_with_an_example() {
    let commands = commands();
    assert!(commands.len() >= 15 && commands.contains(&"attach-cpu".to_owned()), "{commands:?}");
    for command in commands {
        let opens_no_store = ["inspect", "completions", "man"].contains(&&*command);
        for help in [&[&command, "--help"][..], &["help", &command]] {
            let text = done(perfpipe().args(help)).text();
            assert!(text.contains(&format!("\n  perfpipe {command}")), "no example: {text}");
            assert_eq!(text.contains("--store <DIR>"), !opens_no_store, "{text}");
            assert_eq!(text.contains("--database <URL>"), !opens_no_store, "{text}");
        }
    }
    let text = done(perfpipe().arg("--help")).text();
    assert!(text.contains("Exit codes") && text.contains("perfpipe ingest run.zip"), "{text}");
}

#[test]
fn completions_and_manual_pages_tell_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = done(perfpipe().args(["completions", shell])).text();
        for word in ["attach-cpu", "page-format", "baseline-store"] {
            assert!(script.contains(word), "{word} is not in the script for {shell}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let man = |name: &str| std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
    done(perfpipe().args(["man", "--out", folder.path().to_str().unwrap()])).said();
    for command in commands() {
        assert!(man("perfpipe").contains(&command.replace('-', "\\-")), "{command}");
        assert!(man(&format!("perfpipe-{command}")).contains("SYNOPSIS"), "{command}");
    }
    assert!(man("perfpipe-compare").contains("baseline"));
}

#[test]
fn wrong_usage_is_told_before_any_work() {
    let store = Store::embedded();
    let log = fixture("crlf.csv");
    let log = log.to_str().unwrap();
    let key = ["--framework", "a", "--test", "b"];
    let export = |flags: &[&'static str]| [&["export"], &key[..], flags].concat();
    let ingest = |flags: &[&'static str]| [&["ingest", log], flags].concat();
    for (arguments, part) in [
        (vec!["ingest"], "FILE"),
        (vec!["frobnicate"], "frobnicate"),
        (export(&["--what", "everything"]), "everything"),
        (export(&["--format", "xls"]), "xls"),
        (export(&["--from", "-1"]), "-1"),
        (export(&["--injectors", "0"]), "--injectors"),
        (ingest(&["--delimiter", "ab"]), "--delimiter"),
        (ingest(&["--time-zone", "Mars/Olympus"]), "Mars/Olympus"),
        (ingest(&["--max-span", "7"]), "--max-span"),
        (ingest(&["--max-span", "13d"]), "12 days"),
        (ingest(&["--framework", " "]), "--framework"),
        (ingest(&["--strict", "--max-rejects", "3"]), "--strict"),
        (ingest(&["--injector-pattern", "("]), "("),
        (ingest(&["--workers", "0"]), "--workers"),
        (ingest(&["--readers", "0"]), "--readers"),
        (ingest(&["--repeat", "0"]), "--repeat"),
        (ingest(&["--repeat", "2", "--append-repeat"]), "--append-repeat"),
        (ingest(&["--replace", "--append-repeat"]), "--append-repeat"),
        (export(&["--repeat", "0"]), "--repeat"),
        (ingest(&["--database", "postgres://localhost/x"]), "--database"),
    ] {
        let complaint = store.run(&arguments).complaint(2);
        assert!(complaint.contains(part), "{arguments:?}: {complaint}");
        assert!(!std::path::Path::new(store.place()).exists(), "{arguments:?} made a store");
    }
}

#[test]
fn views_that_can_not_be_are_wrong_usage() {
    for store in Store::each() {
        let key = Fixture::named("transactions.csv").ingest_into(&store);
        for (flags, parts) in [
            (&["--percentiles", "101"][..], &["101", "0 to 100"][..]),
            (&["--percentiles", "nan"], &["NaN"]),
            (&["--from", "9", "--to", "3"], &["9", "3"]),
            (&["--from", "5000"], &["5000", "12"]),
            (&["--label", "Get 2408 1"], &["Get 2408 1", "Get 2048 1"]),
            (&["--label", "Visit"], &["Visit", "--transactions"]),
        ] {
            let run = ["export", "--framework", &key.framework, "--test", &key.test];
            let complaint = store.run(&[&run[..], flags].concat()).complaint(2);
            for part in parts {
                assert!(complaint.contains(part), "{flags:?}: {complaint}");
            }
        }
    }
}
