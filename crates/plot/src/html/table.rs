//! Tables as HTML.

use perfpipe_analyze::table::{Column, Interval, Table, Value};

use crate::output::svg::escaped;

/// Columns in which higher is better, so that a first click sorts them in descending order.
const MORE_IS_BETTER: [&str; 14] = [
    "throughput",
    "repeats",
    "cpu_coverage",
    "requests_per_cpu_second",
    "load_max",
    "requests",
    "successes",
    "count",
    "share",
    "seconds",
    "within",
    "apdex",
    "passed",
    "knee",
];

/// Returns a table whose cells contain their exact values for sorting, and the names of their columns for narrow screens.
pub(super) fn table(class: &str, table: &Table) -> String {
    let columns = table.columns().iter().enumerate().filter(|(_, column)| column.is_shown());
    let columns: Vec<(usize, &Column)> = columns.collect();
    let headings: String = columns.iter().map(|(_, column)| heading(column)).collect();
    let cell = |row: usize| {
        move |(at, column): &(usize, &Column)| {
            let value = table.value(row, *at);
            let (text, name) = (escaped(&column.shown(&value)), escaped(&column.heading()));
            format!("<td{}{} data-column=\"{name}\">{text}</td>", class_of(column), exact(&value))
        }
    };
    let row = |row: usize| format!("<tr>{}</tr>\n", columns.iter().map(cell(row)).collect::<String>());
    let rows: String = (0..table.len()).map(row).collect();
    format!(
        "<table class=\"{class}\">\n<thead><tr>{headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )
}

fn heading(column: &Column) -> String {
    let more = MORE_IS_BETTER.iter().any(|name| column.name().starts_with(name));
    let best = if more { "descending" } else { "ascending" };
    format!("<th{} scope=\"col\" data-best=\"{best}\">{}</th>", class_of(column), escaped(&column.heading()))
}

fn class_of(column: &Column) -> &'static str {
    if column.is_number() { " class=\"number\"" } else { "" }
}

fn exact(value: &Value<'_>) -> String {
    match value {
        Value::Absent => " data-value=\"\"".to_owned(),
        Value::U64(number) | Value::Interval(Interval { low: number, .. }) => {
            format!(" data-value=\"{number}\"")
        }
        Value::I64(number) => format!(" data-value=\"{number}\""),
        Value::F64(number) => format!(" data-value=\"{number}\""),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_cell_is_never_html() {
        let rows = [("<script>alert(\"x\")</script>&\u{1}", Some(1234.56)), ("b", None)];
        let table = Table::of(&rows)
            .column("<name>", |row| Some(row.0.to_owned()))
            .column("throughput", |row| row.1)
            .unit("ms", 1)
            .done();
        let html = super::table("x", &table);
        for part in [
            "<th scope=\"col\" data-best=\"ascending\">&lt;name&gt;</th>",
            "<th class=\"number\" scope=\"col\" data-best=\"descending\">throughput (ms)</th>",
            ">&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;\\u{1}</td>",
            "data-value=\"1234.56\" data-column=\"throughput (ms)\">1,234.6</td>",
            "data-value=\"\" data-column=\"throughput (ms)\">-</td>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
