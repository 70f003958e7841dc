//! Damaged files in words.

use perfpipe_ingest::Damage;

use crate::table::thousands;

/// What is wrong with a file of a partial run, and how much of it was read, as a sentence without its full stop.
///
/// ```
/// use perfpipe_ingest::Damage;
///
/// let damage = Damage {
///     file: "run.zip".into(),
///     problem: "the zip's directory is missing".into(),
///     bytes: 1318,
///     records: 12,
///     ..Damage::default()
/// };
/// let told = perfpipe_analyze::damage_sentence(&damage);
/// assert_eq!(told, "run.zip: the zip's directory is missing; 12 records could be read (1,318 bytes)");
/// ```
pub fn damage_sentence(damage: &Damage) -> String {
    format!("{damage}; {}", damage_read(damage))
}

/// How much of a damaged file was read, as in `12 records could be read (1,318 bytes)`.
pub fn damage_read(damage: &Damage) -> String {
    let packed = match (damage.packed_read, damage.packed_of) {
        (Some(read), Some(of)) => format!(", from {} of {} packed ones", thousands(read), thousands(of)),
        (Some(read), None) => format!(", from {} packed ones", thousands(read)),
        (None, _) => String::new(),
    };
    let (records, bytes) = (thousands(damage.records), thousands(damage.bytes));
    format!("{records} records could be read ({bytes} bytes{packed})")
}
