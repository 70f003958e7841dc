//! Numbers and booleans as logs write them: whole numbers and booleans of JMeter, and decimals as exact integers.

/// Parses a whole number. `None` for anything else, and if it does not fit.
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    // 19 digits stay below 2^64, so the value can't wrap before the last check.
    let mut value = 0u64;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    let value = i64::try_from(value).ok()?;
    Some(if negative { -value } else { value })
}

/// Parses a whole number that is written with a fraction of zero, as spreadsheets and data frames do: `1006.0`.
#[cold]
pub fn parse_whole_decimal(text: &[u8]) -> Option<i64> {
    let (whole, zeros) = text.split_at(memchr::memchr(b'.', text)?);
    let is_zero = zeros.len() > 1 && zeros.iter().skip(1).all(|digit| *digit == b'0');
    parse_i64(whole).filter(|_| is_zero)
}

/// Parses the whole number from `start` to `end` in a longer text, like [`parse_i64`].
///
/// Up to 8 digits are read in one step without branches: the numbers of a log vary in length, so a loop over their
/// digits would end at a point that the processor can't predict. The function is inlined wherever a column is read, so
/// that whatever is the same for the whole column is computed once.
#[inline(always)]
pub fn number_in(text: &[u8], start: usize, end: usize) -> Option<i64> {
    let length = end.wrapping_sub(start);
    match length.wrapping_sub(1) < 8 {
        true => last_digits(text, end, length).or_else(|| parse_i64(text.get(start..end)?)),
        false => long_number_in(text, start, end),
    }
}

/// Parses a number of more than 8 digits, such as a timeStamp. Up to 16 digits are read in two steps.
#[inline(never)]
fn long_number_in(text: &[u8], start: usize, end: usize) -> Option<i64> {
    let quick = match end.wrapping_sub(start) {
        length @ 9..=16 => last_digits(text, end - 8, length - 8).zip(last_digits(text, end, 8)),
        _ => None,
    };
    match quick {
        Some((high, low)) => Some(high * 100_000_000 + low),
        None => parse_i64(text.get(start..end)?),
    }
}

/// Parses the last `length` bytes (1 to 8) before `end`. `None` if one of them is no digit.
#[inline(always)]
fn last_digits(text: &[u8], end: usize, length: usize) -> Option<i64> {
    Digits::before(text, end, length)?.number()
}

/// The last bytes of eight, from one to all of them: a shift by a number that differs from field to field takes longer.
const LAST: [u64; 8] = [
    0xFF00_0000_0000_0000,
    0xFFFF_0000_0000_0000,
    0xFFFF_FF00_0000_0000,
    0xFFFF_FFFF_0000_0000,
    0xFFFF_FFFF_FF00_0000,
    0xFFFF_FFFF_FFFF_0000,
    0xFFFF_FFFF_FFFF_FF00,
    0xFFFF_FFFF_FFFF_FFFF,
];

/// Up to 8 digits, or other bytes in their places. Two values are equal exactly if they write the same number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digits(u64);

impl Digits {
    /// What is no number: its bytes are no digits.
    pub const NONE: Self = Self(u64::MAX);

    /// The bytes from `start` to `end` of a longer text. `None` if there are none or more than 8.
    #[inline(always)]
    pub fn of(text: &[u8], start: usize, end: usize) -> Option<Self> {
        Self::before(text, end, end.wrapping_sub(start))
    }

    /// The last `length` bytes before `end`. `None` if there are none or more than 8.
    #[inline(always)]
    fn before(text: &[u8], end: usize, length: usize) -> Option<Self> {
        let own = LAST.get(length.wrapping_sub(1))?;
        let eight = match end.checked_sub(8) {
            Some(before) => *text.get(before..end)?.first_chunk()?,
            None => begun(text.get(..end)?),
        };
        // The first digit is the lowest byte. Bytes before the number become leading zeros.
        Some(Self((u64::from_le_bytes(eight) ^ 0x3030_3030_3030_3030) & own))
    }

    /// The digits as bytes of 0 to 9, from the first in the lowest byte on, after leading zeros.
    #[inline(always)]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The digits at the beginning of eight bytes, and how many there are: 1 to 7, before another byte. `None` if there are
    /// others.
    #[inline(always)]
    pub fn leading(eight: [u8; 8]) -> Option<(Self, usize)> {
        let digits = u64::from_le_bytes(eight) ^ 0x3030_3030_3030_3030;
        // A carry from a byte that is no digit only reaches the bytes after it.
        let others = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
        let length = others.trailing_zeros() as usize / 8;
        let is_within = others != 0 && length > 0;
        is_within.then(|| (Self(digits << (64 - 8 * length)), length))
    }

    /// The eight digits that eight bytes are.
    #[inline(always)]
    pub fn eight(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes) ^ 0x3030_3030_3030_3030)
    }

    /// The number, or `None` if one of the bytes is no digit.
    #[inline(always)]
    pub fn number(self) -> Option<i64> {
        let Self(digits) = self;
        if (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 != 0 {
            return None;
        }
        // Neighbours are combined: digits to numbers below 100, these to numbers below 10,000, and these to the whole.
        let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
        let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
        let whole = (fours & 0xFFFF) * 10_000 + (fours >> 32);
        Some(whole as i64)
    }
}

/// The first bytes of a text, fewer than eight, preceded by bytes of any kind.
#[cold]
fn begun(text: &[u8]) -> [u8; 8] {
    let mut eight = [0; 8];
    eight.iter_mut().rev().zip(text.iter().rev()).for_each(|(into, from)| *into = *from);
    eight
}

/// Parses `true` or `false` as JMeter writes them. There is no branch between the two: where requests fail at random, no
/// processor can foresee it.
#[inline]
pub fn plain_bool(text: &[u8]) -> Option<bool> {
    let first = text.first_chunk::<4>()?;
    let is_true = (text.len() == 4) & (first == b"true");
    let is_false = (text.len() == 5) & (first == b"fals") & (text.last() == Some(&b'e'));
    (is_true | is_false).then_some(is_true)
}

/// Parses `true` or `false` in any case.
#[inline]
pub fn parse_bool(text: &[u8]) -> Option<bool> {
    let (is_true, is_false) = (text.eq_ignore_ascii_case(b"true"), text.eq_ignore_ascii_case(b"false"));
    (is_true | is_false).then_some(is_true)
}

/// Reads a decimal number as a whole number of its `digits`th decimals; what is beyond them is rounded to the nearest. An
/// exponent is allowed, as JSON has them.
pub fn decimal(text: &[u8], digits: usize) -> Option<i64> {
    let (negative, unsigned) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    // The number of decimals so far, from the point on.
    let mut decimals = None;
    let (mut number, mut rounds_up) = (0_i64, false);
    for byte in unsigned {
        match (byte, decimals) {
            (b'0'..=b'9', Some(at)) if at >= digits => {
                rounds_up |= at == digits && *byte >= b'5';
                decimals = Some(at + 1);
            }
            (b'0'..=b'9', _) => {
                number = number.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
                decimals = decimals.map(|at| at + 1);
            }
            (b'.', None) => decimals = Some(0),
            (b'e' | b'E', _) => return with_exponent(text, digits),
            _ => return None,
        }
    }
    if !unsigned.first()?.is_ascii_digit() {
        return None;
    }
    for _ in decimals.unwrap_or(0)..digits {
        number = number.checked_mul(10)?;
    }
    number = number.checked_add(i64::from(rounds_up))?;
    Some(if negative { -number } else { number })
}

/// Reads a number with an exponent, which few have.
#[cold]
fn with_exponent(text: &[u8], digits: usize) -> Option<i64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let scaled = number * 10f64.powi(i32::try_from(digits).ok()?);
    (scaled.abs() < 9e15).then(|| scaled.round() as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn leading_digits_are_a_number_before_another_byte(digits in "[0-9]{0,8}", rest: [u8; 8]) {
            let mut eight = [0; 8];
            let text = [digits.as_bytes(), &rest].concat();
            eight.copy_from_slice(&text[..8]);
            let length = eight.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let expected = parse_i64(&text[..length]).filter(|_| length < 8).map(|number| (number, length));
            let found = Digits::leading(eight).map(|(digits, length)| (digits.number().unwrap(), length));
            prop_assert_eq!(found, expected);
            prop_assert_eq!(Digits::eight(eight).number(), parse_i64(&eight).filter(|_| length == 8));
        }
    }

    #[test]
    fn other_notations_are_refused() {
        for text in ["", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "٣", "9223372036854775808", "--1"] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse_i64(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!((parse_i64(b"-7"), parse_i64(b"-0")), (Some(-7), Some(0)));
        assert_eq!(
            (parse_bool(b"TRUE"), parse_bool(b"False"), parse_bool(b"1")),
            (Some(true), Some(false), None)
        );
    }

    proptest! {
        #[test]
        fn reads_what_the_standard_library_writes(number in any::<i64>()) {
            // i64::MIN is excluded: its 19 digits without the sign do not fit.
            prop_assume!(number != i64::MIN);
            prop_assert_eq!(parse_i64(number.to_string().as_bytes()), Some(number));
        }

        #[test]
        fn plain_verdicts_are_those_that_are_written_so(text in "true|false|[tT][a-u]{2,4}[eE]|[a-u]{0,6}") {
            let expected = parse_bool(text.as_bytes()).filter(|_| text == "true" || text == "false");
            prop_assert_eq!(plain_bool(text.as_bytes()), expected);
        }

        #[test]
        fn number_within_a_text_is_read_as_alone(
            before in "[0-9,x]{0,12}", number in "-?[0-9]{0,20}|[0-9x:/ ]{0,18}", after in "[0-9,x]{0,9}",
        ) {
            let text = format!("{before}{number}{after}");
            let end = before.len() + number.len();
            prop_assert_eq!(number_in(text.as_bytes(), before.len(), end), parse_i64(number.as_bytes()));
        }

        #[test]
        fn any_byte_among_digits_is_refused(number in "[0-9]{1,16}", at in any::<prop::sample::Index>(), byte: u8) {
            let mut text = [b"00000000", number.as_bytes()].concat();
            let at = 8 + at.index(number.len());
            text[at] = byte;
            prop_assert_eq!(number_in(&text, 8, text.len()), parse_i64(&text[8..]));
        }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal(b"5.659717", 6), Some(5_659_717));
        assert_eq!(
            (decimal(b"0.0263", 9), decimal(b"7", 3), decimal(b"-1.5", 1)),
            (Some(26_300_000), Some(7000), Some(-15))
        );
        assert_eq!((decimal(b"1.25", 1), decimal(b"1.24999", 1)), (Some(13), Some(12)));
        assert_eq!((decimal(b"1e-05", 6), decimal(b"2.5E3", 0)), (Some(10), Some(2500)));
        for wrong in ["", ".5", "1.2.3", "soon", "1,5", "--1", "99999999999999999999", "1e400", "1e"] {
            assert_eq!(decimal(wrong.as_bytes(), 3), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn decimals_are_those_of_the_standard_library(number in -1_000_000_000_i64..1_000_000_000) {
            let text = format!("{:.3}", number as f64 / 1000.0);
            prop_assert_eq!(decimal(text.as_bytes(), 3), Some(number));
        }
    }
}
