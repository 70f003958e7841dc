//! Tests of the conversion of flags to the libraries' options.

use std::collections::BTreeMap;

use perfpipe_analyze::{Goal, Phase, View};
use perfpipe_ingest::run::Repeat;
use perfpipe_ingest::series::CpuScale;
use perfpipe_ingest::source::TimeUnit;
use perfpipe_ingest::{IngestOptions, RunInfo, RunKey};
use perfpipe_plot::{ColorBy, Palette, Paper, Style, Times};

use super::{Command, command};
use crate::args::{PageFormat, PageOptions};
use crate::commands::{export, ingest, inspect, watch};
use crate::input::view;

/// A line, and the changes that it makes to the default options.
type Changes<'a, T> = (&'a str, fn(&mut T));

/// Flags of an ingest, with the options that they change. Those on pages and folders are below.
pub(super) const INGEST: [Changes<'static, IngestOptions>; 36] = [
    ("--framework go", |o| o.framework = Some("go".into())),
    ("--test 2048", |o| o.test = Some("2048".into())),
    ("--repeat 3", |o| o.repeat = Repeat::Number(3)),
    ("--append-repeat", |o| o.repeat = Repeat::Next),
    ("--replace", |o| o.replace = true),
    ("--no-samples", |o| o.keep_samples = false),
    ("--salvage", |o| o.source.salvage = true),
    ("--tag commit=3f2a --tag branch=a=b", |o| {
        note(o, "tag:commit", "3f2a");
        note(o, "tag:branch", "a=b");
    }),
    ("--time-zone Europe/Warsaw", |o| {
        o.source.time_zone = "Europe/Warsaw".parse().unwrap();
        note(o, "time-zone", "Europe/Warsaw");
    }),
    ("--time-unit us", |o| {
        o.source.time_unit = Some(TimeUnit::Microseconds);
        note(o, "time-unit", "us");
    }),
    ("--delimiter ;", |o| {
        o.source.layout.delimiter = Some(b';');
        note(o, "delimiter", ";");
    }),
    ("--delimiter tab", |o| {
        o.source.layout.delimiter = Some(b'\t');
        note(o, "delimiter", "tab");
    }),
    ("--columns timeStamp,elapsed", |o| {
        o.source.layout.columns = Some("timeStamp,elapsed".into());
        note(o, "columns", "timeStamp,elapsed");
    }),
    ("--resolution 10us", |o| o.source.layout.resolution = Some("10us".parse().unwrap())),
    ("--max-rejects 7", |o| o.max_rejects = 7),
    ("--strict", |o| o.max_rejects = 0),
    ("--max-span 36h", |o| o.max_span_ms = 129_600_000),
    ("--origin 1795203738000", |o| {
        o.origin = Some(1_795_203_738_000);
        note(o, "origin", "1795203738000");
    }),
    ("--injector-pattern ^(.*)-", |o| {
        o.injector_pattern = Some("^(.*)-".into());
        note(o, "injector-pattern", "^(.*)-");
    }),
    ("--injectors 3", |o| note(o, "injectors", "3")),
    ("--only 1795203738000..1795203739000", |o| {
        o.only = Some(1_795_203_738_000..=1_795_203_739_000);
        note(o, "only", "1795203738000..1795203739000");
    }),
    ("--only ..2026-11-20T19:45:08Z", |o| {
        o.only = Some(i64::MIN..=1_795_203_908_000);
        note(o, "only", "..2026-11-20T19:45:08Z");
    }),
    ("--time-format dd.MM.yyyy-HH:mm", |o| {
        o.source.time_format = Some("dd.MM.yyyy-HH:mm".parse().unwrap());
        note(o, "time-format", "dd.MM.yyyy-HH:mm");
    }),
    ("--cpu-columns Time,cpu", |o| {
        o.source.cpu_columns = Some("Time,cpu".to_owned());
        note(o, "cpu-columns", "Time,cpu");
    }),
    ("--cpu-item 42", |o| {
        o.source.cpu_item = Some("42".to_owned());
        note(o, "cpu-item", "42");
    }),
    ("--cores 8", |o| o.source.cores = Some(8)),
    ("--cpu-scale percent-of-core", |o| {
        o.source.cpu_scale = Some(CpuScale::PercentOfCore);
        note(o, "cpu-scale", "percent-of-core");
    }),
    ("--cpu-scale percent-of-machine --cores 72", |o| {
        o.source.cpu_scale = Some(CpuScale::PercentOfMachine { cores: 72 });
        o.source.cores = Some(72);
        note(o, "cpu-scale", "percent-of-machine");
        note(o, "cores", "72");
    }),
    ("--cpu-scale fraction --cores 4", |o| {
        o.source.cpu_scale = Some(CpuScale::Fraction { cores: 4 });
        o.source.cores = Some(4);
        note(o, "cpu-scale", "fraction");
        note(o, "cores", "4");
    }),
    ("--cpu-offset -2", |o| o.cpu.offset = -2),
    ("--cpu-lookback 60", |o| o.cpu.lookback = Some(60)),
    ("--workers 5", |o| o.sizes.workers = 5),
    ("--readers 3", |o| o.sizes = o.sizes.with_readers(3)),
    ("--memory 64MB", |o| o.sizes.memory = 64 << 20),
    ("--time-zone UTC", |_| {}),
    ("--max-span 7d --max-rejects 1000 --memory 128MB", |_| {}),
];

fn note(options: &mut IngestOptions, name: &str, value: &str) {
    let mut noted = BTreeMap::from(std::mem::take(&mut options.noted));
    noted.insert(name.to_owned(), value.to_owned());
    options.noted = noted.into();
}

/// The flags that an inspection does not have, since it reads one run and stores nothing.
const NOT_INSPECTED: [&str; 6] =
    ["--repeat", "--append-repeat", "--replace", "--no-samples", "--frameworks", "--tag"];

fn ingest_options(line: &str) -> IngestOptions {
    let Command::Ingest(args) = command(&format!("ingest run.zip {line}")) else { panic!("{line}") };
    ingest::options(&args).unwrap()
}

#[test]
fn flags_of_an_ingest_become_its_options() {
    for (line, change) in INGEST {
        let mut expected = ingest_options("");
        change(&mut expected);
        assert_eq!(format!("{:#?}", ingest_options(line)), format!("{expected:#?}"), "{line}");
    }
    let plain = IngestOptions::default();
    assert_eq!(format!("{:#?}", ingest_options("")), format!("{plain:#?}"));
}

#[test]
fn flags_of_an_inspection_become_the_options_of_an_ingest() {
    for (line, change) in
        INGEST.iter().filter(|(line, _)| !NOT_INSPECTED.iter().any(|flag| line.contains(flag)))
    {
        let Command::Inspect(args) = command(&format!("inspect run.zip {line}")) else { panic!("{line}") };
        let mut expected = ingest_options("");
        change(&mut expected);
        assert_eq!(format!("{:#?}", inspect::options(&args).unwrap()), format!("{expected:#?}"), "{line}");
    }
}

#[test]
fn scale_of_the_machine_needs_its_cores_and_a_delimiter_is_one_character() {
    for line in
        ["--cpu-scale fraction", "--cpu-scale percent-of-machine", "--delimiter ab", "--time-zone Mars"]
    {
        let Command::Ingest(args) = command(&format!("ingest run.zip {line}")) else { panic!("{line}") };
        assert!(ingest::options(&args).is_err(), "{line}");
    }
}

/// Flags on the view, with the fields that they change.
pub(super) const VIEW: [Changes<'static, View>; 16] = [
    ("--from 3", |v| v.from = Some(3)),
    ("--to 9", |v| v.to = Some(9)),
    ("--from 3 --to 9", |v| (v.from, v.to) = (Some(3), Some(9))),
    ("--phase ramp", |v| v.phase = Some(Phase::Ramp)),
    ("--phase hold", |v| v.phase = Some(Phase::Hold)),
    ("--phase tail", |v| v.phase = Some(Phase::Tail)),
    ("--label 'Get /'", |v| v.label = Some("Get /".into())),
    ("--transactions", |v| v.transactions = true),
    ("--include-failures", |v| v.include_failures = true),
    ("--top-level", |v| v.top_level = true),
    ("--injectors 4", |v| v.injectors = 4),
    ("--cpu-offset -5", |v| v.cpu.offset = -5),
    ("--cpu-lookback 9", |v| v.cpu.lookback = 9),
    ("--percentiles 50,99.9", |v| v.percentiles = vec![50.0, 99.9]),
    ("--within 200ms --apdex 500ms", |v| {
        v.goals = vec![Goal::within("200ms").unwrap(), Goal::apdex("500ms").unwrap()];
    }),
    ("--corrected 10ms", |v| v.corrected = Some(10)),
];

/// A run with injectors and a clock offset given at its ingest.
fn info() -> RunInfo {
    let mut info = RunInfo::new(RunKey::new("go", "2048"), 0, 0);
    info.options.injectors = Some(2);
    info.cpu_offset = 7;
    info
}

#[test]
fn flags_of_a_watch_become_the_options_of_an_ingest() {
    for (line, change) in INGEST.iter().filter(|(line, _)| !line.contains("--salvage")) {
        let Command::Watch(args) = command(&format!("watch run.jtl {line}")) else { panic!("{line}") };
        let mut expected = ingest_options("");
        change(&mut expected);
        assert_eq!(format!("{:#?}", watch::options(&args).unwrap()), format!("{expected:#?}"), "{line}");
    }
}

#[test]
fn flags_of_an_export_become_its_view_and_others_come_from_the_ingest() {
    let view_of = |line: &str| {
        let Command::Export(args) = command(&format!("export go_2048 {line}")) else { panic!("{line}") };
        export::view_of(&args, &info())
    };
    assert_eq!(view_of(""), View::of(&info()));
    assert_eq!((view_of("").injectors, view_of("").cpu.offset), (2, 7));
    for (line, change) in VIEW {
        let mut expected = View::of(&info());
        change(&mut expected);
        assert_eq!(view_of(line), expected, "{line}");
    }
}

#[test]
fn commands_that_take_no_percentiles_have_the_same_view() {
    for (line, change) in VIEW.iter().take(13) {
        let mut expected = View::of(&info());
        change(&mut expected);
        let Command::Diagnose(args) = command(&format!("diagnose go_2048 {line}")) else { panic!("{line}") };
        assert_eq!(view::scope(&args.scope, &info()), expected, "{line}");
        let Command::Check(args) = command(&format!("check --test 2048 'p95 < 1s' {line}")) else {
            panic!("{line}")
        };
        assert_eq!(view::scope(&args.scope, &info()), expected, "{line}");
        let Command::Compare(args) = command(&format!("compare a b {line}")) else { panic!("{line}") };
        assert_eq!(view::of(&args.view, &info()), expected, "{line}");
        let Command::Report(args) = command(&format!("report go_2048 {line}")) else { panic!("{line}") };
        assert_eq!(view::of(&args.view, &info()), expected, "{line}");
    }
}

/// Flags on pages, with the fields of the style that they change.
pub(super) const STYLE: [Changes<'static, Style>; 13] = [
    ("--paper letter", |s| s.paper = Paper::Letter),
    ("--paper a4", |_| {}),
    ("--color-by cpu", |s| s.color_by = ColorBy::Cpu),
    ("--color-by throughput", |s| s.color_by = ColorBy::Throughput),
    ("--color-by load --palette original", |_| {}),
    ("--palette viridis", |s| s.palette = Palette::Viridis),
    ("--palette blues", |s| s.palette = Palette::Blues),
    ("--axis elapsed", |_| {}),
    ("--axis clock", |s| s.times = Times::Clock),
    ("--axis clock --time-zone +01:00", |s| {
        (s.times, s.time_zone) = (Times::Clock, "+01:00".parse().unwrap());
    }),
    ("--log-scale", |s| s.log_scale = true),
    ("--cpu-max 7200", |s| s.cpu_max = Some(7200.0)),
    ("--cores 72", |s| s.cores = Some(72)),
];

#[test]
fn flags_of_pages_become_their_style() {
    for (line, change) in STYLE {
        let mut expected = Style::default();
        change(&mut expected);
        let Command::Report(args) = command(&format!("report --test 2048 {line}")) else { panic!("{line}") };
        assert_eq!(args.pages().style(), expected, "report {line}");
        let Command::Ingest(args) = command(&format!("ingest run.zip --out charts {line}")) else {
            panic!("{line}")
        };
        assert_eq!(args.pages().style(), expected, "ingest {line}");
    }
    let Command::Compare(args) = command("compare a b --out c --paper letter --log-scale") else {
        panic!("compare")
    };
    assert_eq!(args.pages().style(), Style::default().with_paper(Paper::Letter).with_log_scale(true));
}

#[test]
fn formats_of_pages_are_those_that_are_given() {
    let check = |pages: &PageOptions<'_>, formats: &[PageFormat], scale: Option<f64>| {
        assert_eq!(pages.formats(), formats);
        assert_eq!(pages.sheet.scale, scale);
        assert_eq!(pages.wants_html(), formats.contains(&PageFormat::Html));
    };
    let (svg, pdf, png, html) = (PageFormat::Svg, PageFormat::Pdf, PageFormat::Png, PageFormat::Html);
    let Command::Report(args) = command("report --test t") else { panic!("report") };
    check(&args.pages(), &[svg, pdf], None);
    let Command::Report(args) = command("report --test t --format png,html --scale 3") else {
        panic!("report")
    };
    check(&args.pages(), &[png, html], Some(3.0));
    let Command::Ingest(args) = command("ingest a --out c --page-format html") else { panic!("ingest") };
    check(&args.pages(), &[html], None);
    let Command::Compare(args) = command("compare a b --out c --page-format pdf") else { panic!("compare") };
    check(&args.pages(), &[pdf], None);
}
