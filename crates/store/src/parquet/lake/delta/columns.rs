//! The tables, and their columns as Delta Lake names them.

use serde_json::{Value, json};

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

    /// The columns in its files, each with its type; `[]` is for lists.
    fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Samples => &[
                ("t_ms", "integer"),
                ("label", "string"),
                ("elapsed", "long"),
                ("response_code", "string"),
                ("success", "boolean"),
                ("bytes", "long"),
                ("sent_bytes", "long"),
                ("all_threads", "integer"),
                ("latency", "long"),
                ("idle_time", "integer"),
                ("connect", "long"),
                ("cpu", "double"),
                ("injector", "string"),
                ("transaction", "boolean"),
                ("resolution_us", "integer"),
            ],
            Self::Seconds => &[
                ("second", "integer"),
                ("label", "string"),
                ("success", "boolean"),
                ("transaction", "boolean"),
                ("samples", "long"),
                ("elapsed", "[]integer"),
                ("counts", "[]long"),
                ("latency_n", "long"),
                ("latency_sum", "long"),
                ("latency_min", "integer"),
                ("latency_max", "integer"),
                ("connect_sum", "long"),
                ("bytes_sum", "long"),
                ("sent_bytes_sum", "long"),
                ("before_boundary", "long"),
                ("injectors", "[]string"),
                ("injector_samples", "[]long"),
                ("injector_threads", "[]long"),
                ("packed", "binary"),
                ("resolution_us", "integer"),
            ],
            Self::Cpu => &[("clock", "long"), ("value", "double")],
            Self::Series => &[("name", "string"), ("unit", "string"), ("clock", "long"), ("value", "double")],
            Self::Errors => &[
                ("second", "integer"),
                ("label", "string"),
                ("response_code", "string"),
                ("message", "string"),
                ("transaction", "boolean"),
                ("count", "long"),
            ],
            Self::Labels => {
                &[("label", "string"), ("successes", "long"), ("failures", "long"), ("transactions", "long")]
            }
            Self::Rejects => &[
                ("file", "string"),
                ("member", "string"),
                ("line", "long"),
                ("byte", "long"),
                ("code", "string"),
                ("reason", "string"),
                ("record", "string"),
            ],
            Self::Tags => &[("key", "string"), ("value", "string")],
            Self::Points => &[
                ("tool", "string"),
                ("framework", "string"),
                ("test", "string"),
                ("concurrency", "integer"),
                ("workers", "integer"),
                ("repeat", "integer"),
                ("requests", "long"),
                ("successes", "long"),
                ("throughput", "double"),
                ("answers_per_second", "double"),
                ("aborted", "string"),
                ("point", "string"),
            ],
            Self::Runs | Self::Parts => &[
                ("t0_ms", "long"),
                ("last_ms", "long"),
                ("last_end_ms", "long"),
                ("seconds", "integer"),
                ("successes", "long"),
                ("failures", "long"),
                ("transactions", "long"),
                ("rejects", "long"),
                ("resolution_us", "integer"),
                ("samples_stored", "boolean"),
                ("cpu_offset", "long"),
                ("cpu_lookback", "integer"),
                ("ingested_at", "string"),
                ("info", "string"),
            ],
        }
    }

    /// The columns that are in none of its files, each with its type.
    pub(super) fn partitions(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let of_parts = OF_PARTS.into_iter().filter(move |_| self == Self::Parts);
        PARTITIONS.into_iter().filter(move |_| self != Self::Points).chain(of_parts)
    }

    /// Its schema as the log has it.
    pub(super) fn schema(self) -> String {
        let columns = self.partitions().chain(self.columns().iter().copied());
        json!({"type": "struct", "fields": columns.map(field).collect::<Vec<Value>>()}).to_string()
    }

    /// Returns a schema that an earlier version made, with the columns that came since; `None` if it has them all.
    /// Files of before have nulls there.
    pub(super) fn widened(self, schema: &str) -> Option<String> {
        let mut schema: Value = serde_json::from_str(schema).ok()?;
        let fields = schema.get_mut("fields")?.as_array_mut()?;
        let lacks = |name: &str| fields.iter().all(|field| field.get("name") != Some(&json!(name)));
        let new: Vec<Value> =
            self.columns().iter().copied().filter(|(name, _)| lacks(name)).map(field).collect();
        if new.is_empty() {
            return None;
        }
        fields.extend(new);
        Some(schema.to_string())
    }
}

/// Returns a column as a schema has it.
fn field((name, kind): (&str, &str)) -> Value {
    let kind = match kind.strip_prefix("[]") {
        Some(of) => json!({"type": "array", "elementType": of, "containsNull": true}),
        None => json!(kind),
    };
    json!({"name": name, "type": kind, "nullable": true, "metadata": {}})
}
