//! Integers in as few bytes as they need (LEB128).

/// Appends a number as LEB128.
pub fn unsigned(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number in LEB128 from the front of `bytes` and advances them. `None` if it has no end within ten bytes, or
/// more than 64 bits.
pub fn read_unsigned(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Appends a number with zigzag encoding, so that small numbers of either sign stay short.
pub fn signed(out: &mut Vec<u8>, number: i64) {
    unsigned(out, ((number << 1) ^ (number >> 63)) as u64);
}

/// Reads what [`signed`] appended, as [`read_unsigned`] does.
pub fn read_signed(bytes: &mut &[u8]) -> Option<i64> {
    read_unsigned(bytes).map(unfolded)
}

/// Reverses the zigzag encoding of [`signed`].
pub fn unfolded(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> Option<u64> {
        read_unsigned(&mut bytes)
    }

    #[test]
    fn largest_number_takes_ten_bytes() {
        for number in [0, 0x7f, 0x80, u64::MAX >> 1, u64::MAX] {
            let mut bytes = Vec::new();
            unsigned(&mut bytes, number);
            assert_eq!(read(&bytes), Some(number));
        }
    }

    #[test]
    fn number_of_more_than_64_bits_is_refused() {
        let with_last = |last: u8| [vec![0xff; 9], vec![last]].concat();
        assert_eq!(read(&with_last(0x01)), Some(u64::MAX));
        for last in [0x02, 0x03, 0x7e, 0x7f, 0x80, 0x81] {
            assert_eq!(read(&with_last(last)), None, "{last:#x}");
        }
        assert_eq!(read(&[0x80; 3]), None, "a number without its end");
    }
}
