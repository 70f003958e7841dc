//! Tables as HTML.

use perfpipe_analyze::table::{Column, Table, Value};

use crate::output::svg::escaped;

/// Columns that are shown in another column, in small print beneath its values.
pub(super) struct Beneath {
    /// The name of the other column.
    pub(super) column: &'static str,
    /// The names of the columns beneath it.
    pub(super) names: &'static [&'static str],
    /// The text beneath the other column's heading.
    pub(super) heading: &'static str,
    /// The text before the values.
    pub(super) before: &'static str,
}

impl Beneath {
    /// Returns the text beneath a value; empty if none of the columns is shown.
    fn of(&self, table: &Table, row: usize) -> String {
        let value = |(at, column): (usize, &Column)| column.shown(&table.value(row, at));
        let values: Vec<String> = self.columns(table).map(value).collect();
        if values.is_empty() { String::new() } else { small(self.before, &values.join(" – ")) }
    }

    fn heading(&self, table: &Table) -> String {
        if self.columns(table).next().is_some() { small("", self.heading) } else { String::new() }
    }

    fn columns<'a>(&self, table: &'a Table) -> impl Iterator<Item = (usize, &'a Column)> {
        let names = self.names;
        let columns = table.columns().iter().enumerate();
        columns.filter(move |(_, column)| column.is_shown() && names.contains(&column.name()))
    }
}

fn small(before: &str, text: &str) -> String {
    format!("<small>{before}{}</small>", escaped(text))
}

/// Returns a table whose cells contain their exact values for sorting.
pub(super) fn of(table: &Table) -> String {
    folded(table, &[])
}

/// Returns a table like [`of`], with some columns shown beneath others.
pub(super) fn folded(table: &Table, beneath: &[Beneath]) -> String {
    let stands_beneath = |column: &Column| beneath.iter().any(|one| one.names.contains(&column.name()));
    let shown = |(_, column): &(usize, &Column)| column.is_shown() && !stands_beneath(column);
    let columns: Vec<(usize, &Column)> = table.columns().iter().enumerate().filter(shown).collect();
    let below = |column: &Column| beneath.iter().find(|one| one.column == column.name());
    let heading = |(_, column): &(usize, &Column)| {
        let (class, text) = (class(column), escaped(&column.heading()));
        let below = below(column).map(|below| below.heading(table)).unwrap_or_default();
        format!("<th{class} scope=\"col\">{text}{below}</th>")
    };
    let headings: String = columns.iter().map(heading).collect();
    let row = |row: usize| {
        let cells = columns.iter().map(|(at, column)| {
            let below = below(column).map(|below| below.of(table, row)).unwrap_or_default();
            cell(column, &table.value(row, *at), &below)
        });
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

fn cell(column: &Column, value: &Value<'_>, beneath: &str) -> String {
    let exact = match value {
        Value::Absent => " data-value=\"\"".to_owned(),
        Value::U64(number) => format!(" data-value=\"{number}\""),
        Value::I64(number) => format!(" data-value=\"{number}\""),
        Value::F64(number) => format!(" data-value=\"{number}\""),
        _ => String::new(),
    };
    format!("<td{}{exact}>{}{beneath}</td>", class(column), escaped(&column.shown(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_beneath_another_where_people_see_them() {
        let beneath =
            Beneath { column: "mean", names: &["min", "max"], heading: "least – greatest", before: "" };
        let html = |seen| {
            let table = Table::of(&[(2.0, 1.0, 3.0)])
                .column("mean", |row| Some(row.0))
                .unit("ms", 1)
                .column("min", |row| Some(row.1))
                .unit("ms", 1)
                .people_see(seen)
                .column("max", |row| Some(row.2))
                .unit("ms", 1)
                .people_see(seen)
                .done();
            folded(&table, std::slice::from_ref(&beneath))
        };
        let heading =
            "<tr><th class=\"number\" scope=\"col\">mean (ms)<small>least – greatest</small></th></tr>";
        let cell = "<tr><td class=\"number\" data-value=\"2\">2.0<small>1.0 – 3.0</small></td></tr>";
        assert!(html(true).contains(heading) && html(true).contains(cell), "{}", html(true));
        assert!(
            !html(false).contains("<small>") && html(false).contains(">2.0</td></tr>"),
            "{}",
            html(false)
        );
    }

    #[test]
    fn text_of_a_cell_is_never_html() {
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
