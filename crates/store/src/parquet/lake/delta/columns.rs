//! The tables, and their columns as Delta Lake names them.

use serde_json::{Value, json};

use crate::parquet::schema::{self, ColumnKind, TableColumn};
use crate::parquet::tables;

/// A table of a store in a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LakeTable {
    Samples,
    Seconds,
    Cpu,
    Series,
    Errors,
    Labels,
    Rejects,
    Tags,
    Runs,
    Parts,
    Points,
}

/// The columns that are in no file: the log has their values for each.
pub(super) const PARTITIONS: [(&str, &str); 4] =
    [("framework", "string"), ("test", "string"), ("repeat", "integer"), ("generation", "string")];

/// Those of parts, in addition to them.
pub(super) const OF_PARTS: [(&str, &str); 2] = [("part", "integer"), ("of", "integer")];

impl LakeTable {
    /// The tables of what runs consist of.
    pub(crate) const FACTS: [Self; 8] = [
        Self::Samples,
        Self::Seconds,
        Self::Cpu,
        Self::Series,
        Self::Errors,
        Self::Labels,
        Self::Rejects,
        Self::Tags,
    ];

    /// All tables, that of the runs at last.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::FACTS.into_iter().chain([Self::Parts, Self::Points, Self::Runs])
    }

    /// The tables whose files are of generations of runs.
    pub(crate) fn with_generations() -> impl Iterator<Item = Self> {
        Self::all().filter(|table| *table != Self::Points)
    }

    /// The name of its folder.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Seconds => "seconds",
            Self::Cpu => "cpu",
            Self::Series => "series",
            Self::Errors => "errors",
            Self::Labels => "labels",
            Self::Rejects => "rejects",
            Self::Tags => "tags",
            Self::Runs => "runs",
            Self::Parts => "parts",
            Self::Points => "points",
        }
    }

    /// Returns the table that a file of a run belongs to.
    pub(crate) fn of_file(file: &str) -> Self {
        match file {
            tables::SECONDS => Self::Seconds,
            tables::CPU => Self::Cpu,
            tables::SERIES => Self::Series,
            tables::ERRORS => Self::Errors,
            tables::LABELS => Self::Labels,
            tables::REJECT_TABLE => Self::Rejects,
            tables::TAGS => Self::Tags,
            tables::RUN => Self::Runs,
            _ => Self::Samples,
        }
    }

    /// The columns in its files.
    fn columns(self) -> &'static [TableColumn] {
        match self {
            Self::Samples => schema::SAMPLES,
            Self::Seconds => schema::SECONDS,
            Self::Cpu => schema::CPU,
            Self::Series => schema::SERIES,
            Self::Errors => schema::ERRORS,
            Self::Labels => schema::LABELS,
            Self::Rejects => schema::REJECTS,
            Self::Tags => schema::TAGS,
            Self::Points => schema::POINTS,
            Self::Runs | Self::Parts => schema::RUNS,
        }
    }

    /// The columns that are in none of its files, each with its type.
    pub(super) fn partitions(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let of_parts = OF_PARTS.into_iter().filter(move |_| self == Self::Parts);
        PARTITIONS.into_iter().filter(move |_| self != Self::Points).chain(of_parts)
    }

    /// Its schema as the log has it.
    pub(super) fn schema(self) -> String {
        let partitions = self.partitions().map(|(name, kind)| field(name, json!(kind), None));
        let columns = self.columns().iter().map(column);
        json!({"type": "struct", "fields": partitions.chain(columns).collect::<Vec<Value>>()}).to_string()
    }

    /// Returns a schema that an earlier version made, with the columns that came since; `None` if it has them all.
    /// Files of before have nulls there.
    pub(super) fn widened(self, schema: &str) -> Option<String> {
        let mut schema: Value = serde_json::from_str(schema).ok()?;
        let fields = schema.get_mut("fields")?.as_array_mut()?;
        let lacks = |name: &str| fields.iter().all(|field| field.get("name") != Some(&json!(name)));
        let new: Vec<Value> = self.columns().iter().filter(|column| lacks(column.name)).map(column).collect();
        if new.is_empty() {
            return None;
        }
        fields.extend(new);
        Some(schema.to_string())
    }
}

/// Returns a column as a schema has it.
fn column(column: &TableColumn) -> Value {
    let list = |of: &str| json!({"type": "array", "elementType": of, "containsNull": true});
    let kind = match column.kind {
        ColumnKind::Int => json!("integer"),
        ColumnKind::Long => json!("long"),
        ColumnKind::Double => json!("double"),
        ColumnKind::Flag => json!("boolean"),
        ColumnKind::Text => json!("string"),
        ColumnKind::Bytes => json!("binary"),
        ColumnKind::Ints => list("integer"),
        ColumnKind::Longs => list("long"),
        ColumnKind::Texts => list("string"),
    };
    field(column.name, kind, Some(column.comment))
}

/// All may be null: files of earlier versions lack columns that came since.
fn field(name: &str, kind: Value, comment: Option<&str>) -> Value {
    let metadata = comment.map_or(json!({}), |comment| json!({"comment": comment}));
    json!({"name": name, "type": kind, "nullable": true, "metadata": metadata})
}
