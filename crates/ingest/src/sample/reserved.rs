//! Names of a log's own that read like one that has a meaning here, set apart from it.

use std::borrow::Cow;

/// The label of the cell that all labels beyond [`LABEL_LIMIT`](crate::LABEL_LIMIT) share. A label of the log's own that reads so is
/// [set apart](crate::set_apart) from it.
pub const OTHER: &str = "(other)";

/// What stands behind a log's own name that would read like a reserved one.
const AS_LOGGED: &str = " (as logged)";

/// A name as it is where it is not `reserved`, which means something else here; such a one, and those that this makes,
/// get ` (as logged)` behind them: different names stay different, and none is the reserved one.
///
/// ```
/// use perfpipe_ingest::set_apart;
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
