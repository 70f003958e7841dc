//! Zips in one file or pipe with something else: refused, so that no log is left out unseen.

use perfpipe_ingest::ErrorKind;
use std::io::{Cursor, Read};

use perfpipe_ingest::Error;
use perfpipe_ingest::source::{Inputs, SourceOptions};
use zip::CompressionMethod;

use crate::support::*;
use crate::zips::*;

/// What a file and a pipe of these bytes give, which must be the same texts or both an error.
fn both(bytes: &[u8]) -> Result<Vec<String>, Box<[Error; 2]>> {
    let file = on_disk("i.zip", bytes);
    let by_file = recognise(&[&file.path]).and_then(|mut inputs| read_logs(&mut inputs, 100));
    let by_pipe =
        from_pipe(Drip(Cursor::new(bytes.to_vec()))).and_then(|mut inputs| read_logs(&mut inputs, 100));
    match (by_file, by_pipe) {
        (Ok(file), Ok(pipe)) => {
            let (file, pipe) = (texts(file), texts(pipe));
            assert_eq!(file, pipe);
            Ok(file)
        }
        (Err(file), Err(pipe)) => Err(Box::new([file, pipe])),
        (file, pipe) => panic!("file: {file:?}, pipe: {pipe:?}"),
    }
}

/// Zips of one log each, in every form.
fn zips() -> Vec<Vec<u8>> {
    let member: &[Member] = &[("a.csv", LOG.as_bytes())];
    vec![
        deflated(member),
        sized(member, options(CompressionMethod::Stored)),
        sized(member, options(CompressionMethod::Deflated).large_file(true)),
        streamed(member, options(CompressionMethod::Deflated)),
        described(("a.csv", LOG.as_bytes()), Descriptor { signed: false, wide: false }),
    ]
}

#[test]
fn joined_zips_are_refused_by_file_and_by_pipe() {
    for first in zips().iter().chain([&deflated(&[])]) {
        for second in zips().iter().chain([&deflated(&[])]) {
            for padding in [0, 512] {
                let joined = [first, &vec![0; padding][..], second].concat();
                for error in *both(&joined).unwrap_err() {
                    assert_eq!(error.kind(), ErrorKind::JoinedZips, "{error}");
                }
            }
        }
    }
    let first = &zips()[0];
    let [file, _] = *both(&[&first[..], &zips()[1]].concat()).unwrap_err();
    assert!(
        file.to_string().contains("i.zip") && file.to_string().contains(&first.len().to_string()),
        "{file}"
    );
}

#[test]
fn zip_behind_which_another_one_is_cut_is_refused() {
    let (whole, next) = (&zips()[0], &zips()[3]);
    for length in 1..next.len() {
        assert!(both(&[whole, &next[..length]].concat()).is_err(), "{length} bytes of the second");
    }
}

#[test]
fn padding_behind_a_zip_is_none_of_it_and_anything_else_is_refused() {
    for zip in zips() {
        for padding in [1, 3, 512, 32 << 10] {
            assert_eq!(both(&[&zip[..], &vec![0; padding]].concat()).unwrap(), [LOG], "{padding} bytes");
        }
        assert!(both(&[&zip[..], &vec![0; 70_000]].concat()).is_err(), "more than the padding of any block");
        for more in [&b"\n"[..], b"\0\0x", b"PK", b"timeStamp,elapsed,success\n1795203738615,12,true\n"] {
            for error in *both(&[&zip[..], more].concat()).unwrap_err() {
                assert_eq!(error.kind(), ErrorKind::TrailingData, "{error}");
            }
        }
    }
}

#[test]
fn member_that_the_directory_does_not_list_is_refused() {
    let members: &[Member] =
        &[("a.csv", LOG.as_bytes()), ("b.csv", LOG.as_bytes()), ("c.csv", LOG.as_bytes())];
    for zip in [deflated(members), streamed(members, options(CompressionMethod::Deflated))] {
        let entries: Vec<usize> = (0..zip.len()).filter(|at| zip[*at..].starts_with(b"PK\x01\x02")).collect();
        for hidden in 0..2 {
            let mut zip = [&zip[..entries[hidden]], &zip[entries[hidden + 1]..]].concat();
            let end = zip.len() - 22;
            let size = (zip.len() - 22 - entries[0]) as u32;
            (zip[end + 8], zip[end + 10]) = (2, 2);
            zip[end + 12..end + 16].copy_from_slice(&size.to_le_bytes());
            for error in *both(&zip).unwrap_err() {
                assert!([ErrorKind::JoinedZips, ErrorKind::FileDamaged].contains(&error.kind()), "{error}");
            }
        }
    }
}

#[test]
fn self_extracting_program_is_refused() {
    let program = [&b"MZ\x90\0\x03\0\0\0"[..], &[7; 2000], &zips()[0]].concat();
    for error in *both(&program).unwrap_err() {
        assert_eq!(error.kind(), ErrorKind::UnsupportedFormat, "{error}");
    }
}

#[test]
fn all_logs_of_joined_zips_are_salvaged() {
    let salvage = SourceOptions::default().with_salvage(true);
    for first in zips() {
        for second in zips() {
            let joined = [&first[..], &second].concat();
            let file = on_disk("i.zip", &joined);
            for inputs in [
                Inputs::recognise(std::slice::from_ref(&file.path), &salvage),
                Inputs::of_reader("-", Drip(Cursor::new(joined.clone())), &salvage),
            ] {
                let mut inputs = inputs.unwrap();
                let mut damage = inputs.damage.len();
                let mut read = Vec::new();
                for source in &mut inputs.logs {
                    let mut stream = source.open().unwrap();
                    while let Some(mut log) = stream.next_log().unwrap() {
                        let mut text = String::new();
                        log.read_to_string(&mut text).unwrap();
                        log.finish().unwrap();
                        read.push(text);
                    }
                    damage += stream.take_damage().len();
                }
                assert_eq!((read, damage), (vec![LOG.to_owned(); 2], 1));
            }
        }
    }
}

/// A directory of this many entries by the name of a member, of 60,000 bytes each.
fn with_large_directory(entries: u16) -> Vec<u8> {
    let mut zip = zips().swap_remove(0);
    let directory = (0..zip.len()).find(|at| zip[*at..].starts_with(b"PK\x01\x02")).unwrap();
    let mut entry = zip[directory..directory + 46].to_vec();
    zip.truncate(directory);
    entry[28..30].copy_from_slice(&60_000_u16.to_le_bytes());
    for number in 0..entries {
        zip.extend_from_slice(&entry);
        zip.extend_from_slice(format!("{number:060000}").as_bytes());
    }
    let size = (zip.len() - directory) as u32;
    zip.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    zip.extend_from_slice(&[entries.to_le_bytes(), entries.to_le_bytes()].concat());
    zip.extend_from_slice(&[size.to_le_bytes(), (directory as u32).to_le_bytes()].concat());
    zip.extend_from_slice(&[0, 0]);
    zip
}

#[test]
fn directory_too_large_for_memory_is_refused() {
    let file = on_disk("i.zip", &with_large_directory(3000));
    let error = failure(recognise(&[&file.path]));
    assert_eq!(error.kind(), ErrorKind::ZipTooLarge, "{error}");
    assert!(error.remedy().is_some());
}
