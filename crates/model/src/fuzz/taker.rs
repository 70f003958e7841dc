//! Takes values out of a fuzzer's bytes. Beyond their end all values are zero, empty or absent.

/// The remaining bytes.
pub struct Taker<'a>(&'a [u8]);

impl<'a> Taker<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all remaining bytes.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// Takes the bytes of a number.
    pub fn number<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = self.take(N);
        bytes[..taken.len()].copy_from_slice(taken);
        bytes
    }

    pub fn i32(&mut self) -> i32 {
        i32::from_le_bytes(self.number())
    }

    pub fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.number())
    }

    pub fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| value(self))
    }

    /// Takes up to 255 bytes.
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = self.byte();
        self.take(length.into())
    }

    /// Takes a text of up to 255 bytes. Invalid UTF-8 is replaced.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Takes a list, whose length is the next byte.
    pub fn list<T>(&mut self, mut value: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.byte()).map_while(|_| (!self.is_empty()).then(|| value(self))).collect()
    }
}
