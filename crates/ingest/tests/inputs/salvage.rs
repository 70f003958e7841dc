//! Damaged input that is read as far as it can be: all that stands before the damage, nothing else, and word of what
//! is missing.

use perfpipe_ingest::ErrorKind;
use std::io::{Cursor, Read};
use std::path::PathBuf;

use perfpipe_ingest::run::Damage;
use perfpipe_ingest::source::{Inputs, SourceOptions};
use perfpipe_ingest::{IngestOptions, Result, RunInfo, SampleBatch, stream};
use zip::CompressionMethod;

use crate::support::*;
use crate::zips::*;

fn salvage() -> SourceOptions {
    SourceOptions::default().with_salvage(true)
}

/// The logs' texts, and all that is damaged.
type Salvaged = (Vec<Vec<u8>>, Vec<Damage>);

fn read_all(mut inputs: Inputs) -> Result<Salvaged> {
    let (mut texts, mut damage) = (Vec::new(), std::mem::take(&mut inputs.damage));
    for source in &mut inputs.logs {
        let mut stream = source.open()?;
        while let Some(mut log) = stream.next_log()? {
            let mut text = Vec::new();
            log.read_to_end(&mut text).map_err(|e| log.explain(e))?;
            log.finish()?;
            texts.push(text);
        }
        damage.extend(stream.take_damage());
    }
    Ok((texts, damage))
}

fn by_file(file: &OnDisk, bytes: &[u8]) -> Result<Salvaged> {
    std::fs::write(&file.path, bytes).unwrap();
    read_all(Inputs::recognise(std::slice::from_ref(&file.path), &salvage())?)
}

fn by_pipe(bytes: &[u8]) -> Result<Salvaged> {
    read_all(Inputs::of_reader("-", Cursor::new(bytes.to_vec()), &salvage())?)
}

/// Both ways, which must agree in the texts.
fn both(file: &OnDisk, bytes: &[u8]) -> [Result<Salvaged>; 2] {
    [by_file(file, bytes), by_pipe(bytes)]
}

/// What another reader makes of the first member of a zip that was cut: by its length, the 30 bytes of a header, its
/// name and its extra field are passed over.
fn inflated(cut: &[u8]) -> Vec<u8> {
    let size = |at: usize| usize::from(u16::from_le_bytes([cut[at], cut[at + 1]]));
    let data = 30 + size(26) + size(28);
    let mut text = Vec::new();
    // It fails where the data ends, having given all that came before.
    let _ = flate2::read::DeflateDecoder::new(&cut[data.min(cut.len())..]).read_to_end(&mut text);
    text
}

fn zips() -> impl Iterator<Item = (String, Vec<u8>)> {
    let entries = std::fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path());
    let zip = |path: &PathBuf| path.to_str().is_some_and(|p| p.ends_with(".csv.zip") && !p.contains(".cpu."));
    entries.filter(zip).map(|path| (path.display().to_string(), std::fs::read(path).unwrap()))
}

/// Where to cut: at every 1,000th byte, and at each of the directory's; large zips at fewer.
fn cuts(zip: &[u8]) -> impl Iterator<Item = usize> + use<> {
    let (apart, last) = if zip.len() < 500_000 { (1000, 1) } else { (zip.len() / 14 / 7 * 7, 17) };
    let directory = (zip.len().saturating_sub(150)..zip.len()).step_by(last);
    (1000..zip.len()).step_by(apart).chain(directory)
}

#[test]
fn zip_cut_anywhere_gives_all_that_another_inflater_reads() {
    let file = on_disk("run.zip", b"");
    let mut met = 0;
    for (name, zip) in zips() {
        for cut in cuts(&zip) {
            let expected = inflated(&zip[..cut]);
            for read in both(&file, &zip[..cut]) {
                let (texts, damage) = read.unwrap_or_else(|e| panic!("{name} cut at {cut}: {e}"));
                assert!(texts.len() == 1 && texts[0] == expected, "{name} cut at {cut}");
                assert!(
                    !damage.is_empty()
                        && damage.iter().all(|d| d.kind == perfpipe_ingest::run::DamageKind::FileCut)
                );
            }
            met += 1;
        }
        for read in both(&file, &zip) {
            let (texts, damage) = read.unwrap();
            assert_eq!((texts.len(), damage), (1, Vec::new()), "{name}");
        }
    }
    assert!(met > 1000);
}

/// The row of a run made from one file, and how many samples came by.
fn ingested(path: PathBuf, source: SourceOptions) -> Result<(RunInfo, usize)> {
    let options = IngestOptions::default().with_source(source).with_max_rejects(u64::MAX);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = count.clone();
    let sink = move |batch: SampleBatch| {
        counter.fetch_add(batch.len(), std::sync::atomic::Ordering::Relaxed);
        Ok(())
    };
    let (_, done) = runtime.block_on(stream(sink, &[path], &options))?;
    Ok((done.info, count.load(std::sync::atomic::Ordering::Relaxed)))
}

#[test]
fn run_is_that_of_the_whole_lines_before_the_cut() {
    let (cut_zip, lines) = (on_disk("run.zip", b""), on_disk("run.csv", b""));
    for (name, zip) in zips() {
        for cut in cuts(&zip).step_by(9) {
            let text = inflated(&zip[..cut]);
            let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
            std::fs::write(&cut_zip.path, &zip[..cut]).unwrap();
            std::fs::write(&lines.path, &text[..end]).unwrap();
            let (salvaged, samples) = ingested(cut_zip.path.clone(), salvage()).unwrap();
            let (plain, plain_samples) = ingested(lines.path.clone(), SourceOptions::default()).unwrap();
            let counts =
                |info: &RunInfo| (info.t0_ms, info.last_ms, info.successes, info.failures, info.transactions);
            assert_eq!(counts(&salvaged), counts(&plain), "{name} cut at {cut}");
            assert_eq!(samples, plain_samples);
            // One more, unless the cut record began in an earlier line.
            let more = salvaged.rejects - plain.rejects;
            assert!(
                more <= 1 && (more == 1 || end == text.len() || plain.rejects > 0),
                "{name} cut at {cut}"
            );
            assert!(salvaged.is_partial() && !plain.is_partial());
            let damage = &salvaged.damage[0];
            assert_eq!((damage.records, damage.bytes), (samples as u64, text.len() as u64));
            assert_eq!((salvaged.damage.len(), damage.file.as_str()), (1, "run.zip"));
        }
    }
}

/// Two logs in every form.
fn forms(first: &[u8], second: &[u8]) -> Vec<Vec<u8>> {
    let members: &[Member] = &[("a.csv", first), ("b.csv", second)];
    vec![
        deflated(members),
        sized(members, options(CompressionMethod::Stored)),
        sized(members, options(CompressionMethod::Zstd)),
        sized(members, options(CompressionMethod::Deflated).large_file(true)),
        streamed(members, options(CompressionMethod::Deflated)),
        streamed(members, options(CompressionMethod::Zstd)),
        streamed(members, options(CompressionMethod::Deflated).large_file(true)),
        gzip(first),
        zstd(first),
    ]
}

#[test]
fn cut_at_any_byte_every_form_gives_a_beginning_and_whole_logs_before_it() {
    let file = on_disk("x.zip", b"");
    for (form, bytes) in forms(LOG.as_bytes(), LOG.as_bytes()).into_iter().enumerate() {
        let mut longest = 0;
        for length in 0..bytes.len() {
            for (texts, damage) in both(&file, &bytes[..length]).into_iter().flatten() {
                assert!(!damage.is_empty(), "form {form} cut at {length}");
                let Some((last, before)) = texts.split_last() else { continue };
                assert!(before.iter().all(|text| text == LOG.as_bytes()), "form {form} cut at {length}");
                assert!(LOG.as_bytes().starts_with(last), "form {form} cut at {length}");
                longest = longest.max(before.len() * LOG.len() + last.len());
            }
        }
        // The only block of this zstd file is whole at its last byte.
        let expected = [2, 2, 2, 2, 2, 2, 2, 1, 0][form] * LOG.len();
        assert_eq!(longest, expected, "form {form}");
    }
}

#[test]
fn lost_or_garbled_directory_costs_nothing() {
    let file = on_disk("x.zip", b"");
    let (long, short) = (long_log(), LOG.as_bytes());
    let unsigned = described(("a.csv", &long), Descriptor { signed: false, wide: true });
    let forms = forms(&long, short).into_iter().take(7).map(|zip| (zip, 2)).chain([(unsigned, 1)]);
    for (form, (bytes, logs)) in forms.enumerate() {
        let directory = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
        let mut garbled = bytes.clone();
        garbled[directory..].iter_mut().for_each(|byte| *byte ^= 0xa5);
        let mut gone = bytes.clone();
        gone[directory..].fill(0);
        for harmed in [bytes[..directory].to_vec(), bytes[..directory + 9].to_vec(), garbled, gone] {
            for read in both(&file, &harmed) {
                let (texts, damage) = read.unwrap();
                assert!(texts.len() == logs && texts[0] == long, "form {form}");
                assert!(texts.get(1).is_none_or(|text| text == short), "form {form}");
                // Without a signature, a descriptor is known by what follows it.
                let known = logs == 2 || harmed.len() == directory;
                assert!(!known || damage.len() == 1 && damage[0].member.is_none(), "form {form}: {damage:?}");
            }
        }
    }
}

#[test]
fn log_that_is_damaged_in_the_middle_costs_the_others_nothing() {
    let file = on_disk("x.zip", b"");
    let (long, short) = (long_log(), LOG.as_bytes());
    for (form, bytes) in forms(&long, short).into_iter().enumerate() {
        let middle = bytes.len() / 2;
        let mut harmed = bytes.clone();
        harmed[middle..middle + 40].fill(0xff);
        for read in both(&file, &harmed) {
            let (texts, damage) = read.unwrap();
            // Up to where the damage begins, not to the byte: a block is known to be wrong only when it is met.
            assert!(texts[0].len() > long.len() / 4, "form {form}: {}", texts[0].len());
            let same = texts[0].iter().zip(&long).take_while(|(one, other)| one == other).count();
            assert!(same > long.len() / 4, "form {form}");
            assert!(form > 6 || texts[1] == short, "form {form}");
            assert_eq!(damage.len(), 1, "form {form}: {damage:?}");
            assert_eq!(damage[0].member.as_deref(), (form < 7).then_some("a.csv"));
            assert_eq!(damage[0].bytes, texts[0].len() as u64);
        }
    }
}

#[test]
fn log_with_a_wrong_checksum_or_size_is_read_whole() {
    let file = on_disk("x.zip", b"");
    let log = long_log();
    let member: &[Member] = &[("a.csv", &log)];
    let deflate = options(CompressionMethod::Deflated);
    let mut gz = gzip(&log);
    let crc = gz.len() - 8;
    gz[crc] ^= 1;
    let mut zst = {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        std::io::copy(&mut &log[..], &mut encoder).unwrap();
        encoder.finish().unwrap()
    };
    *zst.last_mut().unwrap() ^= 1;
    for bytes in [
        with_wrong_crc(deflated(member)),
        with_wrong_size(deflated(member), 1),
        with_wrong_size(deflated(member), 255),
        with_wrong_crc(sized(member, options(CompressionMethod::Stored))),
        with_wrong_crc(streamed(member, deflate)),
        gz,
        zst,
    ] {
        let whole = deflated(&[("b.csv", LOG.as_bytes())]);
        assert!(recognise(&[&on_disk("whole.zip", &whole).path]).is_ok());
        let (texts, damage) = by_file(&file, &bytes).unwrap();
        assert!(texts.len() == 1 && texts[0] == log, "{damage:?}");
        assert_eq!(damage.len(), 1, "{damage:?}");
        let (texts, _) = by_pipe(&bytes).unwrap();
        assert!(texts.len() == 1 && texts[0] == log);
    }
}

#[test]
fn record_without_its_line_end_is_a_reject_where_the_log_is_cut() {
    let log = b"timeStamp,elapsed,success\n1795203738615,12,true\n1795203738616,1234,true\n";
    let zip = sized(&[("a.csv", log)], options(CompressionMethod::Stored));
    let data = zip.windows(log.len()).position(|window| window == log).unwrap();
    let file = on_disk("run.zip", b"");
    for (length, rejects) in [(log.len() - 24, 0), (log.len() - 1, 1), (log.len() - 8, 1), (log.len(), 0)] {
        std::fs::write(&file.path, &zip[..data + length]).unwrap();
        let (info, _) = ingested(file.path.clone(), salvage()).unwrap();
        let whole = if length == log.len() { 2 } else { 1 };
        assert_eq!((info.successes, info.rejects), (whole, rejects), "{length}");
    }
    // A record of several lines is one reject, as is what looks whole in the end of a field.
    let quoted =
        b"label,timeStamp,elapsed,success\na,1795203738615,12,true\n\"b\nc,1795203738616,13,true\nd,17952";
    let zip = sized(&[("a.csv", quoted)], options(CompressionMethod::Stored));
    let data = zip.windows(quoted.len()).position(|window| window == quoted).unwrap();
    std::fs::write(&file.path, &zip[..data + 70]).unwrap();
    let (info, _) = ingested(file.path.clone(), salvage()).unwrap();
    assert_eq!((info.successes, info.rejects), (1, 1));
}

#[test]
fn input_without_a_readable_record_gives_nothing() {
    let file = on_disk("run.zip", b"");
    let zip = deflated(&[("a.csv", &long_log())]);
    for length in [4, 20, 36, 60] {
        std::fs::write(&file.path, &zip[..length]).unwrap();
        let error = failure(ingested(file.path.clone(), salvage()));
        assert!(error.to_string().contains("run.zip"), "{error}");
        assert_eq!(error.kind(), ErrorKind::TooLittleLeft, "{length}: {error}");
        let error = failure(ingested(file.path.clone(), SourceOptions::default()));
        assert_eq!(error.kind(), ErrorKind::FileCut, "{length}: {error}");
    }
}

#[test]
fn damaged_cpu_export_keeps_the_readings_before_the_damage() {
    let mut long = String::from("clock,value\n");
    (0..20_000).for_each(|second| long.push_str(&format!("{},{}\n", 1_795_203_740 + second, second % 97)));
    let packed = gzip(long.as_bytes());
    let cut = &packed[..packed.len() / 2];
    let mut text = Vec::new();
    let _ = flate2::read::GzDecoder::new(cut).read_to_end(&mut text);
    let whole_lines = text.iter().filter(|byte| **byte == b'\n').count();
    let zip = with_wrong_crc(deflated(&[("cpu.csv", long.as_bytes())]));
    for (name, bytes, readings) in [("cpu.gz", cut, whole_lines - 1), ("cpu.zip", &zip, 20_000)] {
        let file = on_disk(name, bytes);
        for inputs in [
            Inputs::recognise(std::slice::from_ref(&file.path), &salvage()).unwrap(),
            Inputs::of_reader("-", Cursor::new(bytes.to_vec()), &salvage()).unwrap(),
        ] {
            let cpu = read_cpu_by(inputs, &salvage()).unwrap();
            assert_eq!(cpu.series.readings().len(), readings, "{name}");
            assert_eq!(cpu.damage.unwrap().records, readings as u64);
        }
    }
}
