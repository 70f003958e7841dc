//! What a user may set of the pipeline, and the numbers and sizes of its parts.

use crate::counting::totals::DEFAULT_MEMORY;

/// The sizes of the pipeline's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineOptions {
    /// The maximum number of threads that parse, count and encode. A short log has fewer.
    pub workers: usize,
    /// The maximum number of logs of the same run that are read side by side, each by a thread of its own, and no
    /// more than workers. Logs from pipes are always read one after another,
    /// and so are all logs if their samples are kept in a store that accepts them only in order.
    pub readers: usize,
    /// True if all of them begin at once. Otherwise one for each two workers begins, and others where these don't keep the
    /// workers busy; all begin where records are converted while they are read.
    pub readers_at_once: bool,
    /// The number of bytes of unpacked logs that are worth a reader. Smaller logs next to each other share one.
    pub reader_bytes: usize,
    /// The approximate size of a block, in bytes of the unpacked log.
    pub block_size: usize,
    /// The number of bytes, over all inputs, that are searched ahead for the smallest timeStamp in pipes, and in files
    /// once a record before t0 is found within them. From a single file, the pass restarts after these bytes in that case,
    /// from several files at once. Several files of more than 128 times as many bytes are searched before. If the record
    /// comes later, the files are read again after their end.
    pub look_ahead: usize,
    /// The memory budget in bytes for what is collected of a run. Counts beyond a fifth of it go to a temporary file.
    pub memory: usize,
}

impl Default for PipelineOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            workers: cores,
            readers: cores,
            readers_at_once: false,
            reader_bytes: 16 << 20,
            block_size: 1 << 20,
            look_ahead: 32 << 20,
            memory: DEFAULT_MEMORY,
        }
    }
}

impl PipelineOptions {
    /// Sets the maximum number of threads that parse, count and encode.
    #[must_use]
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the maximum number of logs of the same run that are read side by side, all from the beginning.
    #[must_use]
    pub fn with_readers(mut self, readers: usize) -> Self {
        (self.readers, self.readers_at_once) = (readers, true);
        self
    }

    /// Sets the number of bytes of unpacked logs that are worth a reader.
    #[must_use]
    pub fn with_reader_bytes(mut self, reader_bytes: usize) -> Self {
        self.reader_bytes = reader_bytes;
        self
    }

    /// Sets the approximate size of a block, in bytes of the unpacked log.
    #[must_use]
    pub fn with_block_size(mut self, block_size: usize) -> Self {
        self.block_size = block_size;
        self
    }

    /// Sets the number of bytes that are searched ahead for the smallest timeStamp.
    #[must_use]
    pub fn with_look_ahead(mut self, look_ahead: usize) -> Self {
        self.look_ahead = look_ahead;
        self
    }

    /// Sets the memory budget in bytes for what is collected of a run.
    #[must_use]
    pub fn with_memory(mut self, memory: usize) -> Self {
        self.memory = memory;
        self
    }
}

/// The number of blocks that wait without a buffer to be collected, since one before them is still being counted. Without
/// them the readers stop at a worker that was interrupted, and then the other workers.
const WAITING: usize = 6;

/// The numbers of threads, the lengths of queues, and the number and size of the buffers of a reader.
pub(super) struct Dimensions {
    pub(super) readers: usize,
    pub(super) workers: usize,
    /// The number of blocks that wait for a worker, beside one that is passed on.
    pub(super) blocks: usize,
    /// The number of messages that wait to be collected.
    pub(super) results: usize,
    /// The number of buffers of a reader.
    pub(super) buffers: usize,
    /// The number of its counted blocks that wait without a buffer.
    pub(super) waiting: usize,
    pub(super) memory: MemoryBudget,
}

impl Dimensions {
    /// The parts that read this number of lanes.
    pub(super) fn of(sizes: &PipelineOptions, lanes: usize) -> Self {
        let workers = sizes.workers.max(1);
        // Each needs a part of a core.
        let readers = lanes.min(sizes.readers.min(workers)).max(1);
        Self {
            readers,
            workers,
            blocks: 2,
            results: workers * 4,
            // Per reader: one block being filled, some for the workers, one being collected, the rest queued.
            buffers: workers.div_ceil(readers) + 4,
            waiting: WAITING.div_ceil(readers),
            memory: MemoryBudget::new(sizes.memory, readers),
        }
    }
}

/// The memory budgets in bytes of a run's results, and of the results of each lane that is read ahead of its turn.
pub(super) struct MemoryBudget {
    pub(super) first: usize,
    pub(super) ahead: usize,
}

impl MemoryBudget {
    fn new(memory: usize, readers: usize) -> Self {
        match readers.saturating_sub(1) {
            0 => Self { first: memory, ahead: 0 },
            others => Self { first: memory / 2, ahead: memory / 2 / others },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_no_more_than_lanes_and_workers() {
        let sizes = PipelineOptions::default().with_workers(2).with_readers(8);
        assert_eq!([1, 2, 9].map(|lanes| Dimensions::of(&sizes, lanes).readers), [1, 2, 2]);
        let none = sizes.with_workers(0).with_readers(0);
        assert_eq!((Dimensions::of(&none, 0).readers, Dimensions::of(&none, 0).workers), (1, 1));
    }
}
