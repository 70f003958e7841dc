//! What a user may set of the pipeline, and the numbers and sizes of its parts.

use super::plan;
use crate::counting::totals::DEFAULT_MEMORY;

/// The number of logs that are read side by side even where there are fewer cores, but more than one: requests of the
/// same second in several logs are then counted jointly.
const SIDE_BY_SIDE: usize = 8;

/// The sizes of the pipeline's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PipelineOptions {
    /// The maximum number of threads that parse, count and encode. A short log has fewer.
    pub workers: usize,
    /// The maximum number of logs of the same run that are read side by side, each by a thread of its own. If nothing is
    /// gained by counting them jointly, there are no more than workers. Logs from pipes are always read one after another,
    /// and so are all logs if their samples are kept in a store that accepts them only in order.
    pub readers: usize,
    /// True if all of them begin at once. Otherwise one for each two workers begins, and others where these don't keep the
    /// workers busy; all begin where records are converted while they are read, and where logs are counted jointly.
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

/// The number of blocks that wait without a buffer to be collected, since one before them is still being counted. Without
/// them the readers stop at a worker that was interrupted, and then the other workers.
const WAITING: usize = 6;

/// The numbers of threads, the lengths of queues, and the number and size of the buffers of a reader.
pub(super) struct Dimensions {
    pub(super) readers: usize,
    pub(super) workers: usize,
    /// True if blocks of several lanes make a step.
    pub(super) together: bool,
    pub(super) block_size: usize,
    /// The number of steps that wait for a worker, beside one that is passed on.
    pub(super) steps: usize,
    /// The number of messages that wait to be collected.
    pub(super) results: usize,
    /// The number of buffers of a reader.
    pub(super) buffers: usize,
    /// The number of its counted blocks that wait without a buffer.
    pub(super) waiting: usize,
    /// The size in bytes up to which a block is an ordinary one.
    pub(super) ordinary: usize,
    pub(super) memory: MemoryBudget,
}

impl Dimensions {
    /// The parts that read this number of lanes, whose blocks are counted jointly or not.
    pub(super) fn of(sizes: &PipelineOptions, block_size: usize, lanes: usize, together: bool) -> Self {
        let workers = sizes.workers.max(1);
        // Each needs a part of a core. More of them help only if their blocks make steps.
        let most = if together { sizes.readers } else { sizes.readers.min(workers) };
        let readers = lanes.min(most).max(1);
        let together = together && readers > 1;
        let block_size = if together { block_of_step(block_size, readers) } else { block_size };
        // Per reader: one block being filled, some for the workers, one being collected, the rest queued.
        let (steps, results, buffers, ordinary) = match together {
            false => (2, workers * 4, workers.div_ceil(readers) + 4, usize::MAX),
            // Each step that waits has a block of each reader. So unless blocks have to wait for their turn, no reader with a
            // block for a step waits for one without a buffer.
            true => (2, 4, workers + 12, 4 * block_size),
        };
        let waiting = if together { 0 } else { WAITING.div_ceil(readers) };
        let memory = MemoryBudget::new(sizes.memory, readers, together);
        Self { readers, workers, together, block_size, steps, results, buffers, waiting, ordinary, memory }
    }
}

/// The size of the blocks of readers that make a step, in bytes: all of them have about as many bytes as two blocks
/// of a single reader.
fn block_of_step(size: usize, readers: usize) -> usize {
    (2 * size / readers).max(plan::LEAST).min(size)
}

/// The memory budgets in bytes of a run's results, of joint counts, and of the results of each lane that is read
/// ahead of its turn.
pub(super) struct MemoryBudget {
    pub(super) first: usize,
    pub(super) together: Option<usize>,
    pub(super) ahead: usize,
}

impl MemoryBudget {
    fn new(memory: usize, readers: usize, together: bool) -> Self {
        let others = readers.saturating_sub(1);
        match together {
            _ if others == 0 => Self { first: memory, together: None, ahead: 0 },
            false => Self { first: memory / 2, together: None, ahead: memory / 2 / others },
            true => Self { first: memory / 3, together: Some(memory / 3), ahead: memory / 3 / others },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dimensions(lanes: usize, together: bool) -> Dimensions {
        let sizes = PipelineOptions::default().with_workers(2).with_readers(8);
        Dimensions::of(&sizes, 1 << 20, lanes, together)
    }

    #[test]
    fn readers_are_more_than_workers_only_if_blocks_make_steps() {
        assert_eq!(
            [dimensions(1, false), dimensions(9, false), dimensions(9, true)].map(|of| of.readers),
            [1, 2, 8]
        );
        assert!(!dimensions(1, true).together, "a single lane has nothing to bring together");
    }

    #[test]
    fn blocks_of_steps_are_smaller() {
        let size = |lanes, together| dimensions(lanes, together).block_size;
        assert_eq!(
            [size(1, false), size(9, false), size(2, true), size(8, true)],
            [1 << 20, 1 << 20, 1 << 20, 1 << 18]
        );
    }
}
