//! Lines by their places.

/// The line at a place, without spaces around it.
pub(crate) fn line_at<'a>(lines: &[&'a str], at: usize) -> &'a str {
    lines.get(at).map(|line| line.trim()).unwrap_or_default()
}
