//! The exported functions. A page reserves memory, writes a question there, and reads the answer where it is.
#![allow(
    unsafe_code,
    reason = "WebAssembly passes addresses, and there is no other way to write and read there"
)]

/// Reserves memory for a question of `length` bytes, and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// Answers the question that was written to reserved memory, and frees that. Returns the address of the answer in the upper
/// half, and its length in the lower half.
///
/// # Safety
/// `question` must be what [`reserve`] returned for `length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn compare(question: *mut u8, length: usize) -> u64 {
    // SAFETY: it was a box of this length, and nobody else has it.
    let question = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(question, length)) };
    let answer = crate::answer(&question).into_bytes().into_boxed_slice();
    let length = answer.len() as u64;
    ((Box::into_raw(answer).cast::<u8>() as usize as u64) << 32) | length
}

/// Frees an answer.
///
/// # Safety
/// `answer` and `length` must be those that [`compare`] returned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(answer: *mut u8, length: usize) {
    // SAFETY: it was a box of this length, and nobody else has it.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, length)) });
}
