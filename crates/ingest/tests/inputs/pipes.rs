//! Standard input and its like: every packing, what follows a log, and what can't be read twice.

use perfpipe_ingest::ErrorKind;
use perfpipe_ingest::source::Place;
use std::io::Cursor;

use zip::CompressionMethod;

use crate::support::*;
use crate::zips::*;

#[test]
fn every_packing_comes_through_a_pipe_byte_by_byte() {
    let log = long_log();
    let member: &[Member] = &[("a.csv", &log)];
    let large = options(CompressionMethod::Deflated).large_file(true);
    let mut forms = vec![
        log.clone(),
        gzip(&log),
        zstd(&log),
        deflated(member),
        sized(member, options(CompressionMethod::Stored)),
        sized(member, large),
        sized(member, options(CompressionMethod::Zstd)),
        streamed(member, options(CompressionMethod::Deflated)),
        streamed(member, options(CompressionMethod::Zstd)),
        streamed(member, large),
    ];
    for signed in [false, true] {
        for wide in [false, true] {
            forms.push(described(("-", &log), Descriptor { signed, wide }));
        }
    }
    for (form, bytes) in forms.into_iter().enumerate() {
        let mut inputs = from_pipe(Drip(Cursor::new(bytes.clone()))).unwrap();
        let source = &mut inputs.logs[0];
        assert!(!source.can_restart() && source.packed_size().is_none());
        let logs = read_logs(&mut inputs, 1000).unwrap();
        assert!(logs.len() == 1 && logs[0].text == log, "form {form}");
        assert_eq!(logs[0].file.crc32, crc32fast::hash(&log));
        assert!(inputs.logs[0].open().is_err(), "a pipe is read once");
        for size in [1, 2, 5, 70_000] {
            let logs = read_logs(&mut from_pipe(Cursor::new(bytes.clone())).unwrap(), size).unwrap();
            assert!(logs[0].text == log, "form {form} by {size}");
        }
    }
}

#[test]
fn progress_counts_what_was_read_to_recognise_the_pipe() {
    let zip = deflated(&[("a.csv", &long_log())]);
    let length = zip.len() as u64;
    let mut inputs = from_pipe(Cursor::new(zip)).unwrap();
    let progress = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let mut stream = inputs.logs[0].open_counted(progress.clone()).unwrap();
    while let Some(log) = stream.next_log().unwrap() {
        log.finish().unwrap();
    }
    assert_eq!(progress.load(std::sync::atomic::Ordering::Relaxed), length);
}

#[test]
fn zip_from_a_pipe_may_hold_several_logs_behind_the_cpu_export() {
    for form in [deflated, |members: &[Member]| streamed(members, options(CompressionMethod::Deflated))] {
        let zip = form(&[
            ("__MACOSX/._a", b"\0\0"),
            ("about.txt", b"hello"),
            ("cpu.csv", CPU.as_bytes()),
            ("a.csv", LOG.as_bytes()),
            ("more.txt", b"hello"),
            ("b.csv", &long_log()),
            ("cpu2.csv", CPU.as_bytes()),
        ]);
        let mut inputs = from_pipe(Cursor::new(zip)).unwrap();
        assert_eq!(inputs.logs.len(), 1);
        assert_eq!(inputs.logs[0].file_name(), "a.csv");
        let logs = read_logs(&mut inputs, 100).unwrap();
        assert_eq!((logs.len(), logs[0].text.as_slice()), (2, LOG.as_bytes()));
        assert!(logs[1].text == long_log());
        assert_eq!(logs[1].file.member.as_deref(), Some("b.csv"));
        assert_eq!(inputs.notes.len(), 3, "{:?}", inputs.notes);
        assert_eq!(read_cpu(inputs).unwrap().series.readings().len(), 2);
    }
}

#[test]
fn log_that_is_dropped_half_read_is_passed_over() {
    let zip =
        streamed(&[("a.csv", &long_log()), ("b.csv", LOG.as_bytes())], options(CompressionMethod::Deflated));
    let mut inputs = from_pipe(Cursor::new(zip)).unwrap();
    let mut stream = inputs.logs[0].open().unwrap();
    drop(stream.next_log().unwrap().unwrap());
    let second = stream.next_log().unwrap().unwrap();
    assert_eq!(second.file_name(), "b.csv");
    assert_eq!(second.finish().unwrap().bytes, LOG.len() as u64);
    assert!(stream.next_log().unwrap().is_none());
}

#[test]
fn cpu_export_behind_the_log_is_refused_unless_one_was_given() {
    let zip = deflated(&[("a.csv", LOG.as_bytes()), ("cpu.csv", CPU.as_bytes())]);
    let error = failure(read_logs(&mut from_pipe(Cursor::new(zip.clone())).unwrap(), 100));
    assert!(error.to_string().contains("member cpu.csv"), "{error}");
    assert_eq!(error.kind(), ErrorKind::CpuBehindLog, "{error}");
}

#[cfg(unix)]
#[test]
fn named_pipe_loses_nothing_and_knows_of_the_cpu_export_beside_it() {
    let zip = deflated(&[("a.csv", &long_log()), ("cpu.csv", CPU.as_bytes())]);
    let cpu = on_disk("cpu.csv", CPU.as_bytes());
    let fifo = cpu.path.with_file_name("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || std::fs::write(fifo, zip).unwrap()
    });
    let mut inputs = recognise(&[&fifo, &cpu.path]).unwrap();
    assert!(!inputs.logs[0].can_restart());
    let logs = read_logs(&mut inputs, 1 << 20).unwrap();
    writer.join().unwrap();
    assert!(logs.len() == 1 && logs[0].text == long_log());
    assert!(inputs.notes[0].contains("second CPU export"), "{:?}", inputs.notes);
}

#[test]
fn unreadable_pipe_is_refused_with_its_kind_and_a_remedy() {
    let member: &[Member] = &[("a.csv", LOG.as_bytes())];
    let zip = deflated(member);
    for (bytes, kind, member) in [
        (vec![], ErrorKind::Empty, None),
        (b"<testResults>".to_vec(), ErrorKind::NoRecords, None),
        (b"timeStamp,elapsed,success\n".to_vec(), ErrorKind::NoRecords, None),
        (deflated(&[]), ErrorKind::NoLogInZip, None),
        (streamed(member, options(CompressionMethod::Stored)), ErrorKind::ZipNeedsFile, Some("a.csv")),
        (sized(member, options(CompressionMethod::Bzip2)), ErrorKind::UnsupportedMethod, Some("a.csv")),
        (with_flags(zip.clone(), 1), ErrorKind::Encrypted, Some("a.csv")),
        (
            with_flags(streamed(member, options(CompressionMethod::Deflated)), 1),
            ErrorKind::Encrypted,
            Some("a.csv"),
        ),
        (with_wrong_crc(zip.clone()), ErrorKind::FileDamaged, Some("a.csv")),
        (with_wrong_size(zip.clone(), 1), ErrorKind::FileDamaged, Some("a.csv")),
        (deflated(&[("a.zip", &zip)]), ErrorKind::UnsupportedFormat, Some("a.zip")),
    ] {
        let error = failure(from_pipe(Cursor::new(bytes)));
        assert_eq!(error.kind(), kind, "{error}");
        let mut place = Place::file("-");
        place.member = member.map(str::to_owned);
        assert!(error.to_string().starts_with(&format!("{place}: ")), "{error}");
        assert!(error.remedy().is_some(), "{error}");
    }
}
