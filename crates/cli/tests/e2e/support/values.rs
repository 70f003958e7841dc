//! Values of the JSON and CSV that commands write.

use serde_json::Value;

/// A text of a JSON object.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_else(|| panic!("no text {name} in {object}"))
}

/// A whole number of a JSON object.
pub(crate) fn count(object: &Value, name: &str) -> i64 {
    object[name].as_i64().unwrap_or_else(|| panic!("no whole number {name} in {object}"))
}

/// The rows of a CSV with a header, each as its fields by name.
pub(crate) fn rows(csv_text: &str) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_reader(csv_text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// The fields of a CSV's first line.
pub(crate) fn header(csv_text: &str) -> &str {
    csv_text.lines().next().unwrap()
}
