//! Properties of rows for Postgres, of connection settings and of password files that must hold for any bytes.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a property that does not hold is reported by panicking"
)]

use crate::consistency::SampleTotals;
use crate::sink::BatchEncoder;
use perfpipe_model::counts::pack::pack;
use perfpipe_model::counts::table::{CellTableBuilder, READ_ROOM};
use perfpipe_model::counts::{CellKey, PackedCell};
use perfpipe_model::fuzz::{Taker, cell};
use perfpipe_model::run::key::RunKey;
use perfpipe_model::sample::batch::SampleBatch;

use super::copy::binary::{HEADER, RowDecoder, RowEncoder, RowFields, TRAILER};
use super::copy::samples::{self, SampleEncoder};
use super::copy::seconds::{self, CellReader, CellTally, NameLists, PagedCells};
use super::schema::layout::RowsOf;
use crate::connection::config::{Passfile, PassfileLogin, PostgresConfig};
use crate::connection::settings::{self, Settings};

/// The fields of a row as bytes; null is `None`.
type Row = Vec<Option<Vec<u8>>>;

/// Returns the first candidates for the name of a run's table.
pub fn table_names(key: &RunKey) -> Vec<String> {
    super::schema::names::candidates(key, "").take(3).collect()
}

fn batch(taker: &mut Taker<'_>) -> SampleBatch {
    let mut batch = SampleBatch::default();
    let text =
        |taker: &mut Taker<'_>, into: &mut perfpipe_model::sample::Texts| match taker.maybe(Taker::bytes) {
            Some(text) => into.push(text),
            None => into.push_null(),
        };
    for _ in 0..taker.byte() {
        batch.t_ms.push(if taker.flag() { taker.i64() } else { taker.i32().into() });
        text(taker, &mut batch.label);
        batch.elapsed.push(taker.i32());
        text(taker, &mut batch.response_code);
        batch.success.push(taker.flag());
        batch.bytes.push(taker.maybe(Taker::i64));
        batch.sent_bytes.push(taker.maybe(Taker::i64));
        for column in [&mut batch.all_threads, &mut batch.latency, &mut batch.idle_time, &mut batch.connect] {
            column.push(taker.maybe(Taker::i32));
        }
        batch.cpu.push(taker.maybe(|taker| f64::from_bits(u64::from_le_bytes(taker.number()))));
        text(taker, &mut batch.injector);
        batch.transaction.push(taker.flag());
    }
    batch
}

/// Returns the rows that a batch must become; `None` if a time does not fit its column.
fn expected(batch: &SampleBatch) -> Option<Vec<Row>> {
    let row = |at: usize| -> Option<Row> {
        let text = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
        let large = |number: Option<i64>| number.map(|number| number.to_be_bytes().to_vec());
        let small = |number: Option<i32>| number.map(|number| number.to_be_bytes().to_vec());
        Some(vec![
            small(Some(i32::try_from(batch.t_ms[at]).ok()?)),
            small(Some(batch.elapsed[at])),
            small(batch.latency.get(at)),
            small(batch.connect.get(at)),
            small(batch.idle_time.get(at)),
            small(batch.all_threads.get(at)),
            large(batch.bytes.get(at)),
            large(batch.sent_bytes.get(at)),
            batch.cpu.get(at).map(|value| value.to_be_bytes().to_vec()),
            Some(vec![batch.success[at].into()]),
            Some(vec![batch.transaction[at].into()]),
            text(batch.label.get(at)),
            text(batch.response_code.get(at)),
            Some(text(batch.injector.get(at)).unwrap_or_default()),
        ])
    };
    (0..batch.len()).map(row).collect()
}

/// Decodes rows field by field, as the format is specified.
fn slow(mut bytes: &[u8]) -> Vec<Row> {
    let mut take = |length: usize| {
        let (taken, rest) = bytes.split_at(length);
        bytes = rest;
        taken.to_vec()
    };
    let mut rows = Vec::new();
    loop {
        let fields = i16::from_be_bytes(take(2).try_into().unwrap());
        if fields == -1 {
            assert_eq!(bytes, b"");
            return rows;
        }
        let mut field = || match i32::from_be_bytes(take(4).try_into().unwrap()) {
            -1 => None,
            length => Some(take(length.try_into().unwrap())),
        };
        rows.push((0..fields).map(|_| field()).collect());
    }
}

/// Decodes a COPY that arrives in pieces of `piece` bytes. Returns the results of `row` up to the first error, and
/// whether the COPY was complete; `None` after an error.
fn decode<T>(
    bytes: &[u8],
    piece: usize,
    mut row: impl FnMut(&mut RowFields<'_>) -> perfpipe_model::Result<T>,
) -> (Vec<T>, Option<bool>) {
    let mut decoder = RowDecoder::default();
    let mut rows = Vec::new();
    for piece in bytes.chunks(piece.max(1)) {
        decoder.feed(piece);
        loop {
            match decoder.next_row().and_then(|fields| fields.map(|mut fields| row(&mut fields)).transpose())
            {
                Ok(Some(found)) => rows.push(found),
                Ok(None) => break,
                Err(_) => return (rows, None),
            }
        }
    }
    (rows, Some(decoder.ended()))
}

/// Encodes any batch. A simple reader of the format and the reader of the store must both find the same values, in
/// pieces of any size.
pub fn copy(data: &[u8]) {
    let mut taker = Taker::new(data);
    let piece = taker.byte().into();
    let batch = batch(&mut taker);
    let mut encoder = SampleEncoder::new(true);
    let Some(expected) = expected(&batch) else {
        assert!(encoder.encode(&batch).is_err());
        return;
    };
    let mut bytes = HEADER.to_vec();
    if let Some(chunk) = encoder.encode(&batch).unwrap() {
        assert_eq!(chunk.rows, batch.len() as u64);
        bytes.extend_from_slice(&chunk.bytes);
    }
    bytes.extend_from_slice(TRAILER);
    assert_eq!(slow(&bytes[HEADER.len()..]), expected);
    let mut back = SampleBatch::default();
    let (rows, ended) = decode(&bytes, piece, |fields| samples::get(fields, &mut back));
    assert_eq!((rows.len(), ended), (batch.len(), Some(true)));
    // Values are compared as bytes, since NaN is not equal to itself.
    assert_eq!(self::expected(&back), Some(expected));
}

/// Decodes any bytes as sent by a server. Rows or errors must be the same in pieces of any size, and any cell must
/// survive encoding and decoding.
pub fn rows(data: &[u8]) {
    let labels = ["", "a", "Ä\n"].map(String::from);
    let injectors = ["", "x", "10.0.0.1:1099"].map(String::from);
    let names = NameLists { labels: &labels, injectors: &injectors };
    let reader = CellReader::new(names);
    let (&piece, noise) = data.split_first().unwrap_or((&0, data));
    let noise = [HEADER, noise].concat();
    let cells = |piece: usize| {
        let mut cells = CellTableBuilder::new(READ_ROOM);
        let decoded = decode(&noise, piece, |fields| {
            reader.get(fields, &mut cells, &mut SampleTotals::default(), &mut CellTally::default())
        });
        (decoded, cells.finish(vec![], vec![]).unwrap())
    };
    assert_eq!(cells(piece.into()), cells(noise.len()));
    let mut batch = SampleBatch::default();
    decode(&noise, piece.into(), |fields| samples::get(fields, &mut batch));

    let mut taker = Taker::new(data);
    let key = CellKey {
        second: u32::from_le_bytes(taker.number()) >> 1,
        label: u32::from(taker.byte() % 3),
        success: taker.flag(),
        transaction: taker.flag(),
    };
    let cell = cell(&mut taker, 3);
    let page =
        PagedCells::new(std::iter::once(Ok((key, PackedCell::of(cell.clone()))))).next().unwrap().unwrap().2;
    // Earlier versions stored each cell by itself.
    for packed in [page, pack(&cell).into()] {
        let mut encoder = RowEncoder::default();
        seconds::put(&mut encoder, &RowsOf::Number(7), names, (key, &cell, &packed)).unwrap();
        let bytes = [&*encoder.take().unwrap().bytes, TRAILER].concat();
        let asked_for = asked_for(&slow(&bytes)[0]);
        let mut back = CellTableBuilder::new(READ_ROOM);
        let (mut fields, mut counted, mut tally) =
            (RowFields::new(&asked_for), SampleTotals::default(), CellTally::default());
        reader.get(&mut fields, &mut back, &mut counted, &mut tally).unwrap();
        let back = back.finish(vec![], vec![]).unwrap();
        assert_eq!(back.iter().map(Result::unwrap).collect::<Vec<_>>(), [(key, cell.clone())]);
    }
}

/// Returns the fields of a row of `seconds` that a reader requests: those from `second` to `samples`, and the last.
fn asked_for(row: &Row) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in row[1..6].iter().chain(row.last()).flatten() {
        bytes.extend_from_slice(&(field.len() as i32).to_be_bytes());
        bytes.extend_from_slice(field);
    }
    bytes
}

/// Formats settings as libpq's `name='text'`.
fn as_pairs(settings: &Settings) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    settings.iter().map(|(name, text)| format!("{name} = '{}' ", quoted(text))).collect()
}

/// Formats settings as the query of a URL.
fn as_url(settings: &Settings) -> String {
    let coded = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    let pairs: Vec<String> =
        settings.iter().map(|(name, text)| format!("{}={}", coded(name), coded(text))).collect();
    format!("postgres://?{}", pairs.join("&"))
}

/// Parses any text as a connection string. The result is settings or an error; settings must read the same in both
/// forms, and no message may contain the password.
pub fn settings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let none = |_: &str| None;
    let Ok(settings) = settings::parse(&text) else { return };
    let named =
        |name: &String| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "=:".contains(c));
    // Other names can't be written as pairs.
    if !settings.keys().all(named) {
        return;
    }
    if settings.get("ssl").is_none_or(|text| text != "true") {
        assert_eq!(settings::parse(&as_pairs(&settings)).unwrap(), settings);
        assert_eq!(settings::parse(&as_url(&settings)).unwrap(), settings);
    }
    let mut others = settings.clone();
    others.insert("password".into(), "hunter2".into());
    others.insert("passfile".into(), "/nowhere".into());
    others.insert("sslrootcert".into(), "system".into());
    if !text.contains("hunter2") {
        let shown = match PostgresConfig::resolve(&as_pairs(&others), &none) {
            Ok(config) => format!("{config} {config:?} {:?}", config.notes()),
            Err(error) => format!("{error} {error:?} {:?}", error.remedy()),
        };
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

/// Parses any text as a password file, and looks up any login. The password of a line written for it must be found.
pub fn passfile(data: &[u8]) {
    let mut taker = Taker::new(data);
    let port = u16::from_le_bytes(taker.number());
    let [host, database, user, password] = std::array::from_fn(|_| taker.text().replace(['\n', '\r'], " "));
    let text = String::from_utf8_lossy(taker.rest());
    let login = PassfileLogin { host: &host, port, database: &database, user: &user };
    let _ = Passfile::parse(&text).password(login);
    let coded = |text: &str| text.replace('\\', "\\\\").replace(':', "\\:");
    let fields = [&host, &port.to_string(), &database, &user, &password].map(|field| coded(field));
    let line = fields.join(":");
    let wild = "*:*:*:*:another";
    let file = Passfile::parse(&format!("# {line}\n{line}\n{wild}\n"));
    let socket = crate::connection::config::SOCKET_FOLDERS.contains(&&*host);
    let expected = if line.starts_with('#') || socket { "another" } else { &password };
    assert_eq!(file.password(login), Some(expected));
}
