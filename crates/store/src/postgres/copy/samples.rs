//! Encodes and decodes the rows of a run's samples.

use super::binary::{RowEncoder, RowFields, Rows};
use crate::consistency::SampleTotals;
use crate::sink::BatchEncoder;
use perfpipe_model::error::{Error, Result};
use perfpipe_model::sample::batch::{Nullable, SampleBatch};
use perfpipe_model::sample::texts::Texts;

/// The columns, in the order in which rows are encoded.
pub(crate) const COLUMNS: &str = "t_ms, elapsed, latency, connect, idle_time, all_threads, bytes, sent_bytes, cpu, \
     success, transaction, label, response_code, injector";

/// The number of columns.
const FIELDS: i16 = 14;

/// The number of columns before them where samples have lines: the line and the second.
const LINE_FIELDS: i16 = 2;

/// The place of the line in a row, after the number of fields and its own length.
const LINE: usize = 2 + 4;

/// The maximum size in bytes of a row without its texts.
const FIXED_BYTES: usize = 2 + 16 * 4 + 7 * 4 + 7 * 8;

/// Encodes batches as rows of a binary COPY. Each batch is returned at once, so the table keeps the log's order.
#[derive(Debug)]
pub struct SampleEncoder {
    rows: RowEncoder,
    kept: bool,
    /// True if each row begins with room for the number of its sample, and with its second.
    lines: bool,
}

impl SampleEncoder {
    /// Creates an encoder. If samples are not kept, it returns no rows.
    pub fn new(kept: bool) -> Self {
        Self { rows: RowEncoder::default(), kept, lines: false }
    }

    /// Begins each row with room for the number of its sample, which [`numbered`] fills in, and with its second.
    pub(crate) fn with_lines(mut self, lines: bool) -> Self {
        self.lines = lines;
        self
    }
}

impl BatchEncoder for SampleEncoder {
    type Chunk = Rows;

    fn encode(&mut self, batch: &SampleBatch) -> Result<Option<Rows>> {
        if !self.kept || batch.is_empty() {
            return Ok(None);
        }
        put(&mut self.rows, batch, self.lines)?;
        let mut rows = self.rows.take()?;
        rows.wide = batch.resolution.is_fine();
        rows.counted = SampleTotals::of_batch(batch);
        Ok(Some(rows))
    }
}

/// Encodes a batch.
fn put(rows: &mut RowEncoder, batch: &SampleBatch, lines: bool) -> Result<()> {
    rows.reserve(batch.len() * (FIXED_BYTES + 32));
    let SampleBatch {
        resolution,
        t_ms,
        label,
        elapsed,
        response_code,
        success,
        bytes,
        sent_bytes,
        all_threads,
        latency,
        idle_time,
        connect,
        cpu,
        injector,
        transaction,
    } = batch;
    let wide = resolution.is_fine();
    let time = |rows: &mut RowEncoder, time: i32| if wide { rows.i64(time.into()) } else { rows.i32(time) };
    let columns = t_ms.iter().zip(elapsed).zip(success).zip(transaction);
    for (row, (((t_ms, elapsed), success), transaction)) in columns.enumerate() {
        let offset = offset(*t_ms)?;
        if lines {
            rows.row(FIELDS + LINE_FIELDS);
            rows.i64(0);
            rows.i32(offset.div_euclid(1000));
        } else {
            rows.row(FIELDS);
        }
        rows.i32(offset);
        time(rows, *elapsed);
        rows.maybe(latency.get(row), time);
        rows.maybe(connect.get(row), time);
        rows.maybe(idle_time.get(row), RowEncoder::i32);
        rows.maybe(all_threads.get(row), RowEncoder::i32);
        rows.maybe(bytes.get(row), RowEncoder::i64);
        rows.maybe(sent_bytes.get(row), RowEncoder::i64);
        rows.maybe(cpu.get(row), RowEncoder::f64);
        rows.bool(*success);
        rows.bool(*transaction);
        rows.maybe(label.get(row), RowEncoder::text);
        rows.maybe(response_code.get(row), RowEncoder::text);
        // A null would add a null bitmap of eight bytes to every row.
        rows.text(injector.get(row).unwrap_or_default());
    }
    Ok(())
}

/// Fills in the numbers of samples, from `first` on, where rows have room for them. Only a caller who receives all rows in the order of
/// the log knows them.
pub(crate) fn numbered(rows: Rows, first: u64) -> Rows {
    rows.patched(|number, row| {
        if let Some(place) = row.get_mut(LINE..LINE + 8) {
            place.copy_from_slice(&(first + number).to_be_bytes());
        }
    })
}

fn offset(t_ms: i64) -> Result<i32> {
    i32::try_from(t_ms).map_err(|_| {
        Error::store(
            "encoding samples for Postgres",
            format!("a sample {t_ms} ms after t0 is beyond the 24 days that a run can span"),
        )
    })
}

/// Decodes a row of the table and appends it to a batch.
pub(crate) fn get(fields: &mut RowFields<'_>, batch: &mut SampleBatch) -> Result<()> {
    batch.t_ms.push(i64::from(fields.i32()?));
    batch.elapsed.push(fields.maybe_time()?.unwrap_or_default());
    get_number(fields.maybe_time(), &mut batch.latency)?;
    get_number(fields.maybe_time(), &mut batch.connect)?;
    get_number(fields.maybe_i32(), &mut batch.idle_time)?;
    get_number(fields.maybe_i32(), &mut batch.all_threads)?;
    get_number(fields.maybe_i64(), &mut batch.bytes)?;
    get_number(fields.maybe_i64(), &mut batch.sent_bytes)?;
    get_number(fields.maybe_f64(), &mut batch.cpu)?;
    batch.success.push(fields.bool()?);
    batch.transaction.push(fields.bool()?);
    get_text(fields.maybe_bytes()?, &mut batch.label);
    get_text(fields.maybe_bytes()?, &mut batch.response_code);
    get_text(fields.maybe_bytes()?.filter(|name| !name.is_empty()), &mut batch.injector);
    Ok(())
}

fn get_text(text: Option<&[u8]>, into: &mut Texts) {
    match text {
        Some(text) => into.push(text),
        None => into.push_null(),
    }
}

fn get_number<T: Copy + Default>(value: Result<Option<T>>, into: &mut Nullable<T>) -> Result<()> {
    into.push(value?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use bytes::{BufMut, Bytes, BytesMut};
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio_postgres::binary_copy::BinaryCopyInWriter;
    use tokio_postgres::types::{ToSql, Type};
    use tokio_postgres::{Config, NoTls};

    use super::*;
    use crate::postgres::copy::binary::{HEADER, RowDecoder, TRAILER};
    use perfpipe_model::sample::resolution::Resolution;

    /// A minimal server that receives one binary COPY.
    struct OracleServer(DuplexStream);

    impl OracleServer {
        async fn say(&mut self, kind: u8, body: &[u8]) {
            let mut message = BytesMut::new();
            message.put_u8(kind);
            message.put_i32(body.len() as i32 + 4);
            message.put_slice(body);
            self.0.write_all(&message).await.unwrap();
        }

        async fn hear(&mut self) -> (u8, Vec<u8>) {
            let kind = self.0.read_u8().await.unwrap();
            (kind, self.hear_body().await)
        }

        async fn hear_body(&mut self) -> Vec<u8> {
            let length = self.0.read_i32().await.unwrap() as usize - 4;
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).await.unwrap();
            body
        }

        async fn hear_until(&mut self, last: u8) {
            while self.hear().await.0 != last {}
        }

        /// Plays a whole session and returns the copied bytes.
        async fn play(mut self) -> Vec<u8> {
            self.hear_body().await;
            self.say(b'R', &0_i32.to_be_bytes()).await;
            self.say(b'Z', b"I").await;
            self.hear_until(b'S').await;
            self.say(b'1', &[]).await;
            self.say(b't', &0_i16.to_be_bytes()).await;
            self.say(b'n', &[]).await;
            self.say(b'Z', b"I").await;
            self.hear_until(b'E').await;
            self.say(b'2', &[]).await;
            self.say(b'G', &[1, 0, 0]).await;
            let mut copied = Vec::new();
            loop {
                match self.hear().await {
                    (b'd', data) => copied.extend(data),
                    (b'c', _) => break,
                    _ => {}
                }
            }
            self.say(b'C', b"COPY 0\0").await;
            self.say(b'Z', b"I").await;
            copied
        }
    }

    /// Returns what tokio-postgres's writer sends for a batch.
    async fn sent_by_the_oracle(batch: &SampleBatch) -> Vec<u8> {
        let (here, there) = duplex(1 << 20);
        let server = tokio::spawn(OracleServer(there).play());
        let (client, connection) = Config::new().user("u").connect_raw(here, NoTls).await.unwrap();
        let driver = tokio::spawn(connection);
        let sink = client.copy_in::<_, Bytes>("copy").await.unwrap();
        let types = [
            Type::INT4,
            Type::INT4,
            Type::INT4,
            Type::INT4,
            Type::INT4,
            Type::INT4,
            Type::INT8,
            Type::INT8,
            Type::FLOAT8,
            Type::BOOL,
            Type::BOOL,
            Type::TEXT,
            Type::TEXT,
            Type::TEXT,
        ];
        let mut writer = Box::pin(BinaryCopyInWriter::new(sink, &types));
        for row in 0..batch.len() {
            let t_ms = batch.t_ms[row] as i32;
            let fields: [&(dyn ToSql + Sync); 14] = [
                &t_ms,
                &batch.elapsed[row],
                &batch.latency.get(row),
                &batch.connect.get(row),
                &batch.idle_time.get(row),
                &batch.all_threads.get(row),
                &batch.bytes.get(row),
                &batch.sent_bytes.get(row),
                &batch.cpu.get(row),
                &batch.success[row],
                &batch.transaction[row],
                &batch.label.get(row),
                &batch.response_code.get(row),
                &batch.injector.get(row).unwrap_or_default(),
            ];
            writer.as_mut().write(&fields).await.unwrap();
        }
        writer.as_mut().finish().await.unwrap();
        driver.abort();
        server.await.unwrap()
    }

    /// Returns the output of our encoder for these batches, as a complete COPY.
    fn encoded(batches: &[SampleBatch]) -> Vec<u8> {
        let mut encoder = SampleEncoder::new(true);
        let mut chunks = Vec::new();
        for batch in batches {
            chunks.extend(encoder.encode(batch).unwrap());
        }
        let rows: u64 = chunks.iter().map(|chunk| chunk.rows).sum();
        assert_eq!(rows, batches.iter().map(|batch| batch.len() as u64).sum::<u64>());
        let parts =
            std::iter::once(HEADER).chain(chunks.iter().map(|chunk| &chunk.bytes[..])).chain([TRAILER]);
        parts.flatten().copied().collect()
    }

    /// Decodes the rows of a COPY that arrives in pieces of `piece` bytes.
    fn decode<T>(bytes: &[u8], piece: usize, mut row: impl FnMut(&mut RowFields<'_>) -> T) -> Vec<T> {
        let mut decoder = RowDecoder::default();
        let mut rows = Vec::new();
        for piece in bytes.chunks(piece) {
            assert!(!decoder.ended());
            decoder.feed(piece);
            while let Some(mut fields) = decoder.next_row().unwrap() {
                rows.push(row(&mut fields));
            }
        }
        assert!(decoder.ended());
        rows
    }

    fn texts(values: Vec<Option<Vec<u8>>>) -> Texts {
        let mut texts = Texts::default();
        for value in values {
            match value {
                Some(value) => texts.push(&value),
                None => texts.push_null(),
            }
        }
        texts
    }

    fn numbers<T: Arbitrary + Copy + Default>(len: usize) -> impl Strategy<Value = Nullable<T>> {
        prop::collection::vec(any::<Option<T>>(), len).prop_map(Nullable::from_iter)
    }

    fn some_texts(len: usize) -> impl Strategy<Value = Texts> {
        let text = prop_oneof![Just(b"200".to_vec()), any::<Vec<u8>>()];
        prop::collection::vec(prop::option::of(text), len).prop_map(texts)
    }

    prop_compose! {
        fn batches()(len in 0_usize..40)(
            t_ms in prop::collection::vec(0..i64::from(i32::MAX), len),
            elapsed in prop::collection::vec(any::<i32>(), len),
            verdicts in prop::collection::vec(any::<(bool, bool)>(), len),
            texts in (some_texts(len), some_texts(len), some_texts(len)),
            sizes in (numbers(len), numbers(len)),
            times in (numbers(len), numbers(len), numbers(len), numbers(len)),
            cpu in numbers(len),
        ) -> SampleBatch {
            SampleBatch {
                resolution: Resolution::default(),
                t_ms,
                label: texts.0,
                elapsed,
                response_code: texts.1,
                success: verdicts.iter().map(|(success, _)| *success).collect(),
                bytes: sizes.0,
                sent_bytes: sizes.1,
                all_threads: times.0,
                latency: times.1,
                idle_time: times.2,
                connect: times.3,
                cpu,
                injector: texts.2,
                transaction: verdicts.iter().map(|(_, transaction)| *transaction).collect(),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn samples_are_encoded_as_by_the_oracle(batch in batches()) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let expected = runtime.block_on(sent_by_the_oracle(&batch));
            prop_assert_eq!(encoded(&[batch]), expected);
        }

        #[test]
        fn samples_come_back_in_pieces_of_any_size(batch in batches(), piece in 1_usize..200) {
            let bytes = encoded(&[batch.clone(), SampleBatch::default(), batch.clone()]);
            let mut back = SampleBatch::default();
            decode(&bytes, piece, |fields| get(fields, &mut back).unwrap());
            prop_assert_eq!(back.len(), 2 * batch.len());
            let mut rows = SampleEncoder::new(true);
            let again = rows.encode(&back).unwrap().unwrap_or_default();
            prop_assert_eq!(&bytes[HEADER.len()..bytes.len() - TRAILER.len()], &again.bytes[..]);
        }

        #[test]
        fn bytes_of_any_kind_are_rows_or_an_error_and_never_a_panic(noise in any::<Vec<u8>>(), piece in 1_usize..9) {
            let mut decoder = RowDecoder::default();
            for piece in [HEADER, &noise].concat().chunks(piece) {
                decoder.feed(piece);
                while let Ok(Some(mut fields)) = decoder.next_row() {
                    let _ = (fields.bytes(), fields.text(), fields.i32(), fields.bool());
                }
            }
        }
    }
}
