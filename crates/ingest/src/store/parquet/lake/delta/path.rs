//! The paths of files in a table. polars takes the values of a table's columns from them, all others from the log.

use super::columns::PARTITIONS;
use crate::run::key::RunKey;

/// The longest value in a path, in bytes; longer ones are cut and end in a hash.
const LONGEST: usize = 200;

/// Returns the path of a file of a generation. The run's key may not be known yet when it is written.
pub(in crate::store::parquet::lake) fn path_of(generation: &str, file: &str) -> String {
    format!("generation={generation}/{file}")
}

/// Returns the path of the row of a generation of a run.
pub(in crate::store::parquet::lake) fn row_of(key: &RunKey, generation: &str, file: &str) -> String {
    let values = [&*key.framework, &*key.test, &*key.repeat.to_string(), generation].map(encoded);
    let folders = PARTITIONS.iter().zip(values).map(|((name, _), value)| format!("{name}={value}/"));
    format!("{}{file}", folders.collect::<String>())
}

/// Encodes what is not safe in a path.
fn encoded(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => text.push(byte as char),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    if text.len() > LONGEST {
        let hash = crc32fast::hash(text.as_bytes());
        text.truncate(LONGEST - 20);
        text.push_str(&format!("~{hash:08x}"));
    }
    text
}

/// Returns a path as the log has it: a URL.
pub(super) fn in_log(path: &str) -> String {
    path.replace('%', "%25")
}

/// Returns the generation that a path is of; nothing if it is of none.
pub(super) fn generation_of(path: &str) -> &str {
    path.split('/').find_map(|part| part.strip_prefix("generation=")).unwrap_or_default()
}
