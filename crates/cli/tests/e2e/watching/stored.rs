//! What is stored of a watched run is what an ingest of the finished log stores.

use std::io::Write;

use super::same::{NAMED, assert_same_as_ingest};
use super::shown::last_line;
use super::writer::{HEADER, T0, Watching, Writer, log, records};
use crate::support::*;

/// Watches one log, which a function writes, until SIGINT.
fn watch(store: &Store, write: impl FnOnce(&mut Writer, &mut Watching)) -> String {
    let mut writer = Writer::new(store, "run.jtl");
    let mut watching = Watching::begin(store, &[&["run.jtl"], &NAMED[..]].concat());
    write(&mut writer, &mut watching);
    let (done, _) = watching.end("INT");
    assert_eq!(done.code, Some(0), "{}", done.err);
    done.err
}

#[test]
fn grown_log_is_stored_as_the_finished_one() {
    for store in Store::each() {
        let all = log(0..9);
        watch(&store, |writer, watching| {
            // Records are cut wherever the writer's buffer is full.
            for (at, piece) in all.as_bytes().chunks(4096).enumerate() {
                writer.write(std::str::from_utf8(piece).unwrap());
                if at == 2 {
                    watching.until(0);
                }
            }
            watching.until(6);
        });
        assert_same_as_ingest(&store, &[("run.jtl", all)]);
    }
}

#[test]
fn log_that_is_there_already_is_read_from_its_begin() {
    let store = Store::embedded();
    watch(&store, |writer, watching| {
        writer.write(&log(0..9));
        watching.until(6);
    });
    assert_same_as_ingest(&store, &[("run.jtl", log(0..9))]);
}

#[test]
fn renamed_log_is_one_run() {
    for store in Store::each() {
        watch(&store, |writer, watching| {
            writer.write(&log(0..4));
            watching.until(1);
            writer.rotate();
            writer.write(&records(4..8, ""));
            watching.until(5);
            writer.rotate();
            writer.write(&records(8..12, ""));
        });
        assert_same_as_ingest(&store, &[("run.jtl", log(0..12))]);
    }
}

#[test]
fn copied_and_emptied_log_is_one_run() {
    let store = Store::embedded();
    watch(&store, |writer, watching| {
        writer.write(&log(0..4));
        watching.until(1);
        writer.copy_and_empty();
        writer.write(&records(4..8, ""));
        watching.until(5);
    });
    assert_same_as_ingest(&store, &[("run.jtl", log(0..8))]);
}

#[test]
fn log_that_was_emptied_without_a_copy_begins_anew() {
    let store = Store::embedded();
    watch(&store, |writer, watching| {
        writer.write(&log(0..9));
        watching.until(6);
        writer.empty();
        writer.write(&(HEADER.to_owned() + &records(20..24, "")));
        watching.until(2);
    });
    assert_same_as_ingest(&store, &[("run.jtl", HEADER.to_owned() + &records(20..24, ""))]);
}

#[test]
fn cut_line_is_a_reject() {
    let store = Store::embedded();
    let cut = log(0..5) + "1795203749000,12,Ge";
    let said = watch(&store, |writer, watching| {
        writer.write(&cut);
        watching.until(2);
    });
    assert_told(&said, &["1 record was rejected"]);
    assert_same_as_ingest(&store, &[("run.jtl", cut)]);
}

#[test]
fn writer_may_stop_and_go_on() {
    let store = Store::embedded();
    let (begin, end) = (log(0..4), records(60..64, ""));
    watch(&store, |writer, watching| {
        writer.write(&begin);
        writer.write(&end[..10]);
        watching.until(2);
        std::thread::sleep(std::time::Duration::from_millis(700));
        writer.write(&end[10..]);
        watching.until(61);
    });
    assert_same_as_ingest(&store, &[("run.jtl", begin + &end)]);
}

#[test]
fn early_record_that_comes_late_moves_time_zero() {
    let store = Store::embedded();
    let late = format!("{},4000,Get,200,OK,Group 1-51,true,120,1,10,7\n", T0 - 700);
    watch(&store, |writer, watching| {
        writer.write(&log(0..4));
        watching.until(2);
        writer.write(&late);
        writer.write(&records(4..9, ""));
        watching.until(7);
    });
    assert_same_as_ingest(&store, &[("run.jtl", log(0..4) + &late + &records(4..9, ""))]);
}

#[test]
fn pipe_is_stored_at_its_end() {
    for store in Store::each() {
        let all = log(0..9);
        let mut watching = Watching::begin(&store, &[&["-"], &NAMED[..]].concat());
        let mut pipe = watching.child.stdin.take().unwrap();
        for piece in all.as_bytes().chunks(5000) {
            pipe.write_all(piece).unwrap();
        }
        watching.until(6);
        drop(pipe);
        let (done, _) = watching.ended();
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert_same_as_ingest(&store, &[("-", all)]);
    }
}

#[test]
fn injector_may_join_late_and_another_never() {
    for store in Store::each() {
        let mut first = Writer::new(&store, "one.jtl");
        let names = ["one.jtl", "two.jtl", "three.jtl"];
        let mut watching = Watching::begin(&store, &[&names, &NAMED[..]].concat());
        let (one, two) = (log(0..9), HEADER.to_owned() + &records(4..9, "two-"));
        first.write(&log(0..4));
        watching.until(2);
        let mut second = Writer::new(&store, "two.jtl");
        second.write(&two);
        first.write(&records(4..9, ""));
        watching.until(7);
        let (done, told) = watching.end("TERM");
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert_told(&done.err, &["three.jtl", "SIGTERM"]);
        // Each injector has ten threads.
        let load = |second: &str| last_line(&told, second)[2].to_owned();
        assert_eq!((load("1"), load("6")), ("10".to_owned(), "20".to_owned()), "{told:?}");
        assert_same_as_ingest(&store, &[("one.jtl", one), ("two.jtl", two)]);
    }
}
