//! t0, wherever in the log its record stands.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use perfpipe_ingest::{Error, ErrorKind, IngestOptions, SampleBatch, stream};

use crate::memory::passes;
use crate::read_back::Row;
use crate::support::{Desk, block_on, options, streamed};

const T0: i64 = 1_795_203_738_615;

/// Records of `late`: enough that the earliest is not among the first 64 KiB, by which a log is recognised.
const RECORDS: u64 = 5002;

/// A log whose earliest record, at `T0`, is its last but one.
fn late() -> String {
    let mut log = "timeStamp,elapsed,success\n".to_owned();
    for record in 0..RECORDS - 2 {
        log.push_str(&format!("{},7,true\n", T0 + 900 + record as i64 / 10));
    }
    log + &format!("{T0},1400,true\n{},7,true\n", T0 + 1400)
}

/// Blocks of a hundred bytes, and a window of two or so.
fn small() -> IngestOptions {
    options(2, 100, 200)
}

/// What is wrong, where the error is of this kind.
fn problem(error: Error, kind: ErrorKind) -> String {
    assert_eq!(error.kind(), kind, "{error:?}");
    error.to_string()
}

/// The origin that the log needs, where the error says so.
fn needed(error: Error) -> i64 {
    match error {
        Error::Origin { earliest, .. } => earliest,
        error => panic!("{error:?}"),
    }
}

#[test]
fn file_is_read_a_second_time_once_its_earliest_record_is_known() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", late())];
    let done = desk.ingest(&files, &small()).unwrap();
    assert!(done.read_twice);
    assert_eq!((done.info.t0_ms, done.info.last_ms, done.info.seconds), (T0, T0 + 1400, 2));
    assert_eq!((done.info.successes, done.info.rejects), (RECORDS, 0));
    let twice = desk.stored(&files, &small());
    assert_eq!(twice, desk.stored(&files, &options(1, 1 << 20, 1 << 20)));
    let (kept, done) = streamed(&files, &small()).unwrap();
    assert!(done.read_twice);
    assert_eq!((kept.restarts, kept.rows), (1, twice.rows));
}

#[test]
fn file_is_read_once_where_looking_ahead_or_the_user_tells() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", late())];
    assert!(!desk.ingest(&files, &options(2, 100, 1 << 20)).unwrap().read_twice);
    let told = desk.ingest(&files, &small().with_origin(T0)).unwrap();
    assert!(!told.read_twice && told.info.t0_ms == T0);
}

/// A log whose 500th record is earlier than all before it, and whose last but one is the earliest of all, if it is `late`.
fn early(late: bool) -> String {
    let log = self::late().replacen(&format!("{},7", T0 + 949), &format!("{},7", T0 + 500), 1);
    if late { log } else { log.replace(&format!("{T0},1400"), &format!("{},1400", T0 + 1000)) }
}

#[test]
fn reading_begins_anew_at_once_where_a_record_before_t0_stands_within_the_window() {
    let desk = Desk::new();
    let window = options(2, 100, 20_000);
    for (late, t0_ms, begun) in [(false, T0 + 500, 2), (true, T0, 3)] {
        let files = [desk.file("log.csv", early(late))];
        let (stored, read_twice, passes_begun) = passes(&files, &window);
        assert_eq!((stored.run.info.t0_ms, read_twice, passes_begun), (t0_ms, late, begun));
        assert_eq!(stored, passes(&files, &options(1, 1 << 20, 1 << 20)).0);
    }
}

#[test]
fn sink_that_cannot_forget_is_given_no_record_twice() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", early(false)), desk.file("late.csv", late())];
    let streamed = |file: &PathBuf| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let sink = move |batch: SampleBatch| {
            counted.fetch_add(batch.len(), Ordering::Relaxed);
            Ok(())
        };
        let done = block_on(stream(sink, std::slice::from_ref(file), &options(2, 100, 20_000)));
        (done.map(|(_, done)| done.info.successes), count.load(Ordering::Relaxed) as u64)
    };
    assert!(matches!(streamed(&files[0]), (Ok(RECORDS), RECORDS)));
    let refused = streamed(&files[1]).0.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::CannotRestart, "{refused}");
}

#[test]
fn earliest_record_may_be_in_any_log_of_several() {
    let desk = Desk::new();
    let other = |elapsed: &str| {
        let log = late().replace(&T0.to_string(), &(T0 + 1).to_string());
        log.replace(",7,", elapsed)
    };
    let files =
        [desk.file("a.csv", other(",8,")), desk.file("b.csv", late()), desk.file("c.csv", other(",9,"))];
    let done = desk.ingest(&files, &small()).unwrap();
    assert_eq!((done.info.t0_ms, done.info.successes, done.read_twice), (T0, 3 * RECORDS, true));
}

#[test]
fn reading_of_several_logs_begins_anew_at_once_and_looks_ahead_in_all_of_them() {
    let desk = Desk::new();
    // The second log tells of an earlier time than the first one's earliest, which is found first.
    let other = early(false).replace(&(T0 + 500).to_string(), &(T0 + 400).to_string()).replace(",7,", ",8,");
    let third = early(false).replace(",7,", ",9,");
    let files = [desk.file("a.csv", early(false)), desk.file("b.csv", &other), desk.file("c.csv", third)];
    let window = options(2, 100, 60_000);
    let (stored, read_twice, passes_begun) = passes(&files, &window);
    assert_eq!((stored.run.info.t0_ms, read_twice, passes_begun), (T0 + 400, false, 2));
    assert_eq!(stored, passes(&files, &options(1, 1 << 20, 3 << 20)).0);
    // A record that comes late in its log is only found by reading all of it.
    let files = [desk.file("a.csv", early(false)), desk.file("b.csv", early(true).replace(",7,", ",8,"))];
    let (stored, read_twice, passes_begun) = passes(&files, &window);
    assert_eq!((stored.run.info.t0_ms, read_twice, passes_begun), (T0, true, 3));
}

#[test]
fn told_origin_that_is_wrong_is_refused_with_the_right_one() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", late())];
    for wrong in [T0 + 1, T0 + 899, T0 + 100_000] {
        for options in [small(), options(2, 9000, 1 << 20)] {
            let failed = desk.ingest(&files, &options.with_origin(wrong));
            let failed = failed.unwrap_err();
            assert!(failed.to_string().contains(&format!("{wrong}")), "{failed}");
            assert!(failed.to_string().contains(&format!("{T0}")), "{failed}");
            assert_eq!(needed(failed), T0);
        }
    }
    desk.assert_empty();
}

/// The time of a row since t0, ms.
fn t_ms(row: &Row) -> i64 {
    row.strip_prefix('(').and_then(|row| row.split(',').next()).unwrap().parse().unwrap()
}

#[test]
fn run_begins_at_a_told_origin_before_its_first_record() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", late())];
    let usual = desk.stored(&files, &small());
    for before in [1, 385, 86_400_000] {
        let told = desk.stored(&files, &small().with_origin(T0 - before));
        let info = &told.run.info;
        assert_eq!((info.t0_ms, info.last_ms), (T0 - before, T0 + 1400));
        assert_eq!(i64::from(info.seconds), (1400 + before) / 1000 + 1);
        assert_eq!((info.last_end_ms, info.successes), (usual.run.info.last_end_ms, RECORDS));
        let times = |rows: &[Row]| rows.iter().map(t_ms).collect::<Vec<_>>();
        let moved: Vec<i64> = times(&usual.rows).iter().map(|t_ms| t_ms + before).collect();
        assert_eq!(times(&told.rows), moved);
        let first = told.run.cells.iter().next().unwrap().unwrap().0.second;
        assert_eq!(i64::from(first), before / 1000);
    }
}

#[test]
fn records_are_judged_by_their_distance_from_a_told_origin() {
    let desk = Desk::new();
    let mad = "timeStamp,elapsed,success\n1895203738615,7,true\n";
    let files = [desk.file("log.csv", late().replace("timeStamp,elapsed,success\n", mad))];
    let day = 86_400_000;
    let done = desk.ingest(&files, &options(2, 9000, 1 << 20).with_origin(T0 - day)).unwrap();
    assert_eq!((done.info.successes, done.info.rejects), (RECORDS, 1));
    let far = small().with_origin(T0 - day).with_max_span_ms(day as u64);
    problem(desk.ingest(&files, &far).unwrap_err(), ErrorKind::OriginContradicted);
}

#[test]
fn told_origin_that_no_record_is_near_is_refused_at_once() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", late())];
    for wrong in [0, i64::MIN, i64::MAX, T0 - 8 * 86_400_000] {
        let failed = desk.ingest(&files, &small().with_origin(wrong)).unwrap_err();
        let problem = problem(failed, ErrorKind::OriginContradicted);
        assert!(problem.contains(&(T0 + 900).to_string()), "{problem}");
    }
    desk.assert_empty();
}

#[test]
fn one_mad_clock_at_the_end_moves_nothing_however_small_the_window() {
    let desk = Desk::new();
    let files = [desk.file("log.csv", late() + "5,7,true\n1895203738615,7,true\n")];
    for look_ahead in [0, 1, 200, 1 << 20] {
        let done = desk.ingest(&files, &options(2, 1000, look_ahead)).unwrap();
        assert_eq!((done.info.t0_ms, done.info.rejects), (T0, 2), "a window of {look_ahead} bytes");
    }
}

#[test]
fn files_that_are_read_twice_give_their_notes_and_sizes_once() {
    let desk = Desk::new();
    let files = [desk.file("log.zip", late())];
    let done = desk.ingest(&files, &small()).unwrap();
    assert!(done.read_twice);
    assert_eq!((done.notes.len(), done.info.sources.len()), (1, 1), "{:?}", done.notes);
}

#[cfg(unix)]
#[test]
fn pipe_names_the_origin_that_it_needs() {
    let desk = Desk::new();
    let ingest = |options: IngestOptions| {
        crate::support::through_pipe(&desk, "pipe", late().as_bytes(), |fifo| desk.ingest(&[fifo], &options))
    };
    let failed = ingest(small()).unwrap_err();
    assert!(failed.to_string().contains(&T0.to_string()), "{failed}");
    assert_eq!(needed(failed), T0);
    desk.assert_empty();
    let done = ingest(small().with_origin(T0)).unwrap();
    assert_eq!((done.info.t0_ms, done.info.successes, done.read_twice), (T0, RECORDS, false));
    let done = ingest(options(2, 100, 1 << 20)).unwrap();
    assert_eq!((done.info.t0_ms, done.info.successes), (T0, RECORDS));
}

#[cfg(unix)]
#[test]
fn pipe_and_a_file_are_looked_ahead_in_together() {
    let desk = Desk::new();
    let head = format!("timeStamp,elapsed,success\n{T0},7,true\n");
    let file = desk.file("file.csv", head);
    let done = crate::support::through_pipe(
        &desk,
        "pipe",
        late().replace(&T0.to_string(), "1795203738700").as_bytes(),
        |fifo| desk.ingest(&[fifo, file], &small()),
    );
    let done = done.unwrap();
    assert_eq!((done.info.t0_ms, done.info.successes, done.read_twice), (T0, RECORDS + 1, false));
}

#[cfg(unix)]
#[test]
fn pipe_that_says_nothing_holds_up_nothing_else() {
    let desk = Desk::new();
    let fifo = desk.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let files: Vec<PathBuf> = vec![fifo.clone()];
    block_on(async {
        let store = desk.store();
        let sizes = small();
        let ingest = perfpipe_ingest::ingest(&store, &files, &sizes);
        // The runtime has one thread: what runs beside the ingest is what makes the pipe speak.
        let write = tokio::task::spawn_blocking(move || std::fs::write(fifo, late()));
        let beside = async {
            tokio::task::yield_now().await;
            write.await.unwrap().unwrap();
        };
        let (done, ()) = tokio::join!(ingest, beside);
        assert_eq!(needed(done.unwrap_err()), T0);
    });
}

#[test]
fn times_that_no_calendar_has_are_refused_before_anything_is_read() {
    let desk = Desk::new();
    for (time, kind) in [
        ("1795203738615000000", ErrorKind::TimeUnit),
        ("-9223372036854775807", ErrorKind::TimeRange),
        ("253402300799999", ErrorKind::TimeRange),
    ] {
        let log = format!("timeStamp,elapsed,success\n{time},7,true\n");
        let failed = desk.ingest(&[desk.file("log.csv", log)], &small()).unwrap_err();
        let problem = problem(failed, kind);
        assert!(problem.contains("log.csv") && problem.contains(time), "{problem}");
    }
    desk.assert_empty();
}
