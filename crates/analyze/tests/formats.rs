//! Every format of a table, read back by another program's reader or compared to the letter.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod support;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use perfpipe_analyze::breakdown::{cpu_table, error_table, label_stats, label_table};
use perfpipe_analyze::table::{Column, Format, Kind, RowWriter, Table, Value};
use perfpipe_analyze::{Error, League, Timeline, View};
use perfpipe_ingest::StoredRun;
use perfpipe_ingest::counts::ErrorCount;
use proptest::prelude::*;
use support::{Raw, Sample};

/// A row with a value of each kind, each of which may be absent.
type Row = (Option<u64>, Option<i64>, Option<f64>, Option<String>, Option<bool>);

fn row() -> impl Strategy<Value = Row> {
    let number = prop_oneof![any::<f64>().prop_filter("finite", |x| x.is_finite()), -10.0..10.0f64];
    let text = prop_oneof!["[ab,\"\r\n|é配;]{0,6}", any::<String>()];
    use prop::option::of;
    (of(any::<u64>()), of(any::<i64>()), of(number), of(text), of(any::<bool>()))
}

fn table(rows: &[Row]) -> Table {
    Table::of(rows)
        .column("count", |row| row.0)
        .column("delta", |row| row.1)
        .column("ratio", |row| row.2)
        .column("name, \"quoted\"", |row| row.3.clone())
        .column("done", |row| row.4)
        .done()
}

fn written(table: &Table, format: Format) -> String {
    let mut out = Vec::new();
    table.write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

proptest! {
    #[test]
    fn csv_reads_back_the_same(rows in prop::collection::vec(row(), 0..20)) {
        let text = written(&table(&rows), Format::Csv);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        prop_assert_eq!(reader.headers().unwrap(), vec!["count", "delta", "ratio", "name, \"quoted\"", "done"]);
        let back: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        prop_assert_eq!(back.len(), rows.len());
        for (record, row) in back.iter().zip(&rows) {
            prop_assert_eq!(record[0].parse().ok(), row.0);
            prop_assert_eq!(record[1].parse().ok(), row.1);
            prop_assert_eq!(record[2].parse::<f64>().ok().map(f64::to_bits), row.2.map(f64::to_bits));
            prop_assert!(!record[2].contains(['e', 'E']));
            prop_assert_eq!(&record[3], row.3.as_deref().unwrap_or_default());
            prop_assert_eq!(record[4].parse().ok(), row.4);
        }
    }

    #[test]
    fn json_reads_back_the_same(rows in prop::collection::vec(row(), 0..20)) {
        let text = written(&table(&rows), Format::Json);
        let back: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back.len(), rows.len());
        for (object, row) in back.iter().zip(&rows) {
            prop_assert_eq!(object.as_object().unwrap().len(), 5);
            prop_assert_eq!(object["count"].as_u64(), row.0);
            prop_assert_eq!(object["delta"].as_i64(), row.1);
            prop_assert_eq!(object["name, \"quoted\""].as_str(), row.3.as_deref());
            prop_assert_eq!(object["done"].as_bool(), row.4);
        }
        for (line, row) in text.lines().skip(1).zip(&rows) {
            let ratio = row.2.map_or("null".into(), |ratio| ratio.to_string());
            prop_assert!(line.contains(&format!(",\"ratio\":{ratio},")), "{}", line);
        }
        prop_assert_eq!(text.lines().count(), if rows.is_empty() { 1 } else { rows.len() + 2 });
    }

    #[test]
    fn parquet_reads_back_the_same(rows in prop::collection::vec(row(), 0..20)) {
        let mut file = Vec::new();
        table(&rows).write_parquet(&mut file).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
        let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
        let back: Vec<Row> = batches.iter().flat_map(rows_of).collect();
        prop_assert_eq!(back, rows);
    }

    #[test]
    fn text_table_has_a_line_a_row(rows in prop::collection::vec(row(), 0..20)) {
        prop_assert_eq!(written(&table(&rows), Format::Text).lines().count(), rows.len() + 2);
        prop_assert_eq!(written(&table(&rows), Format::Markdown).lines().count(), rows.len() + 2);
    }
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    fn get<T>(array: &dyn Array, at: usize, value: impl Fn() -> T) -> Option<T> {
        (!array.is_null(at)).then(value)
    }
    (0..batch.num_rows())
        .map(|at| {
            let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|column| batch.column(column));
            (
                get(a, at, || a.as_primitive::<UInt64Type>().value(at)),
                get(b, at, || b.as_primitive::<Int64Type>().value(at)),
                get(c, at, || c.as_primitive::<Float64Type>().value(at)),
                get(d, at, || d.as_string::<i32>().value(at).to_owned()),
                get(e, at, || e.as_boolean().value(at)),
            )
        })
        .collect()
}

#[test]
fn absent_is_not_empty_and_not_zero() {
    let rows =
        [(Some(0), Some(0), Some(-0.0), Some(String::new()), Some(false)), (None, None, None, None, None)];
    let table = table(&rows);
    assert_eq!(
        written(&table, Format::Csv).lines().skip(1).collect::<Vec<_>>(),
        ["0,0,-0,\"\",false", ",,,,"]
    );
    assert_eq!(
        written(&Table::of(&[(); 2]).column("x", |()| None::<u64>).done(), Format::Csv),
        "x\n\"\"\n\"\"\n"
    );
    assert_eq!(written(&Table::of(&[0u64; 0]).column("x", |x| Some(*x)).done(), Format::Json), "[]\n");
}

#[test]
fn numbers_that_are_none_are_null_in_json() {
    let table = Table::of(&[f64::NAN, f64::INFINITY, 1e21]).column("x", |x| Some(*x)).done();
    assert_eq!(
        written(&table, Format::Json),
        "[\n{\"x\":null},\n{\"x\":null},\n{\"x\":1000000000000000000000}\n]\n"
    );
    assert_eq!(written(&table, Format::Csv), "x\nNaN\ninf\n1000000000000000000000\n");
}

#[test]
fn people_see_aligned_columns_of_any_script() {
    let rows = [
        (Some(1_234_567), Some(-5), Some(0.25), Some("Größe/配额".to_owned()), Some(true)),
        (None, Some(12_000), None, Some("a|b\nc".to_owned()), None),
    ];
    assert_eq!(
        written(&table(&rows), Format::Text),
        "    count   delta  ratio  name, \"quoted\"  done\n\
         ---------  ------  -----  --------------  ----\n\
         1,234,567      -5   0.25  Größe/配额      yes\n\
        \x20       -  12,000      -  a|b\\nc          -\n"
    );
    assert_eq!(
        written(&table(&rows), Format::Markdown),
        "| count | delta | ratio | name, \"quoted\" | done |\n\
         | ---: | ---: | ---: | --- | --- |\n\
         | 1,234,567 | -5 | 0.25 | Größe/配额 | yes |\n\
         | - | 12,000 | - | a\\|b\\\\nc | - |\n"
    );
}

#[test]
fn row_that_does_not_fit_is_refused() {
    let columns = vec![Column::new("a", Kind::U64), Column::new("b", Kind::Text)];
    let mut writer = RowWriter::new(Format::Csv, columns, Vec::new()).unwrap();
    writer.row(&[1u64.into(), "x".into()]).unwrap();
    let error = writer.row(&[1u64.into()]).unwrap_err();
    assert_eq!(error.to_string(), "row 1: 1 values for 2 columns");
    let error = writer.row(&[Value::I64(1), Value::Absent]).unwrap_err();
    assert!(matches!(&error, Error::Row { row: 1, .. }), "{error}");
    assert_eq!(writer.finish().unwrap(), b"a,b\n1,x\n");
}

/// A disk that is full after a few bytes.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn full_disk_is_told() {
    let table = Table::of(&[1u64; 10]).column("x", |x| Some(*x)).done();
    for format in [Format::Csv, Format::Json, Format::Markdown, Format::Text] {
        for room in [0, 5, 12] {
            assert!(matches!(table.write(format, Full(room)), Err(Error::Io(_))), "{format:?} {room}");
        }
    }
    assert!(table.write_parquet(Full(12)).is_err());
}

/// Two seconds with a failure, a CPU reading in the first and an error in the second.
fn run(framework: &str, requests: i64) -> StoredRun {
    let sample = |at: i64, elapsed, success| Sample {
        t_ms: at,
        label: "Get",
        injector: "",
        elapsed,
        latency: Some(elapsed / 2),
        threads: Some(4),
        bytes: 10,
        success,
        transaction: false,
    };
    let mut samples: Vec<Sample> = (0..requests).map(|at| sample(at, 10 + at as i32, true)).collect();
    samples.push(sample(1500, 3, false));
    let raw = Raw { t0_ms: 1_700_000_000_000, samples, cpu: vec![(1_700_000_000, 7.25)] };
    let mut run = raw.stored();
    run.info.key.framework = framework.into();
    run.errors = vec![ErrorCount {
        second: 1,
        label: "Get".into(),
        response_code: "500".into(),
        message: "a,b\nc".into(),
        transaction: false,
        count: 1,
    }];
    run
}

fn timeline(framework: &str, requests: i64) -> Timeline {
    Timeline::new(&run(framework, requests), &View::default()).unwrap()
}

#[test]
fn per_second_table_has_its_columns() {
    let timeline = timeline("spring", 4);
    assert_eq!(
        written(&timeline.table(), Format::Csv),
        "second,successes,failures,load,elapsed_mean,elapsed_min,elapsed_max,latency_mean,latency_min,latency_max,\
         p25,p50,p75,p95,cpu\n\
         0,4,0,4,11.5,10,13,5.5,5,6,10.75,11.5,12.25,12.85,7.25\n\
         1,0,1,4,,,,,,,,,,,7.25\n"
    );
    let view = View::default().with_percentiles([99.9, 50.0]);
    let table = Timeline::new(&run("spring", 4), &view).unwrap().table();
    let names: Vec<&str> = table.columns().iter().map(Column::name).skip(10).collect();
    assert_eq!(names, ["p99.9", "p50", "cpu"]);
}

#[test]
fn summary_is_one_row() {
    assert_eq!(
        written(&timeline("spring", 4).summary_table(), Format::Csv),
        "framework,test,repeat,t0_ms,seconds,duration,duration_estimated,last_wait,successes,failures,failure_share,transactions,rejects,partial,throughput,\
         throughput_active,elapsed_mean,elapsed_min,elapsed_max,latency_mean,p25,p50,p75,p95,p99,cpu_mean,cpu_max,\
         cpu_coverage,load_max,bytes,sent_bytes,bytes_per_second,sent_bytes_per_second\n\
         spring,2048,1,1700000000000,2,1.503,false,0.003,4,1,0.2,0,0,false,2.6613439787092483,4,11.5,10,13,5.5,10.75,11.5,12.25,12.85,12.969999999999999,\
         7.25,7.25,1,4,40,80,26.613439787092485,53.22687957418497\n"
    );
}

#[test]
fn league_is_ranked_by_throughput_then_by_name() {
    let mut timelines = [timeline("slow", 2), timeline("b", 4), timeline("a", 4)];
    timelines[0].info.damage.push(perfpipe_ingest::run::Damage::default());
    timelines[1..].iter_mut().for_each(|timeline| timeline.summary.failures = 0);
    let league = League::new(&timelines).unwrap();
    assert_eq!(
        written(&league.table(), Format::Text),
        "rank  framework  throughput (1/s)  p50 (ms)  p95 (ms)  p99 (ms)  failures (%)  mean CPU (%)  \
         per CPU-second  load max  partial\n\
         ----  ---------  ----------------  --------  --------  --------  ------------  ------------  \
         --------------  --------  -------\n \
            1–2  a                       2.7      11.5      12.8      13.0          0.00           7.2            \
         36.7       4.0  no\n \
            1–2  b                       2.7      11.5      12.8      13.0          0.00           7.2            \
         36.7       4.0  no\n   \
            -  slow                    1.3      10.5      10.9      11.0         33.33           7.2            \
         18.4       4.0  yes\n"
    );
    assert!(League::new([]).unwrap().table().is_empty());
    let mut other = timeline("c", 1);
    other.info.key.test = "heavy_2048".into();
    let error = League::new([&timelines[0], &other]).unwrap_err();
    assert!(matches!(error, Error::MixedTests { .. }), "{error}");
}

#[test]
fn labels_errors_and_readings_have_tables() {
    let run = run("spring", 4);
    let labels = label_table(&label_stats(&run, &View::default()).unwrap());
    assert_eq!(
        written(&labels, Format::Csv),
        "label,successes,failures,elapsed_mean,p50,p95,p99,elapsed_min,elapsed_max,elapsed_sd,p90,latency_mean,\
         connect_mean,bytes,sent_bytes\n\
         Get,4,1,11.5,11.5,12.85,12.969999999999999,10,13,1.118033988749895,12.7,5.5,0,40,80\n"
    );
    let errors = "second,label,response_code,message,transaction,count\n";
    let one = format!("{errors}1,Get,500,\"a,b\nc\",false,1\n");
    assert_eq!(written(&error_table(&run, &View::default()).unwrap(), Format::Csv), one);
    let first = View::default().with_window(None, 0);
    assert_eq!(written(&error_table(&run, &first).unwrap(), Format::Csv), errors);
    let mut ahead = View::default();
    for (offset, from, rows) in [
        (0, None, "1700000000,0,7.25\n"),
        (2, None, "1700000000,,7.25\n"),
        (-1, None, "1700000000,,7.25\n"),
        (5, Some(0), ""),
        (1, Some(1), "1700000000,1,7.25\n"),
    ] {
        ahead.cpu.offset = offset;
        ahead.from = from;
        assert_eq!(
            written(&cpu_table(&run, &ahead).unwrap(), Format::Csv),
            format!("clock,second,value\n{rows}")
        );
    }
}
