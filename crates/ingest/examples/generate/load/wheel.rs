//! The simulation's timer wheel: threads by the millisecond in which they act next.

/// The milliseconds of one turn. Later events wait for a later turn.
const TURN: usize = 4096;

pub(super) struct Wheel {
    slots: Vec<Vec<(i64, u32)>>,
    /// The threads that are due now.
    ready: Vec<u32>,
    now: i64,
    waiting: usize,
}

impl Wheel {
    pub(super) fn new() -> Self {
        Self { slots: vec![Vec::new(); TURN], ready: Vec::new(), now: 0, waiting: 0 }
    }

    /// Wakes a thread at a time in ms, or at once if that has passed.
    #[inline]
    pub(super) fn wake(&mut self, thread: u32, at: i64) {
        if at <= self.now {
            self.ready.push(thread);
        } else {
            self.slots[at as usize % TURN].push((at, thread));
            self.waiting += 1;
        }
    }

    /// Returns the next thread and its time, or `None` if none is left.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(i64, u32)> {
        loop {
            if let Some(thread) = self.ready.pop() {
                return Some((self.now, thread));
            }
            if self.waiting == 0 {
                return None;
            }
            self.turn();
        }
    }

    fn turn(&mut self) {
        self.now += 1;
        let (now, ready) = (self.now, &mut self.ready);
        self.slots[now as usize % TURN].retain(|&(at, thread)| {
            if at == now {
                ready.push(thread);
            }
            at != now
        });
        self.waiting -= self.ready.len();
    }
}
