//! Reserved names, and how a log's own names are kept distinct from them.

use std::borrow::Cow;

/// The label of the cell that all labels beyond [`LABEL_LIMIT`](crate::counts::LABEL_LIMIT) share. A log's own label of
/// the same text is [renamed](set_apart).
pub const OTHER: &str = "(other)";

/// Suffix added to a log's own name that equals a reserved one.
const AS_LOGGED: &str = " (as logged)";

/// Renames `name` if it equals the `reserved` name, by appending ` (as logged)`.
///
/// A name that already consists of the reserved name and such suffixes gets one more, so different names stay different
/// and none equals the reserved one. All other names are returned unchanged.
///
/// ```
/// # extern crate perfpipe_model as perfpipe_ingest;
/// use perfpipe_ingest::counts::set_apart;
///
/// assert_eq!(set_apart("Totals", "Total"), "Totals");
/// assert_eq!(set_apart("Total", "Total"), "Total (as logged)");
/// assert_eq!(set_apart("Total (as logged)", "Total"), "Total (as logged) (as logged)");
/// ```
pub fn set_apart<'a>(name: &'a str, reserved: &str) -> Cow<'a, str> {
    let Some(mut behind) = name.strip_prefix(reserved) else { return name.into() };
    while let Some(rest) = behind.strip_prefix(AS_LOGGED) {
        behind = rest;
    }
    if behind.is_empty() { format!("{name}{AS_LOGGED}").into() } else { name.into() }
}
