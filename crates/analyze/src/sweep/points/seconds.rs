//! The table of points by second, of those that have counts by second.

use perfpipe_ingest::points::{Point, PointKey, PointSecond};

use crate::table::Table;

/// Makes a table with a row for each second of each point. Points without counts by second have no rows.
///
/// ```
/// use perfpipe_analyze::points::point_second_table;
/// use perfpipe_analyze::table::Format;
///
/// let mut csv = Vec::new();
/// point_second_table(&[]).write(Format::Csv, &mut csv)?;
/// assert_eq!(csv, b"tool,framework,test,concurrency,workers,repeat,clock,requests,successes,failures\n");
/// # Ok::<(), perfpipe_analyze::Error>(())
/// ```
pub fn point_second_table(points: &[Point]) -> Table {
    let seconds =
        points.iter().flat_map(|point| point.figures.by_second.iter().map(|second| (&point.key, *second)));
    let rows: Vec<(&PointKey, PointSecond)> = seconds.collect();
    Table::of(&rows)
        .column("tool", |(key, _)| Some(key.tool.clone()))
        .column("framework", |(key, _)| Some(key.framework.clone()))
        .column("test", |(key, _)| Some(key.test.clone()))
        .column("concurrency", |(key, _)| key.concurrency.map(u64::from))
        .column("workers", |(key, _)| key.workers.map(u64::from))
        .people_see(rows.iter().any(|(key, _)| key.workers.is_some()))
        .column("repeat", |(key, _)| Some(u64::from(key.repeat)))
        .column("clock", |(_, second)| Some(second.clock))
        .column("requests", |(_, second)| Some(second.requests))
        .column("successes", |(_, second)| Some(second.successes()))
        .column("failures", |(_, second)| Some(second.failures))
        .done()
}
