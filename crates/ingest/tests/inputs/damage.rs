//! Damaged input: cut at every byte, with bits flipped in every byte, or random. Never a panic, never a part for the
//! whole.

use std::io::Cursor;

use perfpipe_ingest::Result;
use proptest::prelude::*;
use zip::CompressionMethod;

use crate::support::*;
use crate::zips::*;

fn forms() -> Vec<Vec<u8>> {
    let members: &[Member] = &[("a.csv", LOG.as_bytes()), ("b.csv", LOG.as_bytes())];
    vec![
        deflated(members),
        sized(members, options(CompressionMethod::Stored)),
        sized(members, options(CompressionMethod::Zstd)),
        sized(members, options(CompressionMethod::Deflated).large_file(true)),
        streamed(members, options(CompressionMethod::Deflated)),
        gzip(LOG.as_bytes()),
        zstd(LOG.as_bytes()),
    ]
}

fn by_file(file: &OnDisk, bytes: &[u8]) -> Result<Vec<Read1>> {
    std::fs::write(&file.path, bytes).unwrap();
    read_logs(&mut recognise(&[&file.path])?, 64)
}

fn by_pipe(bytes: &[u8]) -> Result<Vec<Read1>> {
    read_logs(&mut from_pipe(Cursor::new(bytes.to_vec()))?, 64)
}

#[test]
fn input_cut_at_any_byte_is_refused() {
    let file = on_disk("x.zip", b"");
    for (form, bytes) in forms().into_iter().enumerate() {
        let whole = texts(by_file(&file, &bytes).unwrap());
        assert_eq!(texts(by_pipe(&bytes).unwrap()), whole);
        for length in 0..bytes.len() {
            assert!(by_file(&file, &bytes[..length]).is_err(), "form {form}, file cut at {length}");
            assert!(by_pipe(&bytes[..length]).is_err(), "form {form}, pipe cut at {length}");
        }
    }
}

#[test]
fn member_that_can_not_be_read_is_not_left_out_beside_one_that_can() {
    let bytes = deflated(&[("a.csv", LOG.as_bytes()), ("b.csv", LOG.as_bytes())]);
    let headers: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, four)| *four == b"PK\x03\x04").map(|(at, _)| at).collect();
    assert_eq!(headers.len(), 2);
    for at in headers {
        let mut harmed = bytes.clone();
        harmed[at] = b'p';
        let error = by_file(&on_disk("x.zip", b""), &harmed).err().unwrap().to_string();
        let member = if at == 0 { "a.csv" } else { "b.csv" };
        // Without its first header, the file is no zip.
        assert!(at == 0 || error.contains(member) && error.contains("damaged"), "{error}");
    }
}

#[test]
fn flipped_bits_never_gives_other_bytes_under_a_good_checksum() {
    let file = on_disk("x.zip", b"");
    for (form, bytes) in forms().into_iter().enumerate() {
        let flips = |at: usize| [(at, 1 << (at % 8)), (at, 0x80), (at, 0xff)];
        for (at, flip) in (0..bytes.len()).flat_map(flips) {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            for logs in [by_file(&file, &bytes), by_pipe(&bytes)].into_iter().flatten() {
                for log in logs {
                    assert_eq!(log.file.crc32, crc32fast::hash(&log.text));
                    // gzip and zstd without a checksum can't tell; a zip can.
                    assert!(form > 4 || log.text == LOG.as_bytes(), "form {form}, byte {at} by {flip}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_are_refused_in_peace(
        magic in prop::sample::select(vec![
            &b""[..], b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"clock,value\n",
            b"timeStamp,elapsed,success\n", b"1795203738615,12,", b"\xef\xbb\xbf\"", b"Timestamp;Value\n",
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let bytes = [magic, &bytes].concat();
        let file = on_disk("x", &bytes);
        for inputs in [recognise(&[&file.path]), from_pipe(Drip(Cursor::new(bytes)))] {
            let Ok(mut inputs) = inputs else { continue };
            let _ = read_logs(&mut inputs, 10);
            if inputs.cpu.is_some() {
                let _ = read_cpu(inputs);
            }
        }
    }

    /// A pipe gives what the file gives, wherever its buffers are cut.
    #[test]
    fn any_text_comes_through_any_packing(
        lines in prop::collection::vec("[a-z0-9,\"\r]{0,30}\n", 0..200),
        size in 1usize..5000,
    ) {
        let text = format!("timeStamp,elapsed,success\n1795203738615,1,true\n{}", lines.concat());
        let member: &[Member] = &[("x", text.as_bytes())];
        for bytes in [
            deflated(member),
            streamed(member, options(CompressionMethod::Deflated)),
            gzip(text.as_bytes()),
            zstd(text.as_bytes()),
        ] {
            let logs = read_logs(&mut from_pipe(Drip(Cursor::new(bytes))).unwrap(), size).unwrap();
            prop_assert_eq!(&logs[0].text, text.as_bytes());
        }
    }
}
