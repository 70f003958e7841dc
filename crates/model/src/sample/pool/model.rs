//! A model of how the pipeline exchanges buffers, small enough to check every interleaving of its steps.

use std::collections::{HashSet, VecDeque};
use std::fmt;

use super::may_take;

/// A case to model, with switches that break the pipeline on purpose.
#[derive(Debug, Clone)]
struct Case {
    /// The number of blocks of each log. Each log is one turn.
    logs: Vec<u8>,
    readers: usize,
    workers: usize,
    buffers: usize,
    /// True if a reader that finds the end of its log loses the buffer that it took to look for more.
    loses: bool,
    /// True if any turn may take the last buffer.
    greedy: bool,
    /// True if the storing side may fail at any moment. Buffers on their way to it may then never return.
    fails: bool,
    /// True if the pool still hands out buffers after the storing side has failed.
    stays_open: bool,
}

/// The state of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ModelBlock {
    Unread,
    Queued,
    Parsing,
    /// Parsed and waiting to be stored.
    Waiting,
    Stored,
}

/// The state of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ModelLog {
    Unopened,
    /// Its reader waits for a buffer.
    Open,
    /// Its reader has a buffer and reads into it.
    Reading,
    Ended,
}

/// The whole state at one moment. Readers and workers are interchangeable, so it does not record which one does what.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Moment {
    logs: Vec<ModelLog>,
    blocks: Vec<Vec<ModelBlock>>,
    lost: usize,
    failed: bool,
    /// The number of workers that noticed that the storing side is gone.
    gone: usize,
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (log, blocks) in self.logs.iter().zip(&self.blocks) {
            writeln!(f, "{log:?} {blocks:?}")?;
        }
        write!(f, "lost {}, failed {}, gone {}", self.lost, self.failed, self.gone)
    }
}

impl Moment {
    fn first(case: &Case) -> Self {
        Self {
            logs: vec![ModelLog::Unopened; case.logs.len()],
            blocks: case.logs.iter().map(|blocks| vec![ModelBlock::Unread; usize::from(*blocks)]).collect(),
            lost: 0,
            failed: false,
            gone: 0,
        }
    }

    fn count(&self, wanted: ModelBlock) -> usize {
        self.blocks.iter().flatten().filter(|block| **block == wanted).count()
    }

    fn logs_that(&self, wanted: ModelLog) -> usize {
        self.logs.iter().filter(|log| **log == wanted).count()
    }

    fn free(&self, case: &Case) -> usize {
        let held =
            [ModelBlock::Queued, ModelBlock::Parsing, ModelBlock::Waiting].map(|state| self.count(state));
        case.buffers - held.iter().sum::<usize>() - self.logs_that(ModelLog::Reading) - self.lost
    }

    /// The block to store next, as (log, block).
    fn next(&self) -> Option<(usize, usize)> {
        let of_log = |blocks: &Vec<ModelBlock>| blocks.iter().position(|block| *block != ModelBlock::Stored);
        self.blocks.iter().enumerate().find_map(|(log, blocks)| Some((log, of_log(blocks)?)))
    }

    fn is_over(&self) -> bool {
        let read = self.logs.iter().all(|log| *log == ModelLog::Ended);
        read && (self.failed || self.next().is_none())
    }

    /// Returns a copy with one change.
    fn with(&self, change: impl FnOnce(&mut Self)) -> Self {
        let mut moment = self.clone();
        change(&mut moment);
        moment
    }

    /// Every state that one step leads to.
    fn steps(&self, case: &Case) -> Vec<Self> {
        let mut steps = Vec::new();
        self.open(case, &mut steps);
        (0..self.logs.len()).for_each(|log| self.read(case, log, &mut steps));
        let all = self.blocks.iter().enumerate();
        let places: Vec<(usize, usize)> =
            all.flat_map(|(log, blocks)| (0..blocks.len()).map(move |at| (log, at))).collect();
        for (log, at) in places {
            self.work(case, (log, at), &mut steps);
        }
        if case.fails && !self.failed {
            // Blocks that wait to be stored are dropped.
            steps.push(self.with(|m| {
                m.failed = true;
                m.drop_all(ModelBlock::Waiting);
            }));
        }
        steps
    }

    /// A reader opens the next log.
    fn open(&self, case: &Case, steps: &mut Vec<Self>) {
        let busy = self.logs_that(ModelLog::Open) + self.logs_that(ModelLog::Reading);
        let next = self.logs.iter().position(|log| *log == ModelLog::Unopened);
        if let Some(next) = next.filter(|_| busy < case.readers) {
            steps.push(self.with(|m| m.logs[next] = ModelLog::Open));
        }
    }

    /// A reader takes a buffer, hands on the block that it read, or finds the end of its log.
    fn read(&self, case: &Case, log: usize, steps: &mut Vec<Self>) {
        let unread = self.blocks[log].iter().position(|block| *block == ModelBlock::Unread);
        let first = self.logs.iter().position(|log| matches!(log, ModelLog::Open | ModelLog::Reading));
        let may_take = may_take(self.free(case), case.greedy || first == Some(log));
        match (self.logs[log], unread) {
            (ModelLog::Open, _) if self.failed && !case.stays_open => {
                steps.push(self.with(|m| m.give_up(log)))
            }
            (ModelLog::Open, _) if may_take => steps.push(self.with(|m| m.logs[log] = ModelLog::Reading)),
            // No worker is left to take the block.
            (ModelLog::Reading, Some(_)) if self.gone == case.workers => {
                steps.push(self.with(|m| m.give_up(log)));
            }
            (ModelLog::Reading, Some(at)) => steps.push(self.with(|m| {
                m.logs[log] = ModelLog::Open;
                m.blocks[log][at] = ModelBlock::Queued;
            })),
            (ModelLog::Reading, None) => steps.push(self.with(|m| {
                m.logs[log] = ModelLog::Ended;
                m.lost += usize::from(case.loses);
            })),
            _ => {}
        }
    }

    /// A worker takes a block or hands it on, or a block is stored. Any queued block may be taken, which covers more
    /// interleavings than can happen.
    fn work(&self, case: &Case, (log, at): (usize, usize), steps: &mut Vec<Self>) {
        let idle = self.count(ModelBlock::Parsing) + self.gone < case.workers;
        let to = match self.blocks[log][at] {
            ModelBlock::Queued if idle => ModelBlock::Parsing,
            ModelBlock::Parsing if self.failed => return steps.push(self.with(|m| m.leave(case, (log, at)))),
            ModelBlock::Parsing => ModelBlock::Waiting,
            ModelBlock::Waiting if self.next() == Some((log, at)) => ModelBlock::Stored,
            _ => return,
        };
        steps.push(self.with(|m| m.blocks[log][at] = to));
    }

    /// A worker that can't hand its block on ends, and the channel keeps the block. The last worker drops the queue.
    fn leave(&mut self, case: &Case, (log, at): (usize, usize)) {
        self.blocks[log][at] = ModelBlock::Stored;
        self.gone += 1;
        self.lost += 1;
        if self.gone == case.workers {
            self.drop_all(ModelBlock::Queued);
        }
    }

    /// A reader ends, and no further log is opened.
    fn give_up(&mut self, log: usize) {
        self.logs[log] = ModelLog::Ended;
        let unopened = self.logs.iter_mut().filter(|log| **log == ModelLog::Unopened);
        unopened.for_each(|log| *log = ModelLog::Ended);
    }

    /// Drops all blocks in a state after a failure. They count as stored, since order no longer matters.
    fn drop_all(&mut self, there: ModelBlock) {
        let blocks = self.blocks.iter_mut().flatten().filter(|block| **block == there);
        blocks.for_each(|block| *block = ModelBlock::Stored);
    }
}

/// Visits every interleaving, breadth first. Returns the number of states and, if there is one, a state in which no
/// step is possible although work is left.
fn explore(case: &Case) -> (Option<Moment>, usize) {
    let first = Moment::first(case);
    let mut seen = HashSet::from([first.clone()]);
    let mut coming = VecDeque::from([first]);
    while let Some(moment) = coming.pop_front() {
        let steps = moment.steps(case);
        if steps.is_empty() && !moment.is_over() {
            return (Some(moment), seen.len());
        }
        for step in steps {
            if seen.insert(step.clone()) {
                coming.push_back(step);
            }
        }
    }
    (None, seen.len())
}

/// All lists of `count` logs with 0 to `most` blocks each.
fn logs(count: usize, most: u8) -> Vec<Vec<u8>> {
    let longer = |logs: Vec<u8>| (0..=most).map(move |blocks| [logs.as_slice(), &[blocks]].concat());
    (0..count).fold(vec![vec![]], |all, _| all.into_iter().flat_map(longer).collect())
}

/// A case in which nothing is broken and nothing fails.
fn case(logs: Vec<u8>, readers: usize, workers: usize, buffers: usize) -> Case {
    Case { logs, readers, workers, buffers, loses: false, greedy: false, fails: false, stays_open: false }
}

/// Cases of 1 to `most_logs` logs, with one to three readers and workers, for each of the given numbers of buffers.
fn cases(most_logs: usize, most_blocks: u8, buffers: &[usize]) -> impl Iterator<Item = Case> {
    let sizes = [1, 2, 3].into_iter().flat_map(|readers| [1, 2, 3].map(|workers| (readers, workers)));
    let logs: Vec<Vec<u8>> = (1..=most_logs).flat_map(|count| logs(count, most_blocks)).collect();
    sizes.flat_map(move |(readers, workers)| {
        let (logs, buffers) = (logs.clone(), buffers.to_vec());
        logs.into_iter().flat_map(move |logs| {
            let of = |buffers: &usize| case(logs.clone(), readers, workers, *buffers);
            buffers.iter().map(of).collect::<Vec<_>>()
        })
    })
}

#[test]
fn every_interleaving_stores_every_block_in_order() {
    // A block is stored only after all blocks before it, so every run that ends has stored all of them in order.
    let mut moments = 0;
    for case in cases(3, 2, &[1, 2, 3, 4]).chain(cases(2, 3, &[1, 2, 5])) {
        let (stuck, seen) = explore(&case);
        assert!(stuck.is_none(), "{case:?} can't go on at\n{:?}", stuck.unwrap());
        moments += seen;
    }
    assert!(moments > 100_000, "{moments}");
}

#[test]
fn every_interleaving_ends_where_storing_fails() {
    for case in cases(2, 3, &[1, 2, 3]) {
        let case = Case { fails: true, ..case };
        let (stuck, _) = explore(&case);
        assert!(stuck.is_none(), "{case:?} can't go on at\n{:?}", stuck.unwrap());
    }
}

/// Takes minutes. The short version covers fewer cases.
#[test]
#[ignore = "long: .ci/long pipeline"]
fn every_interleaving_of_larger_cases_stores_every_block_in_order() {
    let (mut moments, mut count) = (0, 0);
    for case in cases(4, 3, &[1, 2, 4]) {
        let (stuck, seen) = explore(&case);
        assert!(stuck.is_none(), "{case:?} can't go on at\n{:?}", stuck.unwrap());
        moments += seen;
        count += 1;
    }
    println!("{count} cases, {moments} moments, none in which nothing can go on");
}

#[test]
fn buffer_lost_at_each_end_of_a_log_is_found() {
    // One log more than there are buffers.
    let whole = case(vec![1, 0, 1, 1], 1, 1, 3);
    assert!(explore(&whole).0.is_none());
    let (stuck, _) = explore(&Case { loses: true, ..whole });
    let stuck = stuck.unwrap();
    assert_eq!((stuck.lost, stuck.logs[3]), (3, ModelLog::Open), "{stuck:?}");
}

#[test]
fn buffers_all_held_by_later_turns_are_found() {
    let whole = case(vec![1, 2], 2, 2, 2);
    assert!(explore(&whole).0.is_none());
    let (stuck, _) = explore(&Case { greedy: true, ..whole });
    let stuck = stuck.unwrap();
    assert_eq!(stuck.blocks, [vec![ModelBlock::Unread], vec![ModelBlock::Waiting; 2]], "{stuck:?}");
}

#[test]
fn readers_that_wait_for_what_a_dead_channel_keeps_are_found() {
    let whole = Case { fails: true, ..case(vec![3], 1, 2, 1) };
    assert!(explore(&whole).0.is_none());
    let (stuck, _) = explore(&Case { stays_open: true, ..whole });
    let stuck = stuck.unwrap();
    assert_eq!((stuck.failed, stuck.lost, stuck.logs[0]), (true, 1, ModelLog::Open), "{stuck:?}");
}
