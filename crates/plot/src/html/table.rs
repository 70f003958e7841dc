//! Tables as HTML.

use perfpipe_analyze::table::{Column, Interval, Table, TableBuilder, Value};

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

/// How a table is shown.
pub(super) struct TableLook<'a> {
    pub(super) beneath: &'a [Beneath],
    /// The names of columns that are left out.
    pub(super) without: &'a [&'a str],
    /// Changes a cell's content, given the column's name, the row and the escaped text.
    pub(super) content: &'a dyn Fn(&str, usize, String) -> String,
    /// Returns the class of a row.
    pub(super) row: &'a dyn Fn(usize) -> &'static str,
    /// True if the last row is a total, which stays below the others.
    pub(super) total: bool,
}

impl Default for TableLook<'_> {
    fn default() -> Self {
        Self { beneath: &[], without: &[], content: &|_, _, text| text, row: &|_| "", total: false }
    }
}

impl Beneath {
    /// Returns the text beneath a value; empty if none of the columns is shown or has a value.
    fn of(&self, table: &Table, row: usize) -> String {
        let present = |(at, _): &(usize, &Column)| table.value(row, *at) != Value::Absent;
        let value = |(at, column): (usize, &Column)| column.shown(&table.value(row, at));
        let values: Vec<String> = self.columns(table).filter(present).map(value).collect();
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

impl TableLook<'_> {
    /// Returns a table whose cells contain their exact values for sorting, and the names of their columns for narrow
    /// screens.
    pub(super) fn table(&self, class: &str, table: &Table) -> String {
        let stands_beneath =
            |column: &Column| self.beneath.iter().any(|one| one.names.contains(&column.name()));
        let is_shown = |(_, column): &(usize, &Column)| {
            column.is_shown() && !stands_beneath(column) && !self.without.contains(&column.name())
        };
        let columns: Vec<(usize, &Column)> = table.columns().iter().enumerate().filter(is_shown).collect();
        let headings: String = columns.iter().map(|(_, column)| self.heading(table, column)).collect();
        let rows: Vec<String> = (0..table.len()).map(|row| self.row(table, &columns, row)).collect();
        let (body, foot) = rows.split_at(rows.len() - usize::from(self.total && !rows.is_empty()));
        let foot =
            if foot.is_empty() { String::new() } else { format!("<tfoot>\n{}</tfoot>\n", foot.concat()) };
        format!(
            "<table class=\"{class}\">\n<thead><tr>{headings}</tr></thead>\n<tbody>\n{}</tbody>\n{foot}</table>\n",
            body.concat()
        )
    }

    fn heading(&self, table: &Table, column: &Column) -> String {
        let below = self.below(column).map(|below| below.heading(table)).unwrap_or_default();
        let more = MORE_IS_BETTER.iter().any(|name| column.name().starts_with(name));
        let best = if more { "descending" } else { "ascending" };
        let text = escaped(&column.heading());
        format!("<th{} scope=\"col\" data-best=\"{best}\">{text}{below}</th>", class(column))
    }

    fn row(&self, table: &Table, columns: &[(usize, &Column)], row: usize) -> String {
        let cells = columns.iter().map(|(at, column)| {
            let below = self.below(column).map(|below| below.of(table, row)).unwrap_or_default();
            let value = table.value(row, *at);
            let text = (self.content)(column.name(), row, escaped(&column.shown(&value)));
            let (class, exact, name) = (class(column), exact(&value), escaped(&column.heading()));
            format!("<td{class}{exact} data-column=\"{name}\">{text}{below}</td>")
        });
        let class = match (self.row)(row) {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        format!("<tr{class}>{}</tr>\n", cells.collect::<String>())
    }

    fn below(&self, column: &Column) -> Option<&Beneath> {
        self.beneath.iter().find(|one| one.column == column.name())
    }
}

/// Returns a heading within a run. It names the run, for tables that are printed on a sheet of their own.
pub(super) fn heading(title: &str, text: &str) -> String {
    format!("<h4><span class=\"run-name\">{title}: </span>{text}</h4>\n")
}

/// Adds the columns of mean and percentiles.
pub(super) fn times<R>(
    table: TableBuilder<'_, R>,
    of: impl Fn(&R) -> [Option<f64>; 4] + Copy,
) -> TableBuilder<'_, R> {
    ["mean", "p50", "p95", "p99"].into_iter().enumerate().fold(table, |table, (at, name)| {
        table.column(name, |row| of(row).get(at).copied().flatten()).unit("ms", 1)
    })
}

fn class(column: &Column) -> &'static str {
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
    fn columns_stand_beneath_another_where_people_see_them() {
        let beneath =
            [Beneath { column: "mean", names: &["min", "max"], heading: "least – greatest", before: "" }];
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
            TableLook { beneath: &beneath, ..TableLook::default() }.table("x", &table)
        };
        let heading = ">mean (ms)<small>least – greatest</small></th></tr>";
        let cell = " data-value=\"2\" data-column=\"mean (ms)\">2.0<small>1.0 – 3.0</small></td></tr>";
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
            .column("throughput", |row| row.1)
            .unit("ms", 1)
            .done();
        let html = TableLook { without: &["other"], ..TableLook::default() }.table("x", &table);
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

    #[test]
    fn total_stays_below_the_rows_that_are_sorted() {
        let table = Table::of(&["a", "all"]).column("label", |row| Some((*row).to_owned())).done();
        let html = TableLook { total: true, ..TableLook::default() }.table("x", &table);
        let (body, foot) = html.split_once("</tbody>").unwrap();
        assert!(body.contains(">a</td>") && foot.contains("<tfoot>") && foot.contains(">all</td>"), "{html}");
    }
}
