//! The first records of JMeter's logs, for what is decided before the pass over them.

use std::ops::ControlFlow;

use crate::pipeline::plan::open_log;
use crate::source::{LogSource, SourceOptions};
use perfpipe_formats::jtl::layout::Layout;
use perfpipe_formats::jtl::records::record::{Record, Records};
use perfpipe_formats::tools::rows::form::Form;
use perfpipe_model::error::Result;
use perfpipe_model::sample::pool::NewBuffers;

/// The size of the blocks in which logs are read.
const BLOCK: usize = 1 << 20;

/// Calls `take` with each of the first records of a log, about as many as are in so many bytes. Returns true if these are
/// all of its records. `None` if it is not of JMeter, or does not name its threads where `of_threads` asks for them.
///
/// # Errors
/// If the log can't be read. It says so again when it is ingested.
pub(super) fn first_records(
    log: &mut LogSource,
    bytes: usize,
    of_threads: bool,
    options: &SourceOptions,
    mut take: impl FnMut(&Record<'_>, &Layout) -> ControlFlow<()>,
) -> Result<Option<bool>> {
    let mut stream = log.open()?;
    let Some(reader) = stream.next_log()? else { return Ok(None) };
    let (layout, mut cutter) = open_log(reader, &options.layout, None, BLOCK)?;
    let lacks_threads = of_threads && layout.columns.thread_name.is_none();
    if matches!(layout.form, Form::Packed(_)) || lacks_threads {
        return Ok(None);
    }
    let mut read = 0;
    while read < bytes {
        let block = match cutter.next(&mut NewBuffers) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(Some(true)),
            Err(error) => return Err(cutter.into_reader().explain(error)),
        };
        read += block.bytes.len();
        let mut records = Records::new(&block.bytes, layout.delimiter);
        while let Some(record) = records.next_record() {
            if record.width() == layout.width && !record.open && take(&record, &layout).is_break() {
                return Ok(Some(false));
            }
        }
    }
    Ok(Some(false))
}
