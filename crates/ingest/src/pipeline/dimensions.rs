//! The numbers and sizes of the parts of a pipeline.

use super::options::PipelineOptions;
use super::plan;

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
    pub(super) memory: Budget,
}

impl Dimensions {
    /// The parts that read this number of lanes, whose blocks are counted together or not.
    pub(super) fn of(sizes: &PipelineOptions, block_size: usize, lanes: usize, together: bool) -> Self {
        let workers = sizes.workers.max(1);
        // Each takes a part of a core. More of them help only if they bring together what they read.
        let most = if together { sizes.readers } else { sizes.readers.min(workers) };
        let readers = lanes.min(most).max(1);
        let together = together && readers > 1;
        let block_size = if together { block_of_step(block_size, readers) } else { block_size };
        // Of each reader one block that is being filled, some for the workers, one that is collected, and some that wait.
        let (steps, results, buffers, ordinary) = match together {
            false => (2, workers * 4, workers.div_ceil(readers) + 4, usize::MAX),
            // Each step that waits has a block of each reader. So unless blocks have to wait for their turn, no reader with a
            // block for a step waits for one without a buffer.
            true => (2, 4, workers + 12, 4 * block_size),
        };
        let waiting = if together { 0 } else { WAITING.div_ceil(readers) };
        let memory = Budget::new(sizes.memory, readers, together);
        Self { readers, workers, together, block_size, steps, results, buffers, waiting, ordinary, memory }
    }
}

/// The size of the blocks of readers that make a step together, in bytes: all of them have about as many bytes as two blocks
/// of a single reader.
fn block_of_step(size: usize, readers: usize) -> usize {
    (2 * size / readers).max(plan::LEAST).min(size)
}

/// The memory budgets in bytes of a run's results, of what is counted together, and of the results of each lane that is read
/// ahead of its turn.
pub(super) struct Budget {
    pub(super) first: usize,
    pub(super) together: Option<usize>,
    pub(super) apart: usize,
}

impl Budget {
    fn new(memory: usize, readers: usize, together: bool) -> Self {
        let others = readers.saturating_sub(1);
        match together {
            _ if others == 0 => Self { first: memory, together: None, apart: 0 },
            false => Self { first: memory / 2, together: None, apart: memory / 2 / others },
            true => Self { first: memory / 3, together: Some(memory / 3), apart: memory / 3 / others },
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
