//! Logs of which every record can be taken, and which are odd all the same: times in other units, clocks that step,
//! quotes between which records stand.

use std::fmt::Write;

use perfpipe_ingest::counts::OTHER;
use perfpipe_ingest::inspection::InjectorsBy;
use perfpipe_ingest::run::RejectReason;
use perfpipe_ingest::source::{SourceOptions, TimeUnit};
use perfpipe_ingest::store::parquet::ParquetStore;
use perfpipe_ingest::{
    Error, IngestOptions, Ingested, PipelineOptions, Result, SampleBatch, ingest, inspect, stream,
};

use crate::support::*;

const T0_S: i64 = 1_795_203_738;
const HEADER: &str = "timeStamp,elapsed,label,threadName,success\n";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

fn ingested(log: &str, options: &IngestOptions) -> Result<Ingested> {
    let file = on_disk("go_2048.csv", log.as_bytes());
    let sink = |_: SampleBatch| Ok(());
    runtime().block_on(stream(sink, &[file.path], options)).map(|(_, done)| done)
}

/// The notes on a log, which must be the same by blocks of any size, and those of an inspection.
fn notes(log: &str) -> Vec<String> {
    let by_blocks = |block_size| {
        let sizes = PipelineOptions::default().with_block_size(block_size).with_workers(2);
        let notes = ingested(log, &IngestOptions::default().with_sizes(sizes)).unwrap().notes;
        notes.iter().map(|note| note.split_once("go_2048.csv").unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    let notes = by_blocks(1 << 20);
    for block_size in [1, 1000, 40_000] {
        assert_eq!(by_blocks(block_size), notes, "blocks of {block_size} bytes");
    }
    let file = on_disk("go_2048.csv", log.as_bytes());
    let found = runtime().block_on(inspect(&[file.path], &IngestOptions::default())).unwrap();
    assert_eq!(found.notes.len(), notes.len(), "{:?}", found.notes);
    notes
}

fn of_unit(unit: TimeUnit) -> IngestOptions {
    let source = SourceOptions::default().with_time_unit(unit);
    IngestOptions::default().with_source(source)
}

#[test]
fn times_in_another_unit_are_asked_about_and_read_as_told() {
    for (unit, scale) in
        [(TimeUnit::Seconds, 1), (TimeUnit::Microseconds, 1_000_000), (TimeUnit::Nanoseconds, 1_000_000_000)]
    {
        let mut log = HEADER.to_owned();
        (0..50).for_each(|at| writeln!(log, "{},9,Get,T 1-1,true", (T0_S + at / 10) * scale).unwrap());
        let error = failure(ingested(&log, &IngestOptions::default()));
        assert!(error.to_string().contains(&format!("of 2026-11-20 in {}", unit.name())), "{error}");
        assert!(
            matches!(&error, Error::TimeUnit { unit: asked, .. } if *asked == unit.to_string()),
            "{error:?}"
        );
        let file = on_disk("go_2048.csv", log.as_bytes());
        let found = runtime().block_on(inspect(&[file.path], &IngestOptions::default())).unwrap();
        assert_eq!(
            found.refusal.map(|refusal| refusal.to_string().split_once(": ").unwrap().1.to_owned()),
            error.to_string().split_once(": ").map(|(_, problem)| problem.to_owned())
        );
        let done = ingested(&log, &of_unit(unit)).unwrap();
        assert_eq!((done.info.t0_ms, done.info.seconds, done.info.successes), (T0_S * 1000, 5, 50));
    }
}

#[test]
fn small_parts_of_a_time_are_cut_down() {
    let log = format!("{HEADER}1795203738615999,9,Get,T 1-1,true\n1795203738616000,9,Get,T 1-1,true\n");
    let done = ingested(&log, &of_unit(TimeUnit::Microseconds)).unwrap();
    assert_eq!((done.info.t0_ms, done.info.last_ms), (1_795_203_738_615, 1_795_203_738_616));
}

#[test]
fn milliseconds_of_1970_are_read_where_they_are_no_likely_seconds_or_told() {
    for first in [0, 1, 1_000_000, 900_000_000] {
        let log = format!("{HEADER}{first},9,Get,T 1-1,true\n{},9,Get,T 1-1,true\n", first + 1500);
        let done = ingested(&log, &IngestOptions::default()).unwrap();
        assert_eq!((done.info.t0_ms, done.info.seconds), (first, 2));
    }
    let log = format!("{HEADER}{T0_S},9,Get,T 1-1,true\n");
    assert_eq!(ingested(&log, &of_unit(TimeUnit::Milliseconds)).unwrap().info.t0_ms, T0_S);
}

#[test]
fn clock_that_is_put_back_or_forward_is_told_with_its_line() {
    for (shift_s, what) in [
        (-3600, "the clock goes back by 3600 s"),
        (-20, "the clock goes back by 20 s"),
        (7200, "the clock goes forward by 7200 s"),
    ] {
        let mut log = HEADER.to_owned();
        for at in 0..6000 {
            let shift = if at < 3000 { 0 } else { shift_s * 1000 + 5 };
            writeln!(log, "{},9,Get,10.0.0.1-T 1-1,true", T0_S * 1000 + at * 100 + shift).unwrap();
        }
        let notes = notes(&log);
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with(&format!(", line 3002: {what}")), "{notes:?}");
    }
}

#[test]
fn end_of_summer_time_in_a_log_of_dates_is_told_and_offsets_behind_them_mend_it() {
    // From 02:50 to 03:00 in summer time, and from 02:00 to 02:10 in that of winter: ten requests a second.
    let log = |offsets: [&str; 2]| {
        let mut log = HEADER.to_owned();
        for at in 0..12_000 {
            let (minute, offset) = match at / 600 {
                minute @ ..10 => (50 + minute, offsets[0]),
                minute => (minute - 10, offsets[1]),
            };
            let (second, tenth) = (at / 10 % 60, at % 10);
            writeln!(log, "2026-10-25 02:{minute:02}:{second:02}.{tenth}00{offset},9,Get,T 1-1,true")
                .unwrap();
        }
        log
    };
    for zone in ["Europe/Warsaw", "UTC"] {
        let source = SourceOptions::default().with_time_zone(zone.parse().unwrap());
        let done = ingested(&log(["", ""]), &IngestOptions::default().with_source(source)).unwrap();
        assert_eq!((done.info.seconds, done.notes.len()), (3600, 1), "{:?}", done.notes);
        for part in [
            "line 6002: the clock goes back by 3600 s",
            "Summer time may have ended there",
            "+02:00 before this line and +01:00 from it on",
        ] {
            assert!(done.notes[0].contains(part), "{part}: {}", done.notes[0]);
        }
    }
    notes(&log(["", ""]));
    let done = ingested(&log(["+02:00", "+01:00"]), &IngestOptions::default()).unwrap();
    assert_eq!((done.info.seconds, done.notes), (1200, vec![]));
    // What names its zone does not go back by the end of summer time.
    let same = ingested(&log(["+02:00", "+02:00"]), &IngestOptions::default()).unwrap();
    assert!(!same.notes[0].contains("summer"), "{:?}", same.notes);
}

#[test]
fn clock_that_goes_to_and_fro_is_told_once_with_how_often() {
    let mut log = HEADER.to_owned();
    for at in 0..5000 {
        let shift = if at / 1000 % 2 == 0 { 0 } else { -600_000 };
        writeln!(log, "{},9,Get,10.0.0.1-T 1-1,true", T0_S * 1000 + at * 10 + shift).unwrap();
    }
    let notes = notes(&log);
    assert!(notes[0].contains("line 1002") && notes[0].ends_with("one more such step"), "{notes:?}");
}

#[test]
fn records_that_come_late_are_no_step_of_a_clock() {
    let ms = |at: i64| T0_S * 1000 + at * 100;
    let slow = |at: i64| if at % 50 == 0 { 60_000 } else { 9 };
    let mut logs = vec![HEADER.to_owned(); 6];
    for at in 0..4000 {
        // Stamped with their starts, and with their ends.
        writeln!(logs[0], "{},{},Get,T 1-1,true", ms(at) - slow(at), slow(at)).unwrap();
        writeln!(logs[1], "{},{},Get,T 1-1,true", ms(at), slow(at)).unwrap();
        // Of two injectors with clocks an hour apart.
        let (host, ahead) = if at % 3 == 0 { (1, 3_600_000) } else { (2, 0) };
        writeln!(logs[2], "{},9,Get,10.0.0.{host}-T 1-1,true", ms(at) + ahead).unwrap();
        // Of two that hand theirs over once a minute, and are not told apart.
        let minute = at / 600 * 600;
        let in_turn = minute + at % 600 / 300 + (at % 300) * 2;
        writeln!(logs[3], "{},9,Get,T 1-1,true", ms(in_turn)).unwrap();
        // With parts of a long request behind it.
        let part = at % 1000 > 990;
        writeln!(logs[4], "{},9,Get,10.0.0.1-T 1-1,true", ms(at) - if part { 40_000 } else { 0 }).unwrap();
        // Joined of several, each with its header.
        if at > 0 && at % 1000 == 0 {
            logs[5].push_str(HEADER);
        }
        writeln!(logs[5], "{},9,Get,10.0.0.1-T 1-1,true", ms(at % 1000)).unwrap();
    }
    for (case, log) in logs.iter().enumerate() {
        // The only note is that logs of the same time were joined.
        let told = notes(log);
        let is_joined =
            |note: &String| note.starts_with(", line 1003: another log of the same time was joined");
        assert_eq!(
            (told.len(), told.iter().all(is_joined)),
            (usize::from(case == 5), true),
            "case {case}: {told:?}"
        );
    }
}

/// A hundred records, with a quote before the label of one and at this place of another's.
fn with_stray_quotes(first: usize, second: usize, place: &str) -> String {
    let mut log = HEADER.to_owned();
    for at in 0..100 {
        let label = match at {
            _ if at == first => "\"Get".to_owned(),
            _ if at == second => place.replace('.', "Get"),
            _ => "Get".to_owned(),
        };
        writeln!(log, "{},9,{label},T 1-1,true", T0_S * 1000 + at as i64).unwrap();
    }
    log
}

#[test]
fn records_between_two_stray_quotes_are_told_and_strictly_refused() {
    for (first, second, place) in [(10, 90, ".\""), (10, 90, "\"."), (10, 11, ".\""), (10, 11, "\".")] {
        let log = with_stray_quotes(first, second, place);
        let swallowed = second - first;
        let done = ingested(&log, &IngestOptions::default()).unwrap();
        assert_eq!((done.info.successes, done.info.rejects), (100 - swallowed as u64, 0));
        let what = RejectReason::SwallowedRecords { records: swallowed as u64 };
        let notes = notes(&log);
        assert!(notes.len() == 1 && notes[0].starts_with(&format!(", line 12: {what}")), "{notes:?}");
        let strict = IngestOptions::default().with_max_rejects(0);
        match failure(ingested(&log, &strict)) {
            Error::Rejects { place, reason, .. } => {
                assert_eq!(place.line, Some(12));
                assert_eq!(reason, what);
            }
            error => panic!("{error}"),
        }
    }
}

#[test]
fn line_breaks_in_a_message_are_none_of_it() {
    let mut log = "timeStamp,elapsed,label,success,failureMessage\n".to_owned();
    for at in 0..50 {
        let message = "\"Expected:\n1795203738615 or,\nso: \"\"true\"\"\n\nat x.y(Z.java:12),5,7,8\"";
        writeln!(log, "{},9,Get,false,{message}", T0_S * 1000 + at).unwrap();
    }
    assert_eq!(notes(&log), Vec::<String>::new());
    let strict = IngestOptions::default().with_max_rejects(0);
    assert_eq!(ingested(&log, &strict).unwrap().info.failures, 50);
}

#[test]
fn fixtures_have_no_odd_times() {
    let mut met = 0;
    for entry in std::fs::read_dir(fixture("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_log = [".csv", ".csv.zip", ".jtl"].iter().any(|end| name.ends_with(end));
        if !is_log || name.contains(".cpu.") {
            continue;
        }
        let found = runtime().block_on(inspect(&[path], &IngestOptions::default())).unwrap();
        assert_eq!(found.notes, Vec::<String>::new(), "{name}");
        met += 1;
    }
    assert!(met > 10);
}

#[test]
fn label_that_reads_like_the_rest_of_the_labels_is_none_of_them() {
    let mut log = HEADER.to_owned();
    for at in 0..600 {
        let label = match at % 3 {
            0 => format!("label {at}"),
            1 => OTHER.to_owned(),
            _ => format!("{OTHER} (as logged)"),
        };
        writeln!(log, "{},9,{label},T 1-1,true", T0_S * 1000).unwrap();
    }
    let file = on_disk("go_2048.csv", log.as_bytes());
    let folder = tempfile::tempdir().unwrap();
    let store = ParquetStore::open(folder.path()).unwrap();
    let run = runtime().block_on(async {
        let done = ingest(&store, &[file.path], &IngestOptions::default()).await.unwrap();
        store.read(&done.info.key).unwrap().unwrap()
    });
    let counted =
        |name: &str| run.labels.iter().find(|label| label.label == name).map(|label| label.successes);
    assert_eq!(counted("(other) (as logged)"), Some(200));
    assert_eq!(counted("(other) (as logged) (as logged)"), Some(200));
    assert_eq!(counted(OTHER), None);
    let cells = run.cells.iter().map(Result::unwrap);
    let rest: u64 = cells
        .filter(|(key, _)| run.cells.labels[key.label as usize] == OTHER)
        .map(|(_, cell)| cell.samples())
        .sum();
    // 198 labels of 200 have cells of their own besides these two.
    assert_eq!(rest, 2);
}

#[test]
fn sizes_that_can_not_be_added_up_are_refused() {
    let header = "timeStamp,elapsed,label,success,bytes,sentBytes\n";
    let log = |count: i64, bytes: i64| {
        let records: String =
            (0..count).map(|at| format!("{},9,Get,true,{bytes},{bytes}\n", T0_S * 1000 + at)).collect();
        format!("{header}{records}")
    };
    let done = ingested(&log(5, (1 << 40) - 1), &IngestOptions::default()).unwrap();
    assert_eq!((done.info.successes, done.info.rejects), (5, 0));
    for bytes in [1 << 40, i64::MAX, -(1 << 41)] {
        let log = format!("{}{}", log(1, 7), &log(3, bytes)[header.len()..]);
        let done = ingested(&log, &IngestOptions::default()).unwrap();
        assert_eq!((done.info.successes, done.info.rejects), (1, 3), "{bytes}");
    }
}

#[test]
fn hostnames_later_in_a_log_name_its_injectors_in_an_inspection_too() {
    let log = "timeStamp,elapsed,success,threadName,Hostname\n1795203738615,12,true,10.0.0.7-TG 1-1,\n\
               1795203738700,9,true,TG 1-1,load-1\n1795203738800,9,yes,TG 1-1,load-2\n";
    let file = on_disk("run.csv", log.as_bytes());
    let found = runtime().block_on(inspect(&[file.path], &IngestOptions::default())).unwrap();
    assert_eq!(found.logs[0].injectors_by, InjectorsBy::Hostname);
    assert_eq!(found.injectors, ["10.0.0.7", "load-1"]);

    let rejected = log.replace(",true,TG 1-1,load-1", ",yes,TG 1-1,load-1");
    let file = on_disk("run.csv", rejected.as_bytes());
    let found = runtime().block_on(inspect(&[file.path], &IngestOptions::default())).unwrap();
    assert_eq!(found.logs[0].injectors_by, InjectorsBy::ThreadName, "a rejected record names no injector");
}
