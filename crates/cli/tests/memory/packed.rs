//! Packed runs that were made to take much memory: tables of a few hundred KB that unpack to gigabytes, and rows that are
//! larger than any run's.

use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::measured::{Run, measured};
use crate::tempfile_in_target;

type Entries = Vec<(String, Vec<u8>)>;

/// A packed run of a small log.
fn packed(folder: &Path) -> Entries {
    let log = folder.join("log.csv");
    std::fs::write(
        &log,
        "timeStamp,elapsed,label,success\n1795203738615,12,a,true\n1795203738715,12,a,false\n",
    )
    .unwrap();
    let store = folder.join("packed");
    let at = ["--store", store.to_str().unwrap()];
    let ingest = ["ingest", log.to_str().unwrap(), "--framework", "f", "--test", "t"];
    assert_eq!(measured(&[&ingest[..], &at].concat(), folder, None).code, Some(0));
    let file = folder.join("f.run");
    let export = ["export", "f_t", "--what", "counts", "-o", file.to_str().unwrap()];
    assert_eq!(measured(&[&export[..], &at].concat(), folder, None).code, Some(0));
    let mut zip = zip::ZipArchive::new(File::open(file).unwrap()).unwrap();
    let count = zip.len();
    let entry = |number| {
        let mut entry = zip.by_index(number).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.name().unwrap().into_owned(), bytes)
    };
    (0..count).map(entry).collect()
}

/// Changes the row of a packed run, and seals it again.
fn edit(entries: &mut Entries, change: impl FnOnce(&mut Value)) {
    let (_, manifest) = entries.iter_mut().find(|(name, _)| name == "manifest.json").unwrap();
    let mut sealed: Value = serde_json::from_slice(manifest).unwrap();
    change(&mut sealed["run"]);
    let run = sealed["run"].to_string();
    let (layout, crc32) = (&sealed["layout"], crc32fast::hash(run.as_bytes()));
    *manifest = format!("{{\"layout\":{layout},\"crc32\":{crc32},\"run\":{run}}}").into_bytes();
}

/// Puts another table into a packed run, with its checksums.
fn put(entries: &mut Entries, name: &str, table: Vec<u8>) {
    let crc32: Vec<u32> = table.chunks(1 << 20).map(crc32fast::hash).collect();
    let sums = json!({"bytes": table.len(), "crc32": crc32});
    entries.iter_mut().find(|(own, _)| own == name).unwrap().1 = table;
    edit(entries, |run| run["files"][name] = sums);
}

/// Ingests a packed run.
fn ingest(folder: &Path, entries: &Entries) -> Run {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let plain = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in entries {
        zip.start_file(name.as_str(), plain).unwrap();
        zip.write_all(bytes).unwrap();
    }
    let file = folder.join("bomb.run");
    std::fs::write(&file, zip.finish().unwrap().into_inner()).unwrap();
    let store = folder.join("store");
    measured(&["ingest", file.to_str().unwrap(), "--store", store.to_str().unwrap()], folder, None)
}

/// Writes the same value in many rows.
fn column<T: DataType>(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, value: T::T, rows: usize) {
    let mut column = group.next_column().unwrap().unwrap();
    let many = vec![value; rows.min(1 << 16)];
    for from in (0..rows).step_by(many.len()) {
        let some = many.get(..many.len().min(rows - from)).unwrap();
        column.typed::<T>().write_batch(some, None, None).unwrap();
    }
    column.close().unwrap();
}

/// A table of groups of equal rows.
fn table(
    schema: &str,
    groups: usize,
    is_coded: bool,
    write: impl Fn(&mut SerializedRowGroupWriter<'_, Vec<u8>>),
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(is_coded)
        .set_dictionary_page_size_limit(1 << 30)
        .set_data_page_size_limit(1 << 30)
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for _ in 0..groups {
        let mut group = file.next_row_group().unwrap();
        write(&mut group);
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

const LABELS: &str = "message m { required binary label (UTF8); required int64 successes; required int64 failures; \
                      required int64 transactions; }";
const CPU: &str = "message m { required int64 clock; required double value; }";
const ERRORS: &str = "message m { required int32 second; required binary label (UTF8); required binary response_code (UTF8); \
                      required binary message (UTF8); required boolean transaction; required int64 count; }";

/// Labels of so many bytes.
fn labels(bytes: usize, rows: usize, groups: usize, is_coded: bool) -> Vec<u8> {
    table(LABELS, groups, is_coded, |group| {
        column::<ByteArrayType>(group, ByteArray::from(vec![b'a'; bytes]), rows);
        (0..3).for_each(|_| column::<Int64Type>(group, 0, rows));
    })
}

fn errors(bytes: usize, rows: usize, groups: usize) -> Vec<u8> {
    table(ERRORS, groups, true, |group| {
        column::<Int32Type>(group, 0, rows);
        (0..3).for_each(|_| column::<ByteArrayType>(group, ByteArray::from(vec![b'a'; bytes]), rows));
        column::<BoolType>(group, false, rows);
        column::<Int64Type>(group, 0, rows);
    })
}

fn cpu(rows: usize, groups: usize) -> Vec<u8> {
    table(CPU, groups, true, |group| {
        column::<Int64Type>(group, 7, rows);
        column::<DoubleType>(group, 7.5, rows);
    })
}

#[test]
fn packed_run_takes_no_more_memory_than_is_promised() {
    let folder = tempfile_in_target();
    let whole = packed(folder.path());
    let bombs: [(&str, &str, Vec<u8>); 7] = [
        ("33 million labels", "labels.parquet", labels(1, 1 << 20, 32, true)),
        ("a label of 200 MB", "labels.parquet", labels(200_000_000, 1, 1, false)),
        ("1,000 times a label of 1 MB", "labels.parquet", labels(1_000_000, 1000, 1, true)),
        ("60 labels of 8 MB", "labels.parquet", labels(8_000_000, 1, 60, false)),
        ("67 million CPU readings", "cpu.parquet", cpu(1 << 20, 64)),
        ("33 million failures", "errors.parquet", errors(1, 1 << 20, 32)),
        ("4,000 failures of 200 KB", "errors.parquet", errors(200_000, 1000, 4)),
    ];
    for (what, name, table) in bombs {
        let mut entries = whole.clone();
        let size = table.len();
        put(&mut entries, name, table);
        let run = ingest(folder.path(), &entries);
        eprintln!("{what}: {size} bytes, {} MB, {:.1} s: {}", run.megabytes, run.seconds, run.said);
        assert_eq!(run.code, Some(3), "{what}: {}", run.said);
        assert!(run.megabytes < 300, "{what}: {} MB", run.megabytes);
    }
}

#[test]
fn row_of_a_packed_run_takes_no_more_memory_than_is_promised() {
    let folder = tempfile_in_target();
    let whole = packed(folder.path());
    for (many, code) in [(1000, 0), (600_000, 3), (2_000_000, 3)] {
        let mut entries = whole.clone();
        let options: serde_json::Map<String, Value> =
            (0..many).map(|number| (number.to_string(), Value::from(""))).collect();
        edit(&mut entries, |run| run["options"] = options.into());
        let run = ingest(folder.path(), &entries);
        eprintln!("{many} options: {} MB: {}", run.megabytes, run.said.chars().take(200).collect::<String>());
        assert_eq!(run.code, Some(code), "{many}");
        assert!(run.megabytes < 300, "{many} options: {} MB", run.megabytes);
    }
}
