//! Files that were damaged or put there by something else: an error or values, never a panic.

use perfpipe_ingest::ErrorKind;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::example::{Place, assert_stored, example, key, reseal, store, stored_rejects, stored_rows};

/// Reads everything of the run; whether all of it could be read.
fn read_all(place: &Place) -> bool {
    let run = place.store.read(&key());
    if let Ok(Some(run)) = &run {
        let _ = run.cells.iter().map(|cell| cell.unwrap().1.samples()).fold(0, u64::saturating_add);
        let _ = (run.info.records(), run.info.requests());
    }
    let rest = [stored_rows(&place.store, &key()).is_ok(), stored_rejects(&place.store, &key()).is_ok()];
    run.is_ok_and(|run| run.is_some()) && rest == [true, true]
}

fn files(place: &Place) -> Vec<std::path::PathBuf> {
    let generation = place.generation();
    crate::example::names(&generation).into_iter().map(|name| generation.join(name)).collect()
}

/// Puts `damaged` into the file's place as if it were what was stored, reads, and says whether that panicked.
fn panics(place: &Place, path: &Path, damaged: &[u8]) -> bool {
    fs::write(path, damaged).unwrap();
    reseal(place);
    catch_unwind(AssertUnwindSafe(|| read_all(place))).is_err()
}

/// What reading each part of the run says, where it fails.
fn complaints(place: &Place) -> Vec<String> {
    let told = [
        place.store.read(&key()).err(),
        stored_rows(&place.store, &key()).err(),
        stored_rejects(&place.store, &key()).err(),
    ];
    told.into_iter().flatten().map(|error| error.to_string()).collect()
}

#[test]
fn byte_that_is_changed_is_told() {
    let place = Place::new();
    store(&place.store, &example(5, 300)).unwrap();
    for path in files(&place) {
        let whole = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        for at in (0..whole.len()).step_by((whole.len() / 80).max(1)).chain(whole.len() - 8..whole.len()) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            fs::write(&path, &damaged).unwrap();
            let told = complaints(&place);
            assert!(
                told.len() == 1 && told[0].contains(name) && told[0].contains("checksum"),
                "{at}: {told:?}"
            );
            assert!(told[0].contains("ingest the run again"), "{told:?}");
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        let sizes = format!("{} bytes instead of {}", whole.len() + 1, whole.len());
        assert!(complaints(&place)[0].contains(&sizes), "{name}");
        fs::write(&path, &whole).unwrap();
    }
    assert_stored(&place.store, &example(5, 300));
}

#[test]
fn byte_of_the_manifest_that_is_changed_is_told_or_changes_nothing() {
    let place = Place::new();
    store(&place.store, &example(5, 300)).unwrap();
    let path = place.run().join("manifest.json");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(3) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, &damaged).unwrap();
        match place.store.runs() {
            Ok(runs) => assert_eq!(runs, [example(5, 300).info], "{at}"),
            Err(told) => assert!(told.to_string().contains("manifest.json"), "{told}"),
        }
    }
    fs::write(&path, &whole).unwrap();
    assert_stored(&place.store, &example(5, 300));
}

#[test]
fn run_whose_manifest_is_damaged_can_be_replaced_and_dropped() {
    use crate::example::{begin, commit};
    use perfpipe_ingest::run::Replace;
    let place = Place::new();
    let new = example(6, 200);
    for damaged in ["", "{\"layout\": 3}"] {
        store(&place.store, &example(5, 300)).unwrap();
        fs::write(place.run().join("manifest.json"), damaged).unwrap();
        let told = commit(begin(&place.store, &new).unwrap(), &new, Replace::SameFile).unwrap_err();
        assert_eq!(told.kind(), ErrorKind::KeyTaken, "{told}");
        store(&place.store, &new).unwrap();
        assert_stored(&place.store, &new);
        assert_eq!(crate::example::generations(&place.run()).len(), 1);
        fs::write(place.run().join("manifest.json"), damaged).unwrap();
        assert!(place.store.drop_run(&key()).unwrap());
        assert_eq!(crate::example::names(&place.path().join("runs")), [""; 0]);
    }
}

#[test]
fn manifest_of_another_layout_is_refused_and_left_alone() {
    let place = Place::new();
    store(&place.store, &example(5, 300)).unwrap();
    let path = place.run().join("manifest.json");
    let newer = fs::read_to_string(&path).unwrap().replace("\"layout\":5", "\"layout\":6");
    fs::write(&path, &newer).unwrap();
    let told =
        [place.store.runs().err(), place.store.read(&key()).err(), store(&place.store, &example(6, 9)).err()];
    for told in told.into_iter().flatten().map(|told| told.to_string()) {
        assert!(told.contains("layout 6") && told.contains("layouts 3 to 5"), "{told}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn file_that_is_cut_anywhere_gives_an_error() {
    let place = Place::new();
    store(&place.store, &example(5, 300)).unwrap();
    assert!(read_all(&place));
    for path in files(&place).into_iter().filter(|path| path.extension().unwrap() == "parquet") {
        let whole = fs::read(&path).unwrap();
        let step = (whole.len() / 40).max(1);
        for length in (0..whole.len()).step_by(step).chain(whole.len() - 12..whole.len()) {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(!read_all(&place), "{} cut at {length}", path.display());
            reseal(&place);
            assert!(!read_all(&place), "{} cut at {length}, and sealed so", path.display());
        }
        fs::write(&path, &whole).unwrap();
        reseal(&place);
    }
    assert!(read_all(&place));
}

#[test]
fn bytes_that_are_changed_give_an_error_or_values() {
    let place = Place::new();
    store(&place.store, &example(5, 300)).unwrap();
    let mut panicked = Vec::new();
    for path in files(&place) {
        let whole = fs::read(&path).unwrap();
        // The last bytes say where everything else is.
        let step = (whole.len() / 120).max(1);
        let places = (0..whole.len()).step_by(step).chain(whole.len().saturating_sub(40)..whole.len());
        for at in places {
            for mask in [0x01, 0x80] {
                let mut damaged = whole.clone();
                damaged[at] ^= mask;
                if panics(&place, &path, &damaged) {
                    panicked.push((path.file_name().unwrap().to_owned(), at, mask));
                }
            }
        }
        fs::write(&path, &whole).unwrap();
        reseal(&place);
    }
    assert!(panicked.is_empty(), "{panicked:?}");
    assert!(read_all(&place));
}

#[test]
fn file_that_is_missing_is_named() {
    let place = Place::new();
    store(&place.store, &example(5, 300)).unwrap();
    for path in files(&place) {
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let told = complaints(&place);
        assert!(told.len() == 1 && told[0].contains(name), "{told:?}");
        fs::write(&path, whole).unwrap();
    }
}

/// Tables that another program might have put in the place of the store's.
mod foreign {
    use std::sync::Arc;

    use arrow_array::builder::{Int32Builder, Int64Builder, ListBuilder};
    use arrow_array::{
        Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch,
        StringArray,
    };
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    fn read(path: &Path) -> RecordBatch {
        let file = fs::File::open(path).unwrap();
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap().unwrap()
    }

    fn write(path: &Path, batch: &RecordBatch) {
        let mut writer = ArrowWriter::try_new(fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }

    /// The same table with another column in the place of one, or without it.
    fn with(batch: &RecordBatch, name: &str, other: Option<ArrayRef>) -> RecordBatch {
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns());
        let columns = columns.filter_map(|(field, column)| match field.name() == name {
            true => other.clone().map(|other| (field.name().clone(), other)),
            false => Some((field.name().clone(), Arc::clone(column))),
        });
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
    }

    /// Columns that are not what is expected in the place of `column`.
    fn others(column: &ArrayRef) -> Vec<ArrayRef> {
        let rows = column.len();
        let mut longer = ListBuilder::new(Int64Builder::new());
        let mut negative = ListBuilder::new(Int64Builder::new());
        let mut holes = ListBuilder::new(Int32Builder::new());
        let mut falling = ListBuilder::new(Int32Builder::new());
        for _ in 0..rows {
            longer.append_value([Some(1), Some(2), Some(3)]);
            negative.append_value([Some(-1), Some(2)]);
            holes.append_value([Some(1), None]);
            falling.append_value([Some(2), Some(1)]);
        }
        vec![
            Arc::new(StringArray::from(vec!["x"; rows])),
            Arc::new(Int32Array::from(vec![-1; rows])),
            Arc::new(Int64Array::from(vec![-1; rows])),
            Arc::new(Int64Array::from(vec![None; rows])),
            Arc::new(Int32Array::from(vec![None; rows])),
            Arc::new(StringArray::from(vec![None::<&str>; rows])),
            Arc::new(BooleanArray::from(vec![None; rows])),
            Arc::new(Float64Array::from(vec![None; rows])),
            Arc::new(BinaryArray::from(vec![b"\x01\x02".as_slice(); rows])),
            Arc::new(BinaryArray::from(vec![None::<&[u8]>; rows])),
            Arc::new(longer.finish()),
            Arc::new(negative.finish()),
            Arc::new(holes.finish()),
            Arc::new(falling.finish()),
        ]
    }

    /// Columns that are for other readers; the packed counts and the run's row say the same.
    const FOR_OTHERS: [&str; 3] = ["elapsed", "counts", "resolution_us"];

    /// Numbers that may be below zero, and texts: such columns take what is of their type.
    fn fits(name: &str, other: &ArrayRef) -> bool {
        let no_nulls = other.null_count() == 0;
        match name {
            "label" | "response_code" | "message" => no_nulls && other.data_type().is_string(),
            "latency_sum" | "connect_sum" | "bytes_sum" | "sent_bytes_sum" | "clock" => {
                no_nulls && *other.data_type() == arrow_schema::DataType::Int64
            }
            "latency_min" | "latency_max" => no_nulls && *other.data_type() == arrow_schema::DataType::Int32,
            name if FOR_OTHERS.contains(&name) => true,
            _ => false,
        }
    }

    #[test]
    fn columns_of_other_types_lengths_and_with_holes_give_an_error() {
        let place = Place::new();
        store(&place.store, &example(5, 300)).unwrap();
        for name in ["seconds", "cpu", "errors", "labels"] {
            let path = place.generation().join(format!("{name}.parquet"));
            let whole = read(&path);
            for field in whole.schema().fields() {
                let name = field.name();
                let column = whole.column_by_name(name).unwrap();
                let changed = others(column).into_iter().map(Some).chain([None]);
                for other in changed {
                    write(&path, &with(&whole, name, other.clone()));
                    reseal(&place);
                    let told = place.store.read(&key());
                    let fits =
                        other.as_ref().map_or(FOR_OTHERS.contains(&&**name), |other| fits(name, other));
                    assert_eq!(told.is_ok(), fits, "{name}: {other:?}");
                    if let Err(told) = told {
                        let told = told.to_string();
                        assert!(told.contains(&*path.to_string_lossy()), "{told}");
                    }
                }
            }
            write(&path, &whole);
            reseal(&place);
        }
        assert!(read_all(&place));
    }

    #[test]
    fn samples_of_other_types_give_an_error() {
        let place = Place::new();
        store(&place.store, &example(5, 300)).unwrap();
        let path = place.generation().join("samples.parquet");
        let whole = read(&path);
        for field in whole.schema().fields() {
            let column = whole.column_by_name(field.name()).unwrap();
            for other in others(column).into_iter().map(Some).chain([None]) {
                write(&path, &with(&whole, field.name(), other));
                reseal(&place);
                assert!(catch_unwind(AssertUnwindSafe(|| read_all(&place))).is_ok(), "{}", field.name());
            }
        }
    }
}
