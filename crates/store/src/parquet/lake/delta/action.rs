//! The lines of a commit, the files that a table has after some commits, and the paths of these files. polars parses the
//! values of a table's columns from the paths, all others from the log.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::columns::{LakeTable, OF_PARTS, PARTITIONS};
use crate::parquet::folder::manifest::is_generation;
use perfpipe_model::run::key::{LAST_REPEAT, RunKey};
use perfpipe_model::run::options::PartNumber;

/// The version of the layout of a store in a bucket, in the configuration of its tables.
pub(super) const LAYOUT: &str = "perfpipe.layout";

/// The newest version of the layout.
pub(super) const NEWEST: &str = "1";

/// The versions of Delta Lake's protocol that readers and writers must know: the first ones.
pub(super) const READER: u32 = 1;
pub(super) const WRITER: u32 = 2;

/// How long the files of a run stay after it was replaced or dropped, as by default in Delta Lake: 7 days, in ms.
pub(crate) const KEPT: i64 = 7 * 24 * 3_600_000;

/// One line, which is one action of the first versions of the protocol: a key of none of them is damage. What perfpipe
/// does not use of an action is left out.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct LogLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) commit_info: Option<CommitInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<Protocol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meta_data: Option<MetaData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) add: Option<AddFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remove: Option<RemoveFile>,
    /// How far another program has got.
    #[serde(skip_serializing)]
    pub(super) txn: Option<IgnoredAny>,
}

impl LogLine {
    /// Returns what is wrong with it as a line of a table's log.
    pub(super) fn fault(&self, table: LakeTable) -> Option<&'static str> {
        let others = [self.commit_info.is_some(), self.protocol.is_some(), self.meta_data.is_some()];
        let all = [self.add.is_some(), self.remove.is_some(), self.txn.is_some()].into_iter().chain(others);
        if all.filter(|is_there| *is_there).count() != 1 {
            return Some("it is not one action");
        }
        self.add.as_ref().and_then(|add| add.fault(table))
    }
}

/// Who made the commit. Other programs write what they like here.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CommitInfo {
    #[serde(skip_deserializing)]
    timestamp: i64,
    #[serde(skip_deserializing)]
    operation: String,
    #[serde(skip_deserializing)]
    operation_parameters: BTreeMap<String, serde_json::Value>,
    #[serde(skip_deserializing)]
    engine_info: String,
    /// Differs from that of all other commits: a writer whose answer was lost knows its own commit by it.
    #[serde(skip_deserializing)]
    txn_id: String,
    /// CRC-32 (IEEE) of the lines that follow this one, where perfpipe wrote them.
    #[serde(rename = "perfpipe.crc32", skip_serializing_if = "Option::is_none")]
    pub(super) crc32: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Protocol {
    pub(super) min_reader_version: u32,
    pub(super) min_writer_version: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MetaData {
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) format: FileFormat,
    pub(super) schema_string: String,
    pub(super) partition_columns: Vec<String>,
    #[serde(default)]
    pub(super) configuration: PartitionValues,
    #[serde(default)]
    pub(super) created_time: Option<i64>,
}

/// What the files of a table are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FileFormat {
    pub(super) provider: String,
    #[serde(default)]
    pub(super) options: PartitionValues,
}

/// Texts by name.
pub(super) type PartitionValues = BTreeMap<String, Option<String>>;

/// A file that becomes part of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AddFile {
    pub(crate) path: String,
    pub(super) partition_values: PartitionValues,
    pub(crate) size: u64,
    pub(super) modification_time: i64,
    pub(super) data_change: bool,
}

/// A file that is no longer part of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemoveFile {
    pub(super) path: String,
    #[serde(default)]
    pub(super) deletion_timestamp: Option<i64>,
    pub(super) data_change: bool,
    #[serde(default)]
    pub(super) extended_file_metadata: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) partition_values: PartitionValues,
    #[serde(default)]
    pub(super) size: u64,
}

impl AddFile {
    /// A file of a generation of a run, at this path in the table's folder.
    pub(crate) fn new(key: &RunKey, generation: &str, path: &str, size: u64) -> Self {
        let values = [key.framework.clone(), key.test.clone(), key.repeat.to_string(), generation.to_owned()];
        let names = PARTITIONS.iter().map(|(name, _)| (*name).to_owned());
        Self {
            path: in_log(path),
            partition_values: names.zip(values.map(Some)).collect(),
            size,
            modification_time: now_ms(),
            data_change: true,
        }
    }

    /// A file that is the whole of a table without partitions.
    pub(crate) fn whole_table(path: &str, size: u64) -> Self {
        Self {
            path: in_log(path),
            partition_values: BTreeMap::new(),
            size,
            modification_time: now_ms(),
            data_change: true,
        }
    }

    /// The same file, of a part of its run.
    pub(crate) fn of_part(mut self, number: PartNumber) -> Self {
        let values = [number.number(), number.of()].map(|value| Some(value.to_string()));
        let names = OF_PARTS.iter().map(|(name, _)| (*name).to_owned());
        self.partition_values.extend(names.zip(values));
        self
    }

    /// The part of its run that it is of; `None` if it is of a run.
    pub(crate) fn part(&self) -> Option<PartNumber> {
        let [part, of] = OF_PARTS.map(|(name, _)| self.value(name).parse().ok());
        PartNumber::new(part?, of?).ok()
    }

    /// Returns what is wrong with it as a file of a table; `None` if it is one that perfpipe, or another program after it,
    /// can have added.
    pub(super) fn fault(&self, table: LakeTable) -> Option<&'static str> {
        let is_of_run = || {
            let repeats = self.key().is_some_and(|key| (1..=LAST_REPEAT).contains(&key.repeat));
            repeats && !self.value("framework").is_empty() && !self.test().is_empty()
        };
        if i64::try_from(self.size).is_err() {
            return Some("its size is none");
        }
        match table {
            LakeTable::Points if self.path.contains('/') => Some("its path leads out of the table's folder"),
            LakeTable::Points => None,
            _ if !is_of_run() => Some("its partition values are of no run"),
            _ if !is_generation(self.generation()) => Some("its generation is none of perfpipe's"),
            _ if generation_of(&self.path) != self.generation() => Some("its path is of another generation"),
            _ if self.part().is_some() != (table == LakeTable::Parts) => Some("its part is none"),
            _ => None,
        }
    }

    fn value(&self, name: &str) -> &str {
        self.partition_values.get(name).and_then(Option::as_deref).unwrap_or_default()
    }

    /// The key of its run; `None` if it is no file of a run.
    pub(crate) fn key(&self) -> Option<RunKey> {
        let repeat = self.value("repeat").parse().ok()?;
        Some(RunKey::new(self.value("framework"), self.value("test")).with_repeat(repeat))
    }

    /// The key of its run, or one that no run has.
    pub(crate) fn key_or_none(&self) -> RunKey {
        self.key().unwrap_or_else(|| RunKey::new("", ""))
    }

    /// Returns true if it is a file of a run.
    fn is_of(&self, key: &RunKey) -> bool {
        self.test() == key.test
            && self.value("framework") == key.framework
            && self.value("repeat").parse() == Ok(key.repeat)
    }

    /// The test of its run.
    pub(crate) fn test(&self) -> &str {
        self.value("test")
    }

    /// The generation of its run.
    pub(crate) fn generation(&self) -> &str {
        self.value("generation")
    }

    fn removed(self) -> RemoveFile {
        RemoveFile {
            path: self.path,
            deletion_timestamp: Some(now_ms()),
            data_change: true,
            extended_file_metadata: true,
            partition_values: self.partition_values,
            size: self.size,
        }
    }
}

/// The lines that make a table.
pub(super) fn creation(table: LakeTable) -> Vec<LogLine> {
    let meta_data = MetaData {
        id: unique_id(),
        name: Some(table.name().to_owned()),
        format: FileFormat { provider: "parquet".to_owned(), options: PartitionValues::new() },
        schema_string: table.schema(),
        partition_columns: table.partitions().map(|(name, _)| name.to_owned()).collect(),
        configuration: PartitionValues::from([(LAYOUT.to_owned(), Some(NEWEST.to_owned()))]),
        created_time: Some(now_ms()),
    };
    let protocol = Protocol { min_reader_version: READER, min_writer_version: WRITER };
    vec![
        information("CREATE TABLE"),
        LogLine { protocol: Some(protocol), ..LogLine::default() },
        LogLine { meta_data: Some(meta_data), ..LogLine::default() },
    ]
}

/// The lines that remove files from a table and add others.
pub(super) fn change(removed: Vec<AddFile>, added: Vec<AddFile>) -> Vec<LogLine> {
    let removed =
        removed.into_iter().map(|add| LogLine { remove: Some(add.removed()), ..LogLine::default() });
    let added = added.into_iter().map(|add| LogLine { add: Some(add), ..LogLine::default() });
    std::iter::once(information("WRITE")).chain(removed).chain(added).collect()
}

fn information(operation: &str) -> LogLine {
    let info = CommitInfo {
        timestamp: now_ms(),
        operation: operation.to_owned(),
        operation_parameters: BTreeMap::new(),
        engine_info: concat!("perfpipe/", env!("CARGO_PKG_VERSION")).to_owned(),
        txn_id: unique_id(),
        crc32: None,
    };
    LogLine { commit_info: Some(info), ..LogLine::default() }
}

/// The time, epoch ms.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns a random UUID.
pub(crate) fn unique_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The files that a table has, as far as its log was read.
#[derive(Debug, Default)]
pub(crate) struct TableSnapshot {
    /// The version that comes next; 0 if there is no table.
    pub(super) next: u64,
    /// The version of the last checkpoint that is known.
    pub(super) checkpoint: Option<u64>,
    pub(super) protocol: Option<Protocol>,
    pub(super) meta_data: Option<MetaData>,
    pub(super) files: BTreeMap<String, AddFile>,
    /// The files that the table had before.
    pub(super) removed: BTreeMap<String, RemoveFile>,
    /// The generations whose files came since the last checkpoint that is known.
    fresh: Vec<String>,
}

/// The number of commits after which a checkpoint is written.
pub(super) const EVERY: u64 = 100;

impl TableSnapshot {
    /// Returns true if there is a table.
    pub(crate) fn is_there(&self) -> bool {
        self.next > 0
    }

    /// Returns true if it is known what the table is.
    pub(super) fn is_whole(&self) -> bool {
        self.protocol.is_some() && self.meta_data.is_some()
    }

    /// Returns the version that comes next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Returns all files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &AddFile> {
        self.files.values()
    }

    /// Returns when the generations that the table had before left it, epoch ms, as their writers say. Nobody says it of
    /// some.
    pub(crate) fn gone(&self) -> BTreeMap<&str, Option<i64>> {
        let since = |removed: &RemoveFile| removed.deletion_timestamp;
        self.removed.values().map(|removed| (generation_of(&removed.path), since(removed))).collect()
    }

    /// Returns when a file left the table, epoch ms, as its writer says.
    pub(crate) fn gone_since(&self, path: &str) -> Option<i64> {
        self.removed.get(path)?.deletion_timestamp
    }

    /// Returns the runs, or parts of them, that have more than one row, where each has one.
    pub(crate) fn doubled(&self) -> BTreeSet<RunKey> {
        let mut seen = BTreeSet::new();
        let rows = self.files().filter_map(|file| Some((file.key()?, file.part().map(PartNumber::number))));
        rows.filter(|row| !seen.insert(row.clone())).map(|(key, _)| key).collect()
    }

    /// Returns true if a checkpoint is known.
    pub(crate) fn has_checkpoint(&self) -> bool {
        self.checkpoint.is_some()
    }

    /// Returns true if so many commits follow the last checkpoint that another one is due.
    pub(crate) fn is_long(&self) -> bool {
        let before = self.checkpoint.map_or(0, |version| version.saturating_add(1));
        self.is_whole() && self.next.saturating_sub(before) >= EVERY
    }

    /// Returns the generations whose files came since the last checkpoint.
    pub(crate) fn fresh(&self) -> &[String] {
        &self.fresh
    }

    /// Notes that there is a checkpoint of what the table has now.
    pub(super) fn mark(&mut self) {
        self.checkpoint = self.next.checked_sub(1);
        self.fresh = Vec::new();
    }

    /// Returns the files of a run.
    pub(crate) fn of(&self, key: &RunKey) -> Vec<AddFile> {
        self.files().filter(|file| file.is_of(key)).cloned().collect()
    }

    /// Does what the lines of a commit or of a checkpoint say. Returns the path of a file that they remove from the table,
    /// and that it does not have. Checkpoints name what left the table before, and so none that it has.
    pub(super) fn apply(&mut self, lines: Vec<LogLine>) -> Option<String> {
        let mut missing = None;
        for LogLine { protocol, meta_data, add, remove, .. } in lines {
            self.protocol = protocol.or(self.protocol.take());
            self.meta_data = meta_data.or(self.meta_data.take());
            if let Some(remove) = remove {
                if self.files.remove(&remove.path).is_none() {
                    missing = Some(remove.path.clone());
                }
                self.removed.insert(remove.path.clone(), remove);
            }
            if let Some(add) = add {
                self.removed.remove(&add.path);
                self.fresh.push(add.generation().to_owned());
                self.files.insert(add.path.clone(), add);
            }
        }
        missing
    }
}

/// The longest value in a path, in bytes; longer ones are cut and end in a hash.
const LONGEST: usize = 200;

/// Returns the path of a file of a generation. The run's key may not be known yet when it is written.
pub(crate) fn path_of(generation: &str, file: &str) -> String {
    format!("generation={generation}/{file}")
}

/// Returns the path of the row of a generation of a run.
pub(crate) fn row_of(key: &RunKey, generation: &str, file: &str) -> String {
    let values = [&*key.framework, &*key.test, &*key.repeat.to_string(), generation].map(encoded);
    let folders = PARTITIONS.iter().zip(values).map(|((name, _), value)| format!("{name}={value}/"));
    format!("{}{file}", folders.collect::<String>())
}

/// Encodes what is not safe in a path.
fn encoded(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => text.push(byte as char),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    if text.len() > LONGEST {
        let hash = crc32fast::hash(text.as_bytes());
        text.truncate(LONGEST - 20);
        text.push_str(&format!("~{hash:08x}"));
    }
    text
}

/// Returns a path as the log has it: a URL.
fn in_log(path: &str) -> String {
    path.replace('%', "%25")
}

/// Returns the generation that a path is of; nothing if it is of none.
fn generation_of(path: &str) -> &str {
    path.split('/').find_map(|part| part.strip_prefix("generation=")).unwrap_or_default()
}
