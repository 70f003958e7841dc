//! What a user may set of the pipeline.

use crate::counts::totals::DEFAULT_MEMORY;

/// The number of logs that are read side by side even where there are fewer cores, but more than one: requests that several
/// logs tell of the same second are then counted together.
const SIDE_BY_SIDE: usize = 8;

/// The sizes of the pipeline's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineOptions {
    /// The maximum number of threads that parse, count and encode. A short log has fewer.
    pub workers: usize,
    /// The maximum number of logs of the same run that are read side by side, each by a thread of its own. If nothing is
    /// gained by counting them together, there are no more than workers. Logs from pipes are always read one after another,
    /// and so are all logs if their samples are kept in a store that takes them only in order.
    pub readers: usize,
    /// True if all of them begin at once. Otherwise one for each two workers begins, and others where these don't keep the
    /// workers busy; all begin where records are converted while they are read, and where logs are counted together.
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
            // On a single core, blocks of the usual size matter more.
            readers: if cores > 1 { cores.max(SIDE_BY_SIDE) } else { 1 },
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
