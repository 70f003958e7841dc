//! Tables as HTML.

use perfpipe_analyze::{Column, Table, Value};

use crate::svg::escaped;

/// A table whose cells carry their exact values, by which they are sorted.
pub(super) fn of(table: &Table) -> String {
    let heading =
        |column: &Column| format!("<th{} scope=\"col\">{}</th>", class(column), escaped(&column.heading()));
    let headings: String = table.columns().iter().map(heading).collect();
    let row = |row: usize| {
        let cells = table.columns().iter().zip(0..).map(|(column, at)| cell(column, &table.value(row, at)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = (0..table.len()).map(row).collect();
    format!(
        "<div class=\"wide\"><table>\n<thead><tr>{headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn class(column: &Column) -> &'static str {
    if column.is_number() { " class=\"number\"" } else { "" }
}

fn cell(column: &Column, value: &Value<'_>) -> String {
    let exact = match value {
        Value::Absent => " data-value=\"\"".to_owned(),
        Value::U64(number) => format!(" data-value=\"{number}\""),
        Value::I64(number) => format!(" data-value=\"{number}\""),
        Value::F64(number) => format!(" data-value=\"{number}\""),
        Value::Text(_) | Value::Bool(_) => String::new(),
    };
    format!("<td{}{exact}>{}</td>", class(column), escaped(&column.shown(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_cell_is_taken_for_html() {
        let rows = [("<script>alert(\"x\")</script>&\u{1}", Some(1234.56)), ("b", None)];
        let table = Table::of(&rows)
            .column("<name>", |row| Some(row.0.to_owned()))
            .column("mean", |row| row.1)
            .unit("ms", 1)
            .done();
        let html = of(&table);
        assert!(html.contains(
            "<th scope=\"col\">&lt;name&gt;</th><th class=\"number\" scope=\"col\">mean (ms)</th>"
        ));
        assert!(
            html.contains("<td>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;\\u{1}</td>"),
            "{html}"
        );
        assert!(html.contains("<td class=\"number\" data-value=\"1234.56\">1,234.6</td>"), "{html}");
        assert!(html.contains("<td class=\"number\" data-value=\"\">-</td>"), "{html}");
    }
}
