//! The inputs of the table: small files of `fixtures/bad/`, and what is made because it is large or built byte by byte.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::support::fixture;
use crate::zips::{deflated, gzip, options, sized, with_flags, with_method, with_wrong_crc, zstd};

/// The first timeStamp of the made logs.
const T0_MS: u64 = 1_795_203_738_615;
/// Bytes of a bomb: of its one line, or of its zeros.
const BOMB: usize = 200 << 20;

/// Inputs that were made before, by their names: some take seconds to make.
static MADE: Mutex<BTreeMap<String, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// The bytes of an input.
pub(crate) fn input(name: &str) -> Arc<[u8]> {
    let path = fixture("bad").join(name);
    if path.is_file() {
        return std::fs::read(path).unwrap().into();
    }
    let made_before = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = made_before().get(name) {
        return bytes.clone();
    }
    let bytes: Arc<[u8]> = made(name).into();
    made_before().insert(name.to_owned(), bytes.clone());
    bytes
}

fn made(name: &str) -> Vec<u8> {
    let good = || input("good.csv").to_vec();
    match name {
        "nowhere.csv" | "folder" => Vec::new(),
        "unreadable.csv" | "twins/a/log.csv" => good(),
        // Of another injector, whose requests took longer.
        "twins/b/log.csv" => String::from_utf8(good()).unwrap().replace(",Get", "1000,Get").into_bytes(),
        "empty.zip" => deflated(&[]),
        "empty-member.zip" => deflated(&[("run.csv", b"")]),
        "binary.csv" => (0..=255).cycle().take(10_000).collect(),
        "log.csv.gz.zip" => gzip(&good()),
        "returns.csv" => String::from_utf8(good()).unwrap().replace('\n', "\r").into_bytes(),
        "seconds.csv" => short_log(|at| format!("{},12,Get,true", T0_MS / 1000 + at / 10)),
        "clock.csv" => short_log(|at| format!("{},12,Get,true", T0_MS + at * 1000 - at / 25 % 2 * 3_600_000)),
        "swallowed.csv" => short_log(|at| {
            let (before, behind) = (if at == 10 { "\"" } else { "" }, if at == 30 { "\"" } else { "" });
            format!("{},12,{before}Get{behind},true", T0_MS + at)
        }),
        "cut.csv.gz" => first(gzip(&good()), 200),
        "cut.csv.zst" => first(zstd(&good()), 200),
        name if name.ends_with(".zip") => zip(name),
        name => large_text(name),
    }
}

/// A log of 50 records.
fn short_log(record: impl Fn(u64) -> String) -> Vec<u8> {
    let records: String = (0..50).map(|at| record(at) + "\n").collect();
    format!("timeStamp,elapsed,label,success\n{records}").into_bytes()
}

fn zip(name: &str) -> Vec<u8> {
    let good = deflated(&[("run.csv", &input("good.csv"))]);
    match name {
        "good.zip" => good,
        "joined.zip" => good.repeat(2),
        "padded.zip" => [good, vec![0; 512]].concat(),
        "followed.zip" => [good, b"the end\n".to_vec()].concat(),
        "flagged.zip" => with_flags(good, 1),
        "method.zip" => with_method(good, 77),
        "crc.zip" => with_wrong_crc(good),
        "flipped.zip" => flipped(good),
        "no-directory.zip" => {
            let directory = find(&good, b"PK\x01\x02")[0];
            first(good, directory)
        }
        "packed-size-small.zip" => in_directory(good, 20, |size| size - 10),
        "packed-size-large.zip" => in_directory(good, 20, |size| size + 10),
        "packed-size-huge.zip" => in_directory(good, 20, |_| 0x7fff_ffff),
        "unpacked-size-small.zip" => in_directory(good, 24, |size| size - 10),
        "unpacked-size-large.zip" => in_directory(good, 24, |size| size + 10),
        "local-size.zip" => in_local(good, 18, |size| size - 10),
        "local-size-large.zip" => in_local(good, 18, |size| size + 10),
        "local-unpacked-size.zip" => in_local(good, 22, |size| size + 10),
        "offset.zip" => in_directory(good, 42, |offset| offset + 5),
        "offset-far.zip" => in_directory(good, 42, |_| 0x7fff_ffff),
        "count.zip" => at_end(at_end(good, 8, 5), 10, 5),
        "directory-far.zip" => at_end(good, 16, 0x7fff),
        "overlapping.zip" => overlapping(),
        "overlapping-quoted.zip" => quoting(),
        "same-names.zip" => same_names(),
        "climbing-name.zip" => named("../../../nio_2048.csv"),
        "absolute-name.zip" => named("/etc/nio_2048.csv"),
        "windows-name.zip" => named("C:\\nio_2048.csv"),
        "long-name.zip" => named(&format!("{}.csv", "x".repeat(60_000))),
        "escape-name.zip" => deflated(&[("\u{1b}[31mnotes\u{202e}\r\n.csv", b"Dear diary\n")]),
        "long-name-of-notes.zip" => {
            deflated(&[(&"../".repeat(20_000), b""), (&"x".repeat(60_000), b"Dear diary\n")])
        }
        "not-utf8-name.zip" => not_utf8_name(),
        "nested.zip" => deflated(&[("b.zip", &deflated(&[("a.zip", &good)]))]),
        "many-members.zip" => many_members(),
        name => bomb(name),
    }
}

fn bomb(name: &str) -> Vec<u8> {
    let head = b"timeStamp,elapsed,label,success\n".to_vec();
    let record = |at: u64| format!("{},12,Get,true\n", T0_MS + at).into_bytes();
    let start = [head, record(0)].concat();
    match name {
        "zeros.zip" => streamed_zip(&[], 0, &[]),
        "zeros-in-log.zip" => streamed_zip(&start, 0, &[b"\n".to_vec(), record(1)].concat()),
        "endless-line.zip" => streamed_zip(&[], b'x', b"\n"),
        "endless-line-in-log.zip" => streamed_zip(&start, b'x', &[b"\n".to_vec(), record(1)].concat()),
        "endless-quote.zip" => {
            let open = [&start[..], b"1795203738616,\""].concat();
            streamed_zip(&open, b'x', &[b"\n".to_vec(), record(2)].concat())
        }
        "endless-header.zip" => {
            streamed_zip(b"timeStamp,elapsed,success,", b'x', &[b"\n".to_vec(), record(1)].concat())
        }
        "endless-commas.zip" => streamed_zip(&start, b',', &[b"\n".to_vec(), record(1)].concat()),
        "blank-lines.zip" => streamed_zip(&start, b'\n', &record(1)),
        "endless-cpu.zip" => streamed_zip(b"clock,value\n1795203738,1\n", b'1', b"\n"),
        "blank-cpu.zip" => streamed_zip(b"clock,value\n1795203738,1\n", b'\n', b""),
        _ => panic!("no input {name}"),
    }
}

/// A zip of one member: `start`, then very many of one byte, then `end`. It is never whole in memory unpacked.
fn streamed_zip(start: &[u8], byte: u8, end: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("run.csv", options(CompressionMethod::Deflated).compression_level(Some(1))).unwrap();
    zip.write_all(start).unwrap();
    let piece = vec![byte; 1 << 20];
    // Blank lines are many records, not a long one, and take their time.
    let bytes = if byte == b'\n' { BOMB / 20 } else { BOMB };
    for _ in 0..bytes / piece.len() {
        zip.write_all(&piece).unwrap();
    }
    zip.write_all(end).unwrap();
    zip.finish().unwrap().into_inner()
}

fn large_text(name: &str) -> Vec<u8> {
    let mut log = b"timeStamp,elapsed,label,responseCode,success,failureMessage\n".to_vec();
    let mut record = |at: u64, label: &[u8], success: &str, message: &[u8]| {
        let (start, middle) = (format!("{},12,", T0_MS + at), format!(",200,{success},"));
        log.extend([start.as_bytes(), label, middle.as_bytes(), message, b"\n"].concat());
    };
    match name {
        "fields-1mb.csv" => {
            // Text that no compression makes small, as an index of the store could hold a small one only.
            record(0, &noise(1 << 20), "true", b"");
            record(1, b"Get", "false", &noise(1 << 20));
            record(2, &noise(1 << 20), "false", &noise(1 << 20));
        }
        "fields-5mb.csv" => {
            record(0, b"Get", "true", b"");
            record(1, &noise(5 << 20), "true", b"");
            record(2, b"Get", "true", b"");
        }
        "columns-10000.csv" => {
            let names: String = (0..9_997).map(|number| format!(",column {number}")).collect();
            let fields = "7,".repeat(9_997);
            return format!("timeStamp,elapsed{names},success\n{T0_MS},12,{fields}true\n").into_bytes();
        }
        "quote-never-closed-large.csv" => {
            record(0, b"Get", "true", b"");
            record(1, b"\"Get", "true", b"");
            (2..200_000).for_each(|at| record(at, b"Get", "true", b""));
        }
        "too-many-rejects.csv" => (0..2_000).for_each(|at| record(at, b"Get", "maybe", b"")),
        _ => panic!("no input {name}"),
    }
    log
}

/// Letters without any order.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b'a' + (state % 26) as u8
    };
    (0..length).map(|_| letter()).collect()
}

fn first(mut bytes: Vec<u8>, length: usize) -> Vec<u8> {
    bytes.truncate(length);
    bytes
}

/// The good log under another name.
fn named(name: &str) -> Vec<u8> {
    deflated(&[(name, &input("good.csv"))])
}

/// A zip with a bit of its packed data flipped.
fn flipped(mut zip: Vec<u8>) -> Vec<u8> {
    zip[100] ^= 4;
    zip
}

/// Where a signature stands.
fn find(zip: &[u8], signature: &[u8]) -> Vec<usize> {
    (0..zip.len()).filter(|at| zip[*at..].starts_with(signature)).collect()
}

/// Changes a number of 32 bits of all records of a kind.
fn change(mut zip: Vec<u8>, signature: &[u8], offset: usize, to: impl Fn(u32) -> u32) -> Vec<u8> {
    for at in find(&zip, signature) {
        let field: &mut [u8; 4] = (&mut zip[at + offset..at + offset + 4]).try_into().unwrap();
        *field = to(u32::from_le_bytes(*field)).to_le_bytes();
    }
    zip
}

fn in_directory(zip: Vec<u8>, offset: usize, to: impl Fn(u32) -> u32) -> Vec<u8> {
    change(zip, b"PK\x01\x02", offset, to)
}

fn in_local(zip: Vec<u8>, offset: usize, to: impl Fn(u32) -> u32) -> Vec<u8> {
    change(zip, b"PK\x03\x04", offset, to)
}

/// Changes a number of 16 bits of the record at the zip's end.
fn at_end(mut zip: Vec<u8>, offset: usize, to: u16) -> Vec<u8> {
    let at = find(&zip, b"PK\x05\x06")[0] + offset;
    zip[at..at + 2].copy_from_slice(&to.to_le_bytes());
    zip
}

/// Two entries of the directory that are one member's bytes.
fn overlapping() -> Vec<u8> {
    let good = input("good.csv");
    let zip = deflated(&[("a.csv", &good), ("b.csv", &good)]);
    let second = find(&zip, b"PK\x01\x02")[1];
    let mut zip = zip;
    zip[second + 42..second + 46].copy_from_slice(&[0; 4]);
    zip
}

/// A stored member that holds, as its text, the whole of another member.
fn quoting() -> Vec<u8> {
    let good = input("good.csv");
    let stored = options(CompressionMethod::Stored);
    let inner = sized(&[("b.csv", &good)], stored);
    let end = find(&inner, b"PK\x01\x02")[0];
    let outer = [&b"timeStamp,elapsed,success\n1795203738615,12,true\n"[..], &inner[..end]].concat();
    // The second member's directory entry is pointed into the first one's text.
    let mut zip = sized(&[("a.csv", &outer), ("b.csv", &good)], stored);
    let entry = find(&zip, b"PK\x01\x02")[1];
    let inside = find(&zip, b"PK\x03\x04")[1] as u32;
    zip[entry + 42..entry + 46].copy_from_slice(&inside.to_le_bytes());
    zip
}

/// Two members of one name.
fn same_names() -> Vec<u8> {
    let good = input("good.csv");
    let mut zip = deflated(&[("a.csv", &good), ("b.csv", &good)]);
    for at in find(&zip, b"b.csv") {
        zip[at] = b'a';
    }
    zip
}

/// A name in the letters of an old code page.
fn not_utf8_name() -> Vec<u8> {
    let mut zip = named("gr_ss.csv");
    for at in find(&zip, b"gr_ss.csv") {
        zip[at + 2..at + 4].copy_from_slice(b"\xff\xfe");
    }
    zip
}

/// More members than any run has logs.
fn many_members() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..20_000 {
        zip.start_file(format!("{number}.txt"), SimpleFileOptions::default()).unwrap();
        zip.write_all(b"x").unwrap();
    }
    zip.finish().unwrap().into_inner()
}
