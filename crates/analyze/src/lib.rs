//! Exact statistics of a stored run: the per-second table, summaries and league tables.

mod timeline;
mod view;

pub use timeline::{Second, Summary, Timeline};
pub use view::View;
