//! Regular files: every packing, names that mislead, and what is refused.

use perfpipe_ingest::ErrorKind;
use perfpipe_ingest::source::Place;
use std::path::Path;

use zip::CompressionMethod;

use crate::support::*;
use crate::zips::*;

#[test]
fn every_packing_gives_the_same_bytes_by_any_buffer() {
    let log = long_log();
    let mut twice = gzip(&log[..1000]);
    twice.extend_from_slice(&gzip(&log[1000..]));
    let mut frames = zstd(&log[..1000]);
    frames.extend_from_slice(&zstd(&log[1000..]));
    let skippable = [b"\x50\x2a\x4d\x18\x04\0\0\0skip", frames.as_slice()].concat();
    let member: &[Member] = &[("a.csv", &log)];
    let large = options(CompressionMethod::Deflated).large_file(true);
    for (name, bytes) in [
        ("plain.csv", log.clone()),
        ("one.csv.gz", gzip(&log)),
        ("two-members.csv.gz", twice),
        ("one.csv.zst", zstd(&log)),
        ("two-frames.csv.zst", frames),
        ("skippable-frame.csv.zst", skippable),
        ("deflated.zip", deflated(member)),
        ("stored.zip", sized(member, options(CompressionMethod::Stored))),
        ("zip64.zip", sized(member, large)),
        ("zstd.zip", sized(member, options(CompressionMethod::Zstd))),
        ("bzip2.zip", sized(member, options(CompressionMethod::Bzip2))),
        ("xz.zip", sized(member, options(CompressionMethod::Xz))),
        ("streamed.zip", streamed(member, options(CompressionMethod::Deflated))),
        ("streamed-zip64.zip", streamed(member, large)),
        ("described.zip", described(("-", &log), Descriptor { signed: true, wide: false })),
    ] {
        let file = on_disk(name, &bytes);
        let mut inputs = recognise(&[&file.path]).unwrap();
        assert_eq!(inputs.notes, [""; 0], "{name}");
        for size in [1, 2, 3, 7, 100, 4096, 1 << 20] {
            let logs = read_logs(&mut inputs, size).unwrap();
            assert_eq!(logs.len(), 1, "{name}");
            assert!(logs[0].text == log, "{name} by {size}");
            assert_eq!(logs[0].file.bytes, log.len() as u64);
            assert_eq!(logs[0].file.crc32, crc32fast::hash(&log));
            assert_eq!((logs[0].file.file.as_str(), logs[0].file.kind.name()), (name, "log"));
        }
    }
}

#[test]
fn lzma_is_read_from_a_file() {
    let file = on_disk("lzma.zip", &lzma());
    let mut inputs = recognise(&[&file.path]).unwrap();
    assert_eq!(texts(read_logs(&mut inputs, 5).unwrap()), [LOG]);
}

#[test]
fn zip_may_hold_several_logs_and_the_cpu_export_among_other_things() {
    let zip = deflated(&[
        ("run/", b""),
        ("__MACOSX/run/._a.csv", b"\0\x05\x16\x07"),
        ("run/.DS_Store", b"\0\0\0\x01Bud1"),
        ("run/README.txt", b"about the run"),
        ("run/a.csv", LOG.as_bytes()),
        ("run/../../b.jtl", LOG.as_bytes()),
        ("run/cpu.csv", CPU.as_bytes()),
        ("run/empty.csv", b""),
        ("run/header.csv", b"timeStamp,elapsed,success\n"),
    ]);
    let file = on_disk("run.zip", &zip);
    let mut inputs = recognise(&[&file.path]).unwrap();
    let names: Vec<String> = inputs.logs.iter().map(|log| log.file_name()).collect();
    assert_eq!(names, ["a.csv", "b.jtl"]);
    assert_eq!(inputs.logs[0].stems(), ["run", "a"]);
    assert_eq!(inputs.logs[0].place().member.as_deref(), Some("run/a.csv"));
    assert!(inputs.logs[0].can_restart());
    let notes = inputs.notes.join("\n");
    for member in ["run/README.txt", "run/empty.csv", "run/header.csv"] {
        assert!(notes.contains(member), "{member} is not in: {notes}");
    }
    assert_eq!(inputs.notes.len(), 3, "{notes}");
    assert_eq!(texts(read_logs(&mut inputs, 50).unwrap()), [LOG, LOG]);
    let cpu = read_cpu(inputs).unwrap();
    assert_eq!(cpu.series.readings(), [(1_795_203_739, 3.0), (1_795_203_740, 12.5)]);
    assert_eq!(cpu.file.member.as_deref(), Some("run/cpu.csv"));
    assert_eq!((cpu.file.bytes, cpu.file.crc32), (CPU.len() as u64, crc32fast::hash(CPU.as_bytes())));
}

#[test]
fn gzip_file_by_the_name_of_zip_is_read_with_a_note() {
    let file = on_disk("a.zip", &gzip(LOG.as_bytes()));
    let mut inputs = recognise(&[&file.path]).unwrap();
    assert!(inputs.notes[0].contains("a.zip") && inputs.notes[0].contains("gzip"), "{:?}", inputs.notes);
    assert_eq!(texts(read_logs(&mut inputs, 9).unwrap()), [LOG]);
}

#[test]
fn unreadable_file_is_refused_with_its_kind_and_a_remedy() {
    let zip = deflated(&[("a.csv", LOG.as_bytes())]);
    let text = |text: &str| text.as_bytes().to_vec();
    for (name, bytes, kind, member) in [
        ("empty.csv", vec![], ErrorKind::Empty, None),
        ("empty.zip", vec![], ErrorKind::Empty, None),
        ("none.zip", deflated(&[]), ErrorKind::NoLogInZip, None),
        ("header.csv", text("timeStamp,elapsed,success\r\n"), ErrorKind::NoRecords, None),
        (
            "xml.jtl",
            text("<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">"),
            ErrorKind::NoRecords,
            None,
        ),
        ("plan.jmx", text("<?xml version=\"1.0\"?>\n<jmeterTestPlan/>"), ErrorKind::Xml, None),
        ("text.zip", text("hello"), ErrorKind::Unrecognised, None),
        ("locked.zip", with_flags(zip.clone(), 1), ErrorKind::Encrypted, Some("a.csv")),
        ("method.zip", with_method(zip.clone(), 6), ErrorKind::UnsupportedMethod, Some("a.csv")),
        ("cut.zip", zip[..zip.len() - 1].to_vec(), ErrorKind::FileCut, None),
        ("cut-early.zip", zip[..10].to_vec(), ErrorKind::FileCut, None),
        (
            "nested.zip",
            deflated(&[("a.zip", &deflated(&[("a.txt", b"x")]))]),
            ErrorKind::NoLogInZip,
            Some("a.zip"),
        ),
        ("nested.gz", gzip(&zip), ErrorKind::UnsupportedFormat, None),
        ("many.zip", deflated(&[("a", b"x"), ("b", b"y")]), ErrorKind::NoLogInZip, None),
        ("crc.zip", with_wrong_crc(zip.clone()), ErrorKind::FileDamaged, Some("a.csv")),
        ("long.zip", with_wrong_size(zip.clone(), 1), ErrorKind::FileDamaged, Some("a.csv")),
        ("short.zip", with_wrong_size(zip.clone(), 255), ErrorKind::FileDamaged, Some("a.csv")),
        ("cut.csv.gz", gzip(LOG.as_bytes())[..30].to_vec(), ErrorKind::FileCut, None),
        ("cut.csv.zst", zstd(LOG.as_bytes())[..30].to_vec(), ErrorKind::FileCut, None),
    ] {
        let file = on_disk(name, &bytes);
        let error = failure(recognise(&[&file.path]));
        assert_eq!(error.kind(), kind, "{name}: {error}");
        let mut place = Place::file(&file.path);
        place.member = member.map(str::to_owned);
        assert!(error.to_string().starts_with(&format!("{place}: ")), "{name}: {error}");
        assert!(error.remedy().is_some_and(|remedy| remedy.ends_with('.')), "{name}: {error}");
    }
}

#[test]
fn damage_beyond_the_head_is_found_at_the_end() {
    let log = long_log();
    let zip = deflated(&[("a.csv", &log)]);
    for (name, bytes) in [
        ("crc.zip", with_wrong_crc(zip.clone())),
        ("long.zip", with_wrong_size(zip.clone(), 1)),
        ("short.zip", with_wrong_size(zip, 255)),
        ("crc.zip", with_wrong_crc(sized(&[("a.csv", &log)], options(CompressionMethod::Bzip2)))),
    ] {
        let file = on_disk(name, &bytes);
        let mut inputs = recognise(&[&file.path]).unwrap();
        let error = failure(read_logs(&mut inputs, 1000));
        assert_eq!(error.kind(), ErrorKind::FileDamaged, "{error}");
        assert!(error.to_string().contains("member a.csv"), "{error}");
    }
}

#[test]
fn log_is_not_finished_after_a_failed_read() {
    let file = on_disk("a.zip", &with_wrong_crc(deflated(&[("a.csv", &long_log())])));
    let mut inputs = recognise(&[&file.path]).unwrap();
    let mut stream = inputs.logs[0].open().unwrap();
    let mut log = stream.next_log().unwrap().unwrap();
    std::io::copy(&mut log, &mut std::io::sink()).unwrap_err();
    assert!(log.finish().is_err());
}

#[test]
fn finish_reads_what_was_left() {
    let log = long_log();
    let file = on_disk("a.zip", &deflated(&[("a.csv", &log)]));
    let mut inputs = recognise(&[&file.path]).unwrap();
    let mut stream = inputs.logs[0].open().unwrap();
    let source = stream.next_log().unwrap().unwrap().finish().unwrap();
    assert_eq!((source.bytes, source.crc32), (log.len() as u64, crc32fast::hash(&log)));
    assert!(stream.next_log().unwrap().is_none());
}

#[test]
fn folders_missing_files_and_repeated_names_are_refused() {
    let log = on_disk("a.csv", LOG.as_bytes());
    let folder = log.path.parent().unwrap();
    assert_eq!(failure(recognise(&[folder])).kind(), ErrorKind::Folder);
    assert!(failure(recognise(&[Path::new("/nowhere/a.csv")])).to_string().contains("/nowhere/a.csv"));
    assert_eq!(failure(recognise(&[&log.path, &log.path])).kind(), ErrorKind::NamedTwice);
    let twice = failure(recognise(&[Path::new("-"), Path::new("-")]));
    assert!(twice.kind() == ErrorKind::NamedTwice && twice.to_string().contains("standard input"), "{twice}");
}

#[test]
fn two_cpu_exports_are_refused_and_both_named() {
    let (one, two) =
        (on_disk("one.csv", CPU.as_bytes()), on_disk("two.zip", &deflated(&[("c.csv", CPU.as_bytes())])));
    let error = failure(recognise(&[&one.path, &two.path]));
    assert_eq!(error.kind(), ErrorKind::SeveralCpuExports, "{error}");
    assert!(error.to_string().contains("one.csv") && error.to_string().contains("member c.csv"), "{error}");
}

#[test]
fn several_files_are_the_injectors_of_one_run() {
    let (one, two) = (on_disk("one.csv", LOG.as_bytes()), on_disk("two.gz", &gzip(LOG.as_bytes())));
    let mut inputs = recognise(&[&one.path, &two.path]).unwrap();
    assert_eq!(texts(read_logs(&mut inputs, 8).unwrap()), [LOG, LOG]);
    assert!(inputs.cpu.is_none());
}

/// Bytes that this thread has read so far.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn directory_is_read_a_few_times_however_many_members_it_has() {
    let name = |member: usize| format!("{member}{}", "n".repeat(30_000));
    let names: Vec<String> = (0..300).map(name).collect();
    for method in [CompressionMethod::Deflated, CompressionMethod::Bzip2] {
        let members: Vec<Member> = names.iter().map(|name| (name.as_str(), LOG.as_bytes())).collect();
        let file = on_disk("many.zip", &sized(&members, options(method)));
        let before = bytes_read();
        let mut inputs = recognise(&[&file.path]).unwrap();
        assert_eq!(texts(read_logs(&mut inputs, 1000).unwrap()), vec![LOG; 300]);
        let (read, size) = (bytes_read() - before, std::fs::metadata(&file.path).unwrap().len());
        // A member is read by the buffer, and each of them is opened twice.
        assert!(read < 10 * size, "{read} bytes of a file of {size}");
    }
}
