//! Cuts a log into blocks of whole records, independent of the sizes of reads.

use std::collections::VecDeque;
use std::io::{Cursor, Read};

use super::records::last::last_record_end;
use crate::tools::rows::last_end;
use crate::work_count;
use perfpipe_model::run::reject_reason::RejectReason;
use perfpipe_model::sample::pool::{Buffers, PooledBuffer};

/// The maximum length of a record, in bytes. A longer one is a reject, so that no input makes memory grow.
pub const RECORD_LIMIT: usize = 4 << 20;

/// The number of bytes of an oversized record that are kept with its reject.
pub const KEPT: usize = 64 << 10;

/// The number of bytes that are first read into a new buffer, in addition to those that were read before.
const FIRST_READ: usize = 16 << 10;

/// A block of a log.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// The bytes: whole records, of which only the last one of the log may lack its line end.
    pub bytes: PooledBuffer,
    /// The offset of the block in the unpacked log.
    pub first_byte: u64,
    /// If set, the block is the beginning of a single record that is too large, and this is the reason to reject it.
    pub oversized: Option<RejectReason>,
    /// The number of line feeds skipped after the kept bytes of an oversized record.
    pub skipped_lines: u64,
    /// True if the log is damaged and ends here; a last line without its end is incomplete.
    pub cut: bool,
}

impl Block {
    /// Splits the block into complete lines and the incomplete line at the end of a damaged log.
    pub fn lines(&self) -> (&[u8], &[u8]) {
        match self.cut {
            true => self.bytes.split_at(memchr::memrchr(b'\n', &self.bytes).map_or(0, |feed| feed + 1)),
            false => (&self.bytes, &[]),
        }
    }
}

/// The bytes of a log.
pub trait LogBytes: Read {
    /// Returns true if the bytes ended because of damage, not at the end of the log.
    fn is_cut(&self) -> bool {
        false
    }

    /// Returns true if an error of the kind `WouldBlock` means that nothing more is there yet, so that whole records are
    /// returned as they are.
    fn pauses(&self) -> bool {
        false
    }
}

impl LogBytes for &[u8] {}

/// Where records end.
#[derive(Debug, Clone, Copy)]
enum RecordEnds {
    /// At line ends outside quotes.
    OfLines { delimiter: u8 },
    /// Where packed requests do.
    OfPacked,
}

impl RecordEnds {
    /// The end of the last record in a buffer that begins with a record. `None` if no record ends in it.
    fn last(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::OfLines { delimiter } => last_record_end(bytes, delimiter),
            Self::OfPacked => last_end(bytes),
        }
    }
}

/// Reads a log and cuts it into blocks after whole records.
pub struct Cutter<R> {
    /// The bytes that were read before the cutter was made.
    head: Cursor<Vec<u8>>,
    reader: R,
    ends: RecordEnds,
    block_size: usize,
    /// The maximum length of a record including its line end, in bytes.
    limit: usize,
    /// Bytes read beyond the last cut, and how many of them are in blocks already.
    carry: Vec<u8>,
    carried: usize,
    /// The offset in the unpacked log of what is in no block yet.
    at: u64,
    /// A record that began earlier was still open at this offset, so no open quote closes before it. A quote that is open
    /// at the end of its line is rejected without a search up to here: see `Records::had_open_quote`.
    open_to: u64,
    ended: bool,
    /// The blocks read by looking ahead.
    ahead: VecDeque<Block>,
}

impl<R: LogBytes> Cutter<R> {
    /// Creates a cutter for a log whose first bytes, `head`, were already read. `head` begins at the offset `at`.
    pub fn new(reader: R, head: Vec<u8>, at: u64, delimiter: u8, block_size: usize) -> Self {
        Self::limited(reader, head, at, delimiter, block_size, RECORD_LIMIT)
    }

    /// Creates a cutter with a maximum length of a record of `limit` bytes.
    pub fn limited(
        reader: R,
        head: Vec<u8>,
        at: u64,
        delimiter: u8,
        block_size: usize,
        limit: usize,
    ) -> Self {
        Self {
            head: Cursor::new(head),
            reader,
            ends: RecordEnds::OfLines { delimiter },
            // A larger block could contain records that a smaller one would reject.
            block_size: block_size.clamp(1, limit),
            limit,
            carry: Vec::new(),
            carried: 0,
            at,
            open_to: at,
            ended: false,
            ahead: VecDeque::new(),
        }
    }

    /// Creates a cutter for packed requests.
    pub fn of_packed(reader: R, block_size: usize) -> Self {
        Self { ends: RecordEnds::OfPacked, ..Self::new(reader, Vec::new(), 0, b',', block_size) }
    }

    /// Reads one more block ahead and returns a view of it; `None` at the end of the log.
    pub fn look_ahead(&mut self) -> std::io::Result<Option<&Block>> {
        let Some(block) = self.cut(PooledBuffer::default())? else { return Ok(None) };
        self.ahead.push_back(block);
        Ok(self.ahead.back())
    }

    /// Returns the next block; `None` at the end of the log or when there are no more buffers.
    pub fn next(&mut self, buffers: &mut impl Buffers) -> std::io::Result<Option<Block>> {
        let Some(mut buffer) = buffers.take() else { return Ok(None) };
        let Some(mut block) = self.ahead.pop_front() else { return self.cut(buffer) };
        // The block moves to a buffer of the pool, so that the pool limits the number of blocks in flight.
        *buffer = std::mem::take(&mut *block.bytes);
        Ok(Some(Block { bytes: buffer, ..block }))
    }

    /// Returns true if all blocks of the log were returned.
    pub fn has_ended(&self) -> bool {
        self.ended && self.carry.len() == self.carried && self.ahead.is_empty()
    }

    /// Returns the reader, which can be finished after the last block.
    pub fn into_reader(self) -> R {
        self.reader
    }

    fn cut(&mut self, mut buffer: PooledBuffer) -> std::io::Result<Option<Block>> {
        if self.ended && self.carry.len() == self.carried {
            return Ok(None);
        }
        if self.at < self.open_to
            && let Some(lines) = self.first_lines()
        {
            return Ok(Some(self.cut_lines(buffer, lines)));
        }
        self.carry.drain(..std::mem::take(&mut self.carried));
        work_count::count(self.carry.len());
        // Old content of the buffer is overwritten, not cleared: filling it with zeros would take a tenth of the time
        // that inflating into it takes.
        let mut filled = self.carry.len();
        // The carried bytes are known to contain no end of a record, so read beyond them before searching.
        let mut goal = self.block_size.max(filled);
        if filled > 0 || buffer.capacity() > 0 {
            lengthen(&mut buffer, goal);
        }
        if let Some(begin) = buffer.get_mut(..filled) {
            begin.copy_from_slice(&self.carry);
        }
        self.carry.clear();
        loop {
            self.fill(&mut buffer, filled, goal)?;
            filled = buffer.len();
            if buffer.is_empty() && self.ended {
                return Ok(None);
            }
            if self.ended {
                let cut = self.reader.is_cut();
                return Ok(Some(Block { cut, ..self.block(buffer, None) }));
            }
            if let Some(end) = self.ends.last(&buffer) {
                self.carry.extend_from_slice(buffer.get(end..).unwrap_or_default());
                buffer.truncate(end);
                return Ok(Some(self.block(buffer, None)));
            }
            if buffer.len() > self.limit {
                return self.oversized(buffer).map(Some);
            }
            // After a pause there may be far fewer bytes.
            goal = goal.max((buffer.len() * 2).min(self.limit + 1));
        }
    }

    /// `Ok` is the length of the lines up to the first that leaves a quote open; `Err` that of this line, if it is the next
    /// one. `None` if no line ends in the part that was searched.
    fn first_lines(&self) -> Option<Result<usize, usize>> {
        let known = usize::try_from(self.open_to.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let room = self.carry.get(self.carried..)?;
        let room = room.get(..known).unwrap_or(room);
        let mut length = 0;
        for end in memchr::memchr_iter(b'\n', room).map(|end| end + 1) {
            if self.ends.last(room.get(length..end)?).is_none() {
                return Some(if length > 0 { Ok(length) } else { Err(end) });
            }
            if length > 0 && end > self.block_size {
                break;
            }
            length = end;
        }
        (length > 0).then_some(Ok(length))
    }

    /// Returns the next lines.
    fn cut_lines(&mut self, mut buffer: PooledBuffer, lines: Result<usize, usize>) -> Block {
        let (first_byte, to) = (self.at, self.carried + lines.unwrap_or_else(|open| open));
        buffer.clear();
        buffer.extend_from_slice(self.carry.get(self.carried..to).unwrap_or_default());
        self.carried = to;
        match lines {
            Ok(_) => self.block(buffer, None),
            Err(length) => {
                self.at += length as u64;
                long_quote(buffer, first_byte)
            }
        }
    }

    /// Reads after the first `filled` bytes until the buffer holds `goal` bytes or the log ends.
    fn fill(&mut self, buffer: &mut Vec<u8>, mut filled: usize, goal: usize) -> std::io::Result<()> {
        if filled >= goal || self.ended {
            buffer.truncate(filled);
            return Ok(());
        }
        let is_new = buffer.capacity() == 0;
        if is_new {
            buffer.reserve_exact(goal);
        }
        // A short log touches no more of a new buffer than it fills.
        let mut length = if is_new { goal.min(self.rest_of_head() + FIRST_READ) } else { goal };
        buffer.resize(length, 0);
        let result = loop {
            if filled == length {
                // In whole pieces: decoders read in pieces too, and lose one where a log is damaged.
                length = goal.min(length + (length / FIRST_READ).max(1) * FIRST_READ);
                buffer.resize(length, 0);
            }
            let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) else { break Ok(()) };
            let read = match self.head.read(free) {
                Ok(0) => self.reader.read(free),
                read => read,
            };
            match read {
                Ok(0) => {
                    self.ended = true;
                    break Ok(());
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && self.reader.pauses() => {
                    break Ok(());
                }
                Err(error) => break Err(error),
            }
        };
        buffer.truncate(filled);
        result
    }

    /// The number of bytes that were read before and are not in a block yet.
    fn rest_of_head(&self) -> usize {
        self.head.get_ref().len().saturating_sub(self.head.position() as usize)
    }

    fn block(&mut self, bytes: PooledBuffer, oversized: Option<RejectReason>) -> Block {
        let first_byte = self.at;
        self.at += bytes.len() as u64;
        Block { bytes, first_byte, oversized, skipped_lines: 0, cut: false }
    }

    /// Rejects the record at the start of the buffer. Reading continues after the quote that closes its text; if the text looks
    /// like records, so that the quote was opened by mistake, after its first line.
    fn oversized(&mut self, mut buffer: PooledBuffer) -> std::io::Result<Block> {
        let first_byte = self.at;
        if let RecordEnds::OfLines { delimiter } = self.ends
            && let Some(text) = LongText::of(&buffer, delimiter).filter(|text| !text.is_records(&buffer))
        {
            self.at += buffer.len() as u64;
            let skipped_lines = feeds(&buffer) + self.skip_text(text)?;
            buffer.truncate(KEPT);
            return Ok(Block { skipped_lines, ..given_up(buffer, first_byte, RejectReason::LongQuote) });
        }
        if let Some(feed) = memchr::memchr(b'\n', &buffer) {
            self.open_to = self.at + buffer.len() as u64;
            self.carry = buffer.split_off(feed + 1);
            self.at += buffer.len() as u64;
            return Ok(long_quote(buffer, first_byte));
        }
        self.at += buffer.len() as u64;
        let skipped_lines = self.skip_line()?;
        buffer.truncate(KEPT);
        Ok(Block { skipped_lines, ..given_up(buffer, first_byte, RejectReason::LongLine) })
    }

    /// Skips the rest of a text in quotes, and of the line on which it ends. Returns the number of line feeds. Where records
    /// follow instead of the end, the quote is not closed, and reading continues with them.
    fn skip_text(&mut self, mut text: LongText) -> std::io::Result<u64> {
        let (mut skipped, mut piece) = (0, Vec::new());
        while !self.ended {
            self.fill(&mut piece, 0, self.limit.min(PIECE))?;
            work_count::count(piece.len());
            let closed = text.close(&piece);
            let from = closed.unwrap_or(0);
            if closed.is_some() || text.is_records(&piece) {
                let feed = piece.get(from..).and_then(|rest| memchr::memchr(b'\n', rest));
                let end = feed.map_or(piece.len(), |feed| from + feed + 1);
                self.carry = piece.split_off(end);
                self.at += end as u64;
                skipped += feeds(&piece);
                return Ok(skipped + if feed.is_some() { 0 } else { self.skip_line()? });
            }
            skipped += feeds(&piece);
            self.at += piece.len() as u64;
        }
        Ok(skipped)
    }

    /// Skips the rest of a line. Returns 1 if a line feed ended it, otherwise 0.
    fn skip_line(&mut self) -> std::io::Result<u64> {
        let mut piece = Vec::new();
        while !self.ended {
            self.fill(&mut piece, 0, self.block_size)?;
            if let Some(feed) = memchr::memchr(b'\n', &piece) {
                self.carry = piece.split_off(feed + 1);
                self.at += piece.len() as u64;
                return Ok(1);
            }
            self.at += piece.len() as u64;
        }
        Ok(0)
    }
}

/// Makes a buffer this long. The bytes beyond its content are zeros.
fn lengthen(buffer: &mut Vec<u8>, length: usize) {
    match buffer.capacity() {
        // A new buffer: the system provides zeroed memory as it is used, whereas filling it touches all of it.
        0 => *buffer = vec![0; length],
        _ => buffer.resize(length, 0),
    }
}

/// The number of bytes of a long text that are searched at a time for its end.
const PIECE: usize = 256 << 10;

/// The number of line feeds.
fn feeds(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// A text in quotes that has not ended.
struct LongText {
    delimiter: u8,
    /// The number of the fields before it.
    fields: usize,
    /// True if a quote came last, which closes it or is the first of two.
    quote: bool,
}

impl LongText {
    /// Finds the text that is open at the end of the beginning of a record.
    fn of(record: &[u8], delimiter: u8) -> Option<Self> {
        let (mut fields, mut at) = (0, 0);
        loop {
            if record.get(at) == Some(&b'"') {
                let mut text = Self { delimiter, fields, quote: false };
                match text.close(record.get(at + 1..)?) {
                    None => return Some(text),
                    Some(end) => at += 1 + end,
                }
            }
            let rest = record.get(at..)?;
            let end = memchr::memchr2(delimiter, b'\n', rest).filter(|end| rest.get(*end) != Some(&b'\n'))?;
            (fields, at) = (fields + 1, at + end + 1);
        }
    }

    /// Reads on. Returns the index of the byte after its closing quote, if it is closed.
    fn close(&mut self, more: &[u8]) -> Option<usize> {
        let ends = |byte: &u8| *byte == self.delimiter || matches!(byte, b'\r' | b'\n');
        let mut at = 0;
        if std::mem::take(&mut self.quote) {
            match more.first() {
                None => self.quote = true,
                Some(b'"') => at = 1,
                Some(byte) if ends(byte) => return Some(0),
                Some(_) => {}
            }
        }
        while let Some(quote) = memchr::memchr(b'"', more.get(at..)?) {
            at += quote + 1;
            match more.get(at) {
                None => self.quote = true,
                Some(b'"') => at += 1,
                Some(byte) if ends(byte) => return Some(at),
                Some(_) => {}
            }
        }
        None
    }

    /// Returns true if most of the whole lines have as many fields as the record has before the text, so that they are records
    /// rather than a text.
    fn is_records(&self, text: &[u8]) -> bool {
        let least = self.fields.max(1);
        let has_fields = |line: &[u8]| memchr::memchr_iter(self.delimiter, line).take(least).count() == least;
        let (mut all, mut like) = (0usize, 0usize);
        let mut ends = memchr::memchr_iter(b'\n', text);
        let mut begin = ends.next().map_or(text.len(), |end| end + 1);
        for end in ends {
            let line = text.get(begin..end).unwrap_or_default();
            all += usize::from(!line.is_empty());
            like += usize::from(has_fields(line));
            begin = end + 1;
        }
        2 * like > all
    }
}

/// Creates a block of a line with a quote that is not closed within the maximum length.
fn long_quote(mut line: PooledBuffer, first_byte: u64) -> Block {
    let feed = line.len().saturating_sub(1);
    line.truncate(KEPT.min(feed));
    Block { skipped_lines: 1, ..given_up(line, first_byte, RejectReason::LongQuote) }
}

/// Creates a block that is a single record beyond the maximum length.
fn given_up(bytes: PooledBuffer, first_byte: u64, reason: RejectReason) -> Block {
    Block { bytes, first_byte, oversized: Some(reason), skipped_lines: 0, cut: false }
}

#[cfg(test)]
mod tests {
    use super::super::records::record::Records;
    use super::*;
    use crate::fuzz::Trickle;
    use perfpipe_model::sample::pool::NewBuffers;
    use proptest::prelude::*;

    fn blocks(log: &[u8], step: usize, block_size: usize) -> Vec<Block> {
        let mut cutter = Cutter::new(Trickle(log, step), Vec::new(), 0, b',', block_size);
        std::iter::from_fn(|| cutter.next(&mut NewBuffers).unwrap()).collect()
    }

    fn raw_records(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut records = Records::new(bytes, b',');
        let mut all = Vec::new();
        while let Some(record) = records.next_record() {
            all.push(record.raw.to_vec());
        }
        all
    }

    proptest! {
        #[test]
        fn any_block_size_gives_the_same_records(
            log in "([a-z,]|\"\"|,\"|\n\"|\",|\"\n|\n){0,60}", step in 1usize..9, block_size in 1usize..80,
        ) {
            let log = log.as_bytes();
            let blocks = blocks(log, step, block_size);
            let bytes: Vec<u8> = blocks.iter().flat_map(|block| block.bytes.to_vec()).collect();
            prop_assert_eq!(&bytes, log);
            let cut: Vec<_> = blocks.iter().flat_map(|block| raw_records(&block.bytes)).collect();
            prop_assert_eq!(cut, raw_records(log));
        }
    }

    /// Provides buffers that another log was read into.
    struct Used(usize);

    impl Buffers for Used {
        fn take(&mut self) -> Option<PooledBuffer> {
            Some(PooledBuffer::from(vec![b'"'; self.0]))
        }
    }

    proptest! {
        #[test]
        fn used_buffers_give_the_same_blocks(
            log in "([a-z,]|\"\"|,\"|\n\"|\",|\"\n|\n){0,60}", step in 1usize..9, block_size in 1usize..80, used in 1usize..200,
        ) {
            let mut cutter = Cutter::new(Trickle(log.as_bytes(), step), Vec::new(), 0, b',', block_size);
            let found: Vec<Block> = std::iter::from_fn(|| cutter.next(&mut Used(used)).unwrap()).collect();
            prop_assert_eq!(found, blocks(log.as_bytes(), step, block_size));
        }
    }

    #[test]
    fn blocks_larger_than_a_first_read_hold_the_same_records() {
        let log: Vec<u8> = (0..20_000).flat_map(|n| format!("a,{n}\n").into_bytes()).collect();
        for block_size in [FIRST_READ - 1, FIRST_READ, FIRST_READ + 1, 3 * FIRST_READ, 1 << 20] {
            for step in [1000, FIRST_READ, usize::MAX] {
                let blocks = blocks(&log, step, block_size);
                let sizes = blocks.iter().map(|block| block.bytes.len());
                assert!(sizes.clone().all(|size| size <= block_size), "{:?}", sizes.collect::<Vec<_>>());
                let least = log.len().div_ceil(block_size);
                assert!((least..=least + 1).contains(&blocks.len()), "{block_size}, {step}");
                assert!(blocks.iter().all(|block| block.bytes.ends_with(b"\n")));
                assert_eq!(blocks.iter().flat_map(|block| block.bytes.to_vec()).collect::<Vec<_>>(), log);
            }
        }
    }

    #[test]
    fn looking_ahead_changes_nothing() {
        let log = b"a,1\nb,2\nc,3\nd,4\n";
        let mut cutter = Cutter::new(&log[..], Vec::new(), 0, b',', 5);
        assert_eq!(**cutter.look_ahead().unwrap().unwrap().bytes, *b"a,1\n");
        assert_eq!(**cutter.look_ahead().unwrap().unwrap().bytes, *b"b,2\n");
        let bytes: Vec<u8> = std::iter::from_fn(|| cutter.next(&mut NewBuffers).unwrap())
            .flat_map(|b| b.bytes.to_vec())
            .collect();
        assert_eq!(bytes, log);
    }

    #[test]
    fn endless_line_is_one_oversized_block() {
        let mut log = vec![b'x'; RECORD_LIMIT * 2];
        log.extend_from_slice(b"\na,1\n");
        let blocks = blocks(&log, usize::MAX, 1 << 16);
        assert_eq!(blocks.len(), 2);
        assert!(blocks[0].oversized.is_some() && blocks[0].bytes.len() == KEPT);
        assert_eq!((blocks[1].first_byte, &blocks[1].bytes[..]), (log.len() as u64 - 4, &b"a,1\n"[..]));
    }

    #[test]
    fn quotes_never_closed_cost_their_own_lines_only() {
        // On each line a quote is opened, whether one is open before it or not.
        let mut log = b"a,\"1\n".to_vec();
        log.extend(b"b,2\n\"a\"a,\"\n".repeat(RECORD_LIMIT / 11 + 10));
        for block_size in [100, 1 << 16] {
            let blocks = blocks(&log, usize::MAX, block_size);
            let rejected = blocks.iter().filter(|block| block.oversized.is_some());
            let lines: Vec<&[u8]> = rejected.map(|block| block.bytes.as_slice()).collect();
            assert!(lines.len() > RECORD_LIMIT / 11 - 10, "{}", lines.len());
            assert!(lines[0] == b"a,\"1" && lines[1..].iter().all(|line| *line == b"\"a\"a,\""));
            let bytes =
                blocks.iter().map(|block| block.bytes.len() + block.skipped_lines as usize).sum::<usize>();
            assert_eq!(bytes, log.len());
        }
    }

    #[test]
    fn long_text_ends_at_its_closing_quote() {
        let ghosts = "1,9,ghost\n".repeat(300);
        for text in [
            "line\n".repeat(RECORD_LIMIT / 5 + 10),
            "a \"\"quoted\"\" word\n".repeat(RECORD_LIMIT / 10),
            format!("{}\n{ghosts}", "pad ".repeat(RECORD_LIMIT / 4 + 10)),
            "x".repeat(RECORD_LIMIT + 10),
        ] {
            let log = format!("1,2,a\n1,2,\"{text}\"\n1,2,b\n1,2,c\n");
            for (step, block_size) in [(usize::MAX, 1 << 16), (1 << 16, 100), (100_003, 1 << 20)] {
                let blocks = blocks(log.as_bytes(), step, block_size);
                let oversized: Vec<&Block> =
                    blocks.iter().filter(|block| block.oversized.is_some()).collect();
                let [long] = oversized.as_slice() else { panic!("{} are rejected", oversized.len()) };
                assert_eq!(long.skipped_lines, feeds(text.as_bytes()) + 1);
                let rest: Vec<Vec<u8>> = blocks
                    .iter()
                    .filter(|block| block.oversized.is_none())
                    .flat_map(|block| raw_records(&block.bytes))
                    .collect();
                assert_eq!(rest, [b"1,2,a", b"1,2,b", b"1,2,c"]);
                let after = blocks.last().unwrap();
                assert_eq!(after.first_byte + after.bytes.len() as u64, log.len() as u64);
            }
        }
    }

    #[test]
    fn text_that_never_ends_costs_no_records_behind_it() {
        let mut log = b"1,\"2\n".to_vec();
        log.extend(b"text\n".repeat(RECORD_LIMIT / 5 + 10));
        let records = 2 * PIECE / 6;
        log.extend(b"1,2,3\n".repeat(records));
        let blocks = blocks(&log, usize::MAX, 1 << 16);
        let read: usize = blocks
            .iter()
            .filter(|block| block.oversized.is_none())
            .map(|block| raw_records(&block.bytes).len())
            .sum();
        assert!(read > records - PIECE / 6 - 2, "{read} of {records}");
    }

    #[test]
    fn quote_never_closed_costs_its_own_line_only() {
        let mut log = b"a,\"1\n".to_vec();
        log.extend(b"b,2\n".repeat(RECORD_LIMIT / 4 + 10));
        let blocks = blocks(&log, usize::MAX, 1 << 16);
        assert_eq!(blocks[0].oversized, Some(RejectReason::LongQuote));
        assert_eq!(**blocks[0].bytes, *b"a,\"1");
        let rest: usize = blocks[1..].iter().map(|block| raw_records(&block.bytes).len()).sum();
        assert_eq!(rest, RECORD_LIMIT / 4 + 10);
    }
}
