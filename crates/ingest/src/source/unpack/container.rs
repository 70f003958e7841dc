//! Recognises the container format (zip, gzip, Zstandard or none) of a file by its first bytes.

/// The container format of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    /// A zip with any number of members.
    Zip,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// Not packed, or packed in a format that is not recognised.
    Plain,
}

/// The number of leading bytes that [`Container::of`] needs.
pub(crate) const MAGIC: usize = 4;

impl Container {
    /// Returns the container format of data that begins with `head`.
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// Returns the name of the format, as it appears in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Plain => "plain",
        }
    }

    /// Returns a note for the user if the extension of `file_name` suggests another format.
    pub(crate) fn misnamed(self, file_name: &str) -> Option<String> {
        let extension = file_name.rsplit_once('.')?.1.to_ascii_lowercase();
        let named = match extension.as_str() {
            "zip" => Self::Zip,
            "gz" => Self::Gzip,
            "zst" => Self::Zstd,
            _ => return None,
        };
        let is = match self {
            Self::Zip => "a zip",
            Self::Gzip => "a gzip file",
            Self::Zstd => "a zstd file",
            Self::Plain => "not packed",
        };
        (named != self).then(|| {
            format!(
                "{file_name} is {is}, although its name says otherwise; it is read \
                                         by its content"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_misleads_is_noted() {
        assert!(Container::Gzip.misnamed("a.csv.ZIP").is_some_and(|note| note.contains("a gzip file")));
        assert_eq!(Container::Zip.misnamed("a.zip"), None);
        assert_eq!(Container::Gzip.misnamed("a.csv"), None);
        assert_eq!(Container::Gzip.misnamed("zip"), None);
    }
}
