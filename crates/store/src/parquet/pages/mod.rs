//! Parquet columns, encoded from values that lie side by side: pages, the chunks and row groups that they make, files.
//!
//! The parquet crate writes headers and metadata, and reads what is written here. It would look up each value of a
//! column with a dictionary, although the texts are numbered already, and encode numbers one by one.

mod encoding;
mod page;
mod row_group;

pub(super) use self::encoding::WholeNumber;
pub(super) use self::page::{
    CodedRows, ColumnPart, DistinctValues, PageCompression, PageLevels, ValueCodes, byte_strings, flags,
    numbers, whole, zstd,
};
pub(super) use self::row_group::{ColumnChunk, EncodedColumn, GatheredFile, PagedFile, coded, doubles};

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, Int64Type};
    use arrow_array::{Array, ArrayRef, RecordBatch};
    use arrow_schema::{DataType, Field, Schema};
    use bytes::Bytes;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use zstd::bulk::Compressor;

    use super::*;

    /// A row: a number, the number of its name, its list and a byte string.
    type Row = (i32, u32, Vec<i64>, Vec<u8>);

    const NAMES: [&str; 4] = ["a", "", "ä", "unused"];

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let number = prop_oneof![0..9i32, any::<i32>()];
        let items = prop_oneof![vec(any::<i64>(), 0..4), vec(0..3i64, 0..40)];
        let row = (number, 0..3u32, items, vec(any::<u8>(), 0..30));
        // Equal rows one after the other, too.
        let runs = vec((row, prop_oneof![Just(1), 1..40usize]), 1..30);
        runs.prop_map(|runs| {
            runs.into_iter().flat_map(|(row, count)| std::iter::repeat_n(row, count)).collect()
        })
    }

    fn schema() -> Schema {
        let field = |name: &str, data_type: DataType| Field::new(name, data_type, false);
        Schema::new(vec![
            field("number", DataType::Int32),
            field("name", DataType::Utf8),
            field("items", DataType::new_list(DataType::Int64, true)),
            field("names", DataType::new_list(DataType::Utf8, true)),
            field("bytes", DataType::Binary),
            field("flag", DataType::Boolean),
        ])
    }

    /// The names of a row's list: one for each item.
    fn names(items: &[i64]) -> impl Iterator<Item = u32> {
        items.iter().map(|item| item.rem_euclid(3) as u32)
    }

    fn parts(rows: &[Row], zstd: Option<&mut Compressor<'static>>) -> Vec<ColumnPart> {
        let lists = PageLevels::lists(&rows.iter().map(|(_, _, items, _)| items.len()).collect::<Vec<_>>());
        let (firsts, flat): (Vec<i32>, Vec<i64>) =
            (rows.iter().map(|row| row.0).collect(), rows.iter().flat_map(|row| row.2.clone()).collect());
        let bytes = rows.iter().map(|row| row.3.as_slice());
        let (items, bytes) = match zstd {
            Some(zstd) => (
                numbers(&flat, lists.clone(), PageCompression::Zstd(zstd)).unwrap(),
                byte_strings(bytes, PageCompression::Zstd(zstd)).unwrap(),
            ),
            None => (
                numbers(&flat, lists.clone(), PageCompression::Lz4).unwrap(),
                byte_strings(bytes, PageCompression::Lz4).unwrap(),
            ),
        };
        let each = PageLevels::required(rows.len());
        vec![
            numbers(&firsts, each.clone(), PageCompression::Tried).unwrap(),
            coded(&rows.iter().map(|row| row.1).collect::<Vec<_>>(), &NAMES, each).unwrap(),
            items,
            coded(&rows.iter().flat_map(|row| names(&row.2)).collect::<Vec<_>>(), &NAMES, lists).unwrap(),
            bytes,
            flags(&rows.iter().map(|row| row.0 % 2 == 0).collect::<Vec<_>>()).unwrap(),
        ]
    }

    /// Writes batches of rows, of which each row group has two.
    fn written(rows: &[Row], batch: usize, is_zstd: bool) -> Bytes {
        let mut file = GatheredFile::new(Vec::new(), &schema()).unwrap();
        let mut zstd = zstd().unwrap();
        for group in rows.chunks(2 * batch) {
            for rows in group.chunks(batch) {
                file.add(parts(rows, is_zstd.then_some(&mut zstd))).unwrap();
            }
            file.end_group(None).unwrap();
        }
        file.file().finish().unwrap();
        std::mem::take(file.file().inner_mut()).into()
    }

    /// Returns the lists of a column, each item converted.
    fn lists<T>(column: &ArrayRef, of: impl Fn(&ArrayRef) -> Vec<T>) -> Vec<Vec<T>> {
        column.as_list::<i32>().iter().map(|list| of(&list.unwrap())).collect()
    }

    /// Returns the rows of a batch.
    fn read(batch: &RecordBatch) -> Vec<Row> {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        assert_eq!(batch.columns().iter().map(|column| column.null_count()).sum::<usize>(), 0);
        let number = |name: &str| NAMES.iter().position(|other| *other == name).unwrap() as u32;
        let items = lists(column("items"), |items| items.as_primitive::<Int64Type>().values().to_vec());
        let texts =
            |names: &ArrayRef| names.as_string::<i32>().iter().map(|name| number(name.unwrap())).collect();
        let named: Vec<Vec<u32>> = lists(column("names"), texts);
        let row = |at: usize| {
            let first = column("number").as_primitive::<Int32Type>().value(at);
            assert!(named[at].iter().copied().eq(names(&items[at])));
            assert_eq!(column("flag").as_boolean().value(at), first % 2 == 0);
            let name = number(column("name").as_string::<i32>().value(at));
            (first, name, items[at].clone(), column("bytes").as_binary::<i32>().value(at).to_vec())
        };
        (0..batch.num_rows()).map(row).collect()
    }

    proptest! {
        #[test]
        fn rows_come_back_however_they_are_compressed(rows in rows(), batch in 1..200usize, is_zstd in any::<bool>()) {
            let file = written(&rows, batch, is_zstd);
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(50).build().unwrap();
            let found: Vec<Row> = reader.flat_map(|batch| read(&batch.unwrap())).collect();
            prop_assert_eq!(found, rows);
        }
    }

    #[test]
    fn only_names_that_occur_are_written_and_told() {
        let table = |indexes: &[u32]| {
            let schema = Schema::new(vec![Field::new("name", DataType::Utf8, false)]);
            let (mut file, schema) = PagedFile::new(Vec::new(), &schema).unwrap();
            let mut chunk = ColumnChunk::new(schema.column(0));
            let names = ["b".to_owned(), "a".to_owned(), "x".repeat(65)];
            chunk.add(coded(indexes, &names, PageLevels::required(indexes.len())).unwrap()).unwrap();
            let statistics = chunk.text_statistics();
            file.append(std::iter::once(chunk.end(statistics))).unwrap();
            file.finish().unwrap();
            let read = SerializedFileReader::new(Bytes::from(std::mem::take(file.inner_mut()))).unwrap();
            let column = read.metadata().row_group(0).column(0).clone();
            let text = |bytes: Option<&[u8]>| String::from_utf8(bytes.unwrap().to_vec()).unwrap();
            column.statistics().map(|found| [text(found.min_bytes_opt()), text(found.max_bytes_opt())])
        };
        assert_eq!(table(&[0, 0]), Some(["b".to_owned(), "b".to_owned()]));
        assert_eq!(table(&[0, 1, 0]), Some(["a".to_owned(), "b".to_owned()]));
        assert_eq!(table(&[0, 2]), None, "a long text is left out, and its beginning would mislead");
    }

    #[test]
    fn names_and_compressions_that_do_not_fit_are_errors() {
        assert!(coded(&[4], &NAMES, PageLevels::required(1)).is_err());
        let column = PagedFile::new(Vec::new(), &schema()).unwrap().1.column(4);
        let mut chunk = ColumnChunk::new(column);
        let bytes = || std::iter::once(&b"a"[..]);
        chunk.add(byte_strings(bytes(), PageCompression::Lz4).unwrap()).unwrap();
        let mut zstd = zstd().unwrap();
        assert!(chunk.add(byte_strings(bytes(), PageCompression::Zstd(&mut zstd)).unwrap()).is_err());
    }
}
