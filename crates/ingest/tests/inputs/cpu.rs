//! CPU exports of every form, and the rows that are refused.

use perfpipe_ingest::ErrorKind;
use std::io::Cursor;

use perfpipe_ingest::Result;
use perfpipe_ingest::series::CpuScale;
use perfpipe_ingest::source::{CpuExport, SourceOptions};

use crate::support::*;
use crate::zips::*;

fn read_by(text: &str, options: &SourceOptions) -> Result<CpuExport> {
    let file = on_disk("cpu.csv", text.as_bytes());
    read_cpu_by(recognise(&[&file.path]).unwrap(), options)
}

fn read(text: &str) -> Result<CpuExport> {
    read_by(text, &SourceOptions::default())
}

#[test]
fn every_form_gives_the_same_readings() {
    let expected = [(1_795_203_739, 3.0), (1_795_203_740, 12.5)];
    for text in [
        CPU,
        "\u{feff}clock,value\r\n1795203740,12.5\r\n1795203739,3\r\n",
        "\"clock\";\"value\"\n\"1795203739\";\"3\"\n\n\"1795203740\";\"12.5\"",
        "value\tclock\n3\t1795203739\n12.5\t1795203740\n",
        "itemid,clock,value,ns\n28504,1795203740,12.5,9\n28504,1795203739,3,7\n",
        "Timestamp,Value\n2026-11-20 19:42:19,3 %\n2026-11-20 19:42:20,12.5%\n",
        "1795203739,3\n1795203740,12.5\n",
        "1795203739.25;3\n1795203740.75;12.5\n",
        "\u{feff}1795203739,3\n1795203740,12.5\n",
        "clock,value\n1795203739,3\nclock,value\n1795203740,12.5\n",
        "clock, value\n 1795203739 , 3 \n1795203740,12.5\n",
        "timeStamp,elapsed,label,responseCode,threadName,success\n1795203739123,3000,web CPU,,,true\n1795203739124,88000,web Memory,,,true\n1795203740000,12500,web CPU,,,true\n",
    ] {
        // A PerfMon log is in percent of the machine.
        let options = SourceOptions::default().with_cores(1);
        let cpu = read_by(text, &options).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(cpu.series.readings(), expected, "{text}");
        assert_eq!(cpu.notes, [""; 0]);
        assert_eq!((cpu.file.file.as_str(), cpu.file.kind.name()), ("cpu.csv", "cpu"));
    }
}

#[test]
fn export_from_a_pipe_is_kept_aside() {
    for bytes in [CPU.as_bytes().to_vec(), gzip(CPU.as_bytes()), zstd(CPU.as_bytes())] {
        let cpu = read_cpu(from_pipe(Drip(Cursor::new(bytes))).unwrap()).unwrap();
        assert_eq!(cpu.series.readings().len(), 2);
        assert_eq!((cpu.file.file.as_str(), cpu.file.crc32), ("-", crc32fast::hash(CPU.as_bytes())));
    }
}

#[test]
fn dates_are_read_in_the_zone_that_was_told() {
    let options = SourceOptions::default().with_time_zone("Europe/Warsaw".parse().unwrap());
    let cpu = read_by("Timestamp,Value\n2026-11-20 20:42:19,3\n", &options).unwrap();
    assert_eq!(cpu.series.readings(), [(1_795_203_739, 3.0)]);
}

#[test]
fn later_nanosecond_of_a_second_wins_and_else_the_later_row() {
    let cpu = read("itemid,clock,value,ns\n1,1795203740,1,900\n1,1795203740,2,100\n").unwrap();
    assert_eq!(cpu.series.readings(), [(1_795_203_740, 1.0)]);
    let cpu = read("clock,value\n1795203740,1\n1795203740,2\n").unwrap();
    assert_eq!(cpu.series.readings(), [(1_795_203_740, 2.0)]);
}

#[test]
fn item_must_be_chosen_among_several() {
    let text = "itemid,clock,value,ns\n7,1795203740,1,0\n8,1795203740,2,0\n8,1795203741,3,0\n";
    let error = failure(read(text));
    assert!(error.to_string().contains("7 (1 ") && error.to_string().contains("8 (2 "), "{error}");
    assert_eq!(error.kind(), ErrorKind::CpuItems);
    let choose = |item| read_by(text, &SourceOptions::default().with_cpu_item(item));
    assert_eq!(choose(8).unwrap().series.readings(), [(1_795_203_740, 2.0), (1_795_203_741, 3.0)]);
    assert_eq!(choose(7).unwrap().series.readings(), [(1_795_203_740, 1.0)]);
    assert_eq!(failure(choose(9)).kind(), ErrorKind::CpuItemMissing);
    let options = SourceOptions::default().with_cpu_item(1);
    assert_eq!(failure(read_by(CPU, &options)).kind(), ErrorKind::NoCpuItems);
}

#[test]
fn empty_values_are_absent_and_counted() {
    let cpu = read("clock,value\n1795203740,\n1795203741,5\n1795203742, \n").unwrap();
    assert_eq!(cpu.series.readings(), [(1_795_203_741, 5.0)]);
    assert!(cpu.notes[0].contains('2'), "{:?}", cpu.notes);
    assert!(read("clock,value\n").unwrap().notes[0].contains("no readings"));
}

#[test]
fn row_that_can_not_be_read_is_named_by_line_and_column() {
    for (row, column, value) in [
        ("1795203740,high", "value", "high"),
        ("1795203740,\"1,500\"", "value", "1,500"),
        ("1795203740,1.2 K", "value", "1.2 K"),
        ("1795203740,-1", "value", "-1"),
        ("-1795203740,1", "clock", "-1795203740"),
        ("12,1", "clock", "12"),
        ("0026-11-20 19:42:15,1", "clock", "0026-11-20 19:42:15"),
        ("99999999999999999999,1", "clock", "99999999999999999999"),
        ("then,1", "clock", "then"),
        (",1", "clock", ""),
    ] {
        let error = failure(read(&format!("clock,value\n1795203739,1\n{row}\n1795203741,2\n")));
        assert_eq!(error.kind(), ErrorKind::CpuReading, "{row}: {error}");
        assert!(error.to_string().contains(&format!("{column} {value:?} ")), "{row}: {error}");
        assert!(error.to_string().contains("line 3"), "{row}: {error}");
        assert!(error.remedy().is_some());
    }
    let error = failure(read("clock,value\n1795203739,1\n1795203740\n1795203741,2\n"));
    assert_eq!(error.kind(), ErrorKind::CpuReading, "{error}");
    for fact in ["line 3", "field 2", "value"] {
        assert!(error.to_string().contains(fact), "{fact} is not in: {error}");
    }
}

#[test]
fn open_quote_or_an_endless_line_is_refused_before_it_fills_memory() {
    let error = failure(read("clock,value\n1795203739,1\n1795203740,\"2\n1795203741,3\n"));
    assert_eq!(error.kind(), ErrorKind::CpuReading, "{error}");
    assert!(error.to_string().contains("line 3 (byte 25)"), "{error}");
    let error = failure(read(&format!("clock,value\n1795203739,{}\n", "1".repeat(70_000))));
    assert_eq!(error.kind(), ErrorKind::CpuReading, "{error}");
    assert!(error.to_string().contains("64 KiB"), "{error}");
}

#[test]
fn damage_is_told_before_what_it_does_to_the_last_row() {
    let mut long = String::from("clock,value\n");
    (0..20_000).for_each(|second| long.push_str(&format!("{},{}\n", 1_795_203_740 + second, second % 97)));
    let zip = with_wrong_crc(deflated(&[("cpu.csv", long.as_bytes())]));
    let file = on_disk("cpu.zip", &zip);
    let error = failure(read_cpu(recognise(&[&file.path]).unwrap()));
    assert_eq!(error.kind(), ErrorKind::FileDamaged, "{error}");
    let cut = gzip(long.as_bytes());
    let file = on_disk("cpu.gz", &cut[..cut.len() - 9]);
    let error = failure(read_cpu(recognise(&[&file.path]).unwrap()));
    assert_eq!(error.kind(), ErrorKind::FileCut, "{error}");
}

/// A file of `fixtures/readings`, read with these options.
fn monitored(name: &str, options: &SourceOptions) -> Result<CpuExport> {
    let path = format!("{}/../../fixtures/readings/{name}", env!("CARGO_MANIFEST_DIR"));
    read_cpu_by(recognise(&[path.as_ref()]).unwrap(), options)
}

/// The readings of all that neither idled nor was stolen, of 200 %.
const BUSY: [(i64, f64); 4] =
    [(1_795_609_345, 199.0), (1_795_609_346, 200.0), (1_795_609_347, 200.0), (1_795_609_348, 200.0)];

#[test]
fn outputs_of_monitoring_tools_are_recognised_and_their_scale_is_known() {
    let of_machine = CpuScale::PercentOfMachine { cores: 2 };
    for (name, cores) in
        [("sadf.json", None), ("sadf.csv", Some(2)), ("mpstat.json", None), ("vmstat.txt", Some(2))]
    {
        let mut options = SourceOptions::default();
        options.cores = cores;
        let cpu = monitored(name, &options).unwrap_or_else(|e| panic!("{e}: {name}"));
        let readings = cpu.series.readings();
        match name {
            // Of the same counters.
            "sadf.json" | "sadf.csv" => assert_eq!(readings, BUSY, "{name}"),
            _ => assert!(
                readings.iter().all(|(clock, value)| (1_795_609_344..1_795_609_350).contains(clock)
                    && *value > 195.0
                    && *value <= 200.0),
                "{name}: {readings:?}"
            ),
        }
        assert_eq!(readings.len(), 4, "{name}");
        assert_eq!((cpu.scale, cpu.notes.len()), (Some(of_machine), 0), "{name}");
    }
    for name in ["sadf.csv", "vmstat.txt"] {
        assert_eq!(failure(monitored(name, &SourceOptions::default())).kind(), ErrorKind::CpuCores);
        let told = SourceOptions::default().with_cpu_scale(CpuScale::PercentOfCore);
        assert!(
            monitored(name, &told).is_ok_and(|cpu| cpu
                .series
                .readings()
                .iter()
                .all(|(_, value)| *value <= 100.0))
        );
    }
}

#[test]
fn answers_of_zabbix_and_prometheus_are_read_as_their_exports() {
    let zabbix = monitored("zabbix.json", &SourceOptions::default()).unwrap();
    let expected = [(1_795_354_444, 4.642021), (1_795_354_445, 5.012531), (1_795_354_446, 4.040404)];
    assert_eq!((zabbix.series.readings(), zabbix.scale), (expected.as_slice(), None));
    let prometheus = monitored(
        "prometheus.json",
        &SourceOptions::default().with_cpu_scale(CpuScale::PercentOfMachine { cores: 2 }),
    );
    let expected =
        [(1_795_354_593, 5.0000000000189), (1_795_354_594, 6.000000000131), (1_795_354_595, 5.0000000000189)];
    assert_eq!(prometheus.unwrap().series.readings(), expected);
}

#[test]
fn answers_of_several_items_need_a_choice_and_broken_ones_are_refused() {
    let reading = |item: u32| format!(r#"{{"itemid":"{item}","clock":"1795354444","value":"{item}"}}"#);
    let text = format!("[{},{}]", reading(7), reading(8));
    assert_eq!(failure(read(&text)).kind(), ErrorKind::CpuItems);
    let chosen = read_by(&text, &SourceOptions::default().with_cpu_item(8)).unwrap();
    assert_eq!(chosen.series.readings(), [(1_795_354_444, 8.0)]);
    for text in [
        &text[..text.len() - 5],
        r#"{"jsonrpc":"2.0","error":{"code":-32602,"data":"Not authorised."},"id":1}"#,
    ] {
        assert_eq!(failure(read(text)).kind(), ErrorKind::CpuReading, "{text}");
    }
}
