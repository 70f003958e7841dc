//! The worst shapes of input for each parser: four times as much of one takes no more than four times as many steps.
//!
//! To add a parser, let it call [`count`](crate::work_count::count) for what it reads, and call [`check`] in a test of
//! its own for each of its worst shapes: quotes and brackets that are never closed, parts within each other, one endless
//! line, a beginning again and again, names that all differ, the reversed order. `make` returns an input of about that many
//! bytes, and `parse` reads it on the calling thread. Memory has tests in `crates/cli/tests/memory`.

#[cfg(test)]
mod jtl;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod summaries;

use super::work_count;

/// The sizes of the inputs, in bytes. Steps are counted exactly, so that no larger ones are needed to see what grows faster.
const SIZES: [usize; 3] = [1 << 15, 1 << 16, 1 << 17];

/// The most steps that a byte may take, and so many that they are no linear time for sure: fewer may be because of what is
/// done once in a block.
const MOST_STEPS: u64 = 2000;
const MANY_STEPS: u64 = 64;

/// Checks that parsing takes linear time, counted by steps.
pub fn check(name: &str, make: impl Fn(usize) -> Vec<u8>, parse: impl Fn(&[u8])) {
    let [one, two, four] = SIZES.map(|size| {
        let input = make(size);
        assert!(input.len() <= size + (1 << 16), "{name}: {} bytes instead of {size}", input.len());
        let steps = work_count::of(|| parse(&input));
        assert!(steps <= MOST_STEPS * size as u64, "{name}: {steps} steps for {size} bytes");
        steps
    });
    assert!(one > 0, "{name}: no steps are counted");
    let is_linear = four <= one * 4 + one / 2 && two <= one * 2 + one / 4;
    assert!(
        is_linear || four <= MANY_STEPS * SIZES[2] as u64,
        "{name}: {one} steps for {} bytes, {two} for twice, and {four} for four times as many",
        SIZES[0]
    );
}

/// Repeats a text up to this many bytes.
pub fn repeated(text: &str, size: usize) -> Vec<u8> {
    text.repeat(size / text.len().max(1)).into_bytes()
}

/// Writes a text for each number up to this many bytes.
pub fn numbered(size: usize, mut text: impl FnMut(u64) -> String) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size);
    for number in 0.. {
        let next = text(number);
        if bytes.len() + next.len() > size {
            break;
        }
        bytes.extend_from_slice(next.as_bytes());
    }
    bytes
}

/// Puts a text before a shape.
pub fn behind(beginning: &str, shape: impl Fn(usize) -> Vec<u8>) -> impl Fn(usize) -> Vec<u8> {
    move |size| [beginning.as_bytes(), &shape(size)].concat()
}

#[test]
fn quadratic_work_is_noticed() {
    let quadratic = std::panic::catch_unwind(|| {
        let lines = |size| repeated("line\n", size / 8);
        check("quadratic", lines, |input| {
            for (at, _) in input.iter().enumerate() {
                work_count::count(input.len() - at);
            }
        });
    });
    assert!(quadratic.is_err());
    check("linear", |size| repeated("line\n", size), |input| work_count::count(input.len()));
}
