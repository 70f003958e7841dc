//! Tests of how the flags of each command are parsed, and which combinations are refused.

use std::collections::BTreeSet;
use std::path::Path;

use clap::error::ErrorKind;
use perfpipe_analyze::LevelAxis;
use perfpipe_analyze::table::Format;

use super::options::{INGEST, STYLE, VIEW};
use super::{Cli, Command, command, refused};
use crate::args::{FailOn, OutputArgs, PageFormat, PartChoice, ReportFormat, VerdictFormat};
use crate::commands::check::Fate;
use crate::commands::report::Chart;
use crate::commands::sweep::Axis;
use crate::input::versions::By;

/// True if a line was parsed as expected.
type IsRead = fn(Command) -> bool;

/// True if JSON is to be written to a file.
fn is_json(output: &OutputArgs) -> bool {
    output.format() == Format::Json && output.file.output.is_some()
}

/// Lines with the check of their parsed form. Every flag of every command is in one of them or in the tables of
/// options.
const LINES: [(&str, IsRead); 125] = [
    ("repair --keep-for 1h --force", |c| matches!(c, Command::Repair(a) if a.force)),
    (
        "ingest a.zip --connections 3",
        |c| matches!(c, Command::Ingest(a) if a.keep.sent.connections == Some(3)),
    ),
    (
        "ingest a.zip --distribute second",
        |c| matches!(c, Command::Ingest(a) if a.keep.sent.placement().is_some_and(|(place, _)| place.by_second && !place.columnar)),
    ),
    (
        "ingest a.zip --columnar",
        |c| matches!(c, Command::Ingest(a) if a.keep.sent.placement().is_some_and(|(place, _)| place.columnar && !place.by_second)),
    ),
    (
        "ingest a.zip --series memory=m.csv --unit bytes --series io=i.csv --unit MB/s",
        |c| matches!(c, Command::Ingest(a) if a.series.series.len() == 2 && a.series.unit == ["bytes", "MB/s"]),
    ),
    ("attach-cpu go_2048 --cpu-from zabbix+http://h?itemid=1 --ca-file ca.pem --cpu-timeout 9", |c| {
        matches!(c, Command::AttachCpu(a) if a.cpu.as_deref() == Some(Path::new("go_2048"))
            && a.reading.from.cpu_from.is_some() && a.reading.from.ask.ca_file.is_some() && a.reading.from.ask.cpu_timeout == Some(9))
    }),
    (
        "ingest a.zip --cpu-from zabbix+http://h?itemid=1 --ca-file ca.pem --cpu-timeout 9",
        |c| matches!(c, Command::Ingest(a) if a.log.cpu.from.cpu_from.is_some() && a.log.cpu.from.ask.cpu_timeout == Some(9)),
    ),
    (
        "inspect a.zip --cpu-from prometheus+http://h?query=up --ca-file ca.pem --cpu-timeout 9",
        |c| matches!(c, Command::Inspect(a) if a.log.cpu.from.cpu_from.is_some()),
    ),
    (
        "ingest a.zip --series memory=prometheus+http://h?query=up --unit bytes --cpu-timeout 9",
        |c| matches!(c, Command::Ingest(a) if a.series.series.len() == 1 && a.log.cpu.from.ask.cpu_timeout == Some(9)),
    ),
    (
        "inspect a.zip --series memory=prometheus+http://h?query=up --unit bytes",
        |c| matches!(c, Command::Inspect(a) if a.series.series.len() == 1),
    ),
    (
        "attach-series go_2048 --series memory=zabbix+http://h?itemid=1 --unit bytes --ca-file ca.pem --cpu-timeout 9",
        |c| matches!(c, Command::AttachSeries(a) if a.series.series.len() == 1 && a.ask.ca_file.is_some() && a.ask.cpu_timeout == Some(9)),
    ),
    (
        "ingest a.zip --part auto/16 --injector load-3 --framework go --test t --origin 7",
        |c| matches!(c, Command::Ingest(a) if a.part == Some(PartChoice::Auto(Some(16))) && a.injector.as_deref() == Some("load-3")),
    ),
    (
        "merge go_2048 --parts 16 --max-rejects 7 --replace",
        |c| matches!(c, Command::Merge(a) if a.run == "go_2048" && a.parts == 16 && a.max_rejects == 7 && a.replace),
    ),
    (
        "watch run.jtl - --idle-end 30s --connections 3 --rules r.toml --abort-after 10s --frameworks p.toml --serve localhost:8090",
        |c| matches!(c, Command::Watch(a) if a.files.len() == 2 && a.idle_end == Some(30_000) && a.abort_after == Some(10_000) && a.serve.is_some_and(|at| at.port() == 8090) && a.rules.is_some() && a.keep.sent.connections == Some(3)),
    ),
    (
        "watch run.jtl --cpu-from prometheus+http://h?query=up --ca-file ca.pem --cpu-timeout 9",
        |c| matches!(c, Command::Watch(a) if a.log.cpu.from.cpu_from.is_some()),
    ),
    (
        "watch run.jtl --distribute second --columnar",
        |c| matches!(c, Command::Watch(a) if a.keep.sent.placement().is_some_and(|(place, _)| place.by_second && place.columnar)),
    ),
    ("drop go_2048 --part 3 --part 4", |c| matches!(c, Command::Drop(a) if a.part == [3, 4])),
    (
        "ingest night --frameworks ports.toml",
        |c| matches!(c, Command::Ingest(a) if a.keep.frameworks.as_deref() == Some(Path::new("ports.toml"))),
    ),
    (
        "ingest a.zip --out charts --format json -o x.json",
        |c| matches!(c, Command::Ingest(a) if a.out.as_deref() == Some(Path::new("charts")) && is_json(&a.output)),
    ),
    (
        "ingest night --dry-run --jobs 3 --format md",
        |c| matches!(c, Command::Ingest(a) if a.campaign.dry_run && a.campaign.jobs == Some(3) && a.output.format() == Format::Markdown),
    ),
    (
        "ingest a.zip --out c --page-format png --scale 4 --fonts system",
        |c| matches!(c, Command::Ingest(a) if a.pages().sheet.scale == Some(4.0)),
    ),
    ("ingest a.zip b.csv -", |c| matches!(c, Command::Ingest(a) if a.files.len() == 3)),
    (
        "inspect a.zip --format json -o x.json",
        |c| matches!(c, Command::Inspect(a) if a.format() == Format::Json && a.output.output.as_deref() == Some(Path::new("x.json"))),
    ),
    ("report go_2048 spring_2048", |c| matches!(c, Command::Report(a) if a.runs.run.len() == 2)),
    (
        "report --test t --framework a --framework b --repeat 1 --repeat 2",
        |c| matches!(c, Command::Report(a) if a.runs.of.framework == ["a", "b"] && a.runs.of.repeat == [1, 2] && a.runs.of.test.as_deref() == Some("t")),
    ),
    (
        "report --test t --out charts --table csv --order-by p99",
        |c| matches!(c, Command::Report(a) if a.out.as_deref() == Some(Path::new("charts")) && a.table == Format::Csv && a.order_by.as_deref() == Some("p99")),
    ),
    (
        "report --test t -o report.html",
        |c| matches!(c, Command::Report(a) if a.output.is_some() && a.pages().formats() == [PageFormat::Html]),
    ),
    (
        "report --test t --one-file -o report.pdf",
        |c| matches!(c, Command::Report(a) if a.pages().formats() == [PageFormat::Pdf]),
    ),
    ("merge go_t --parts 2 --format json -o x", |c| matches!(c, Command::Merge(a) if is_json(&a.output))),
    ("watch run.jtl --format json -o x", |c| matches!(c, Command::Watch(a) if is_json(&a.output))),
    (
        "report --test t --chart time,sweep --format png --scale 1",
        |c| matches!(c, Command::Report(a) if a.charts() == [Chart::Time, Chart::Sweep]),
    ),
    (
        "report --test t --format pdf --one-file --fonts a.ttf --time-zone UTC",
        |c| matches!(c, Command::Report(a) if a.pages().one_file),
    ),
    (
        "report --test t --figure response,cpu --figure overview --size 84x60mm",
        |c| matches!(c, Command::Report(a) if a.figures.chosen().len() == 3 && a.figures.size().is_some_and(|size| size.to_string() == "84x60mm")),
    ),
    (
        "report go_t --figure response -o fig.pdf",
        |c| matches!(c, Command::Report(a) if a.pages().formats() == [PageFormat::Pdf] && a.figures.size().is_some_and(|size| size.to_string() == "84mm")),
    ),
    (
        "report --test t --format html --rules rules.toml",
        |c| matches!(c, Command::Report(a) if a.rules.as_deref() == Some(Path::new("rules.toml"))),
    ),
    (
        "report --test t --percentiles 50 --within 1s --apdex 1s",
        |c| matches!(c, Command::Report(a) if a.goals.goals().len() == 2 && a.view.percentiles() == [50.0]),
    ),
    (
        "export --framework go --test 2048 --repeat 2",
        |c| matches!(c, Command::Export(a) if a.runs.run.is_empty() && a.runs.of.framework == ["go"] && a.runs.of.repeat == [2]),
    ),
    (
        "export go_2048#2 --what samples --format parquet --output x",
        |c| matches!(c, Command::Export(a) if a.runs.run == ["go_2048#2"] && a.format().is_some_and(|f| f.of_table().is_none())),
    ),
    (
        "diagnose go_2048 --cores 72 --format json -o x",
        |c| matches!(c, Command::Diagnose(a) if a.cores.cores == Some(72) && a.output.format() == Format::Json),
    ),
    (
        "diagnose --framework go --test 2048 --repeat 2",
        |c| matches!(c, Command::Diagnose(a) if a.runs.of.test.as_deref() == Some("2048")),
    ),
    (
        "check go_2048 'p95 < 1s' go_2048#2",
        |c| matches!(c, Command::Check(a) if a.runs() == ["go_2048", "go_2048#2"] && a.rules().eq(["p95 < 1s"])),
    ),
    (
        "check --test t --framework a --repeat 1 --rules r.toml --junit j.xml --github",
        |c| matches!(c, Command::Check(a) if a.github && a.junit.is_some() && a.rules.is_some() && a.of.framework == ["a"] && a.of.repeat == [1]),
    ),
    ("check --test t --baseline go_t --baseline-store old 'p95 < baseline' --format md --output v", |c| {
        matches!(c, Command::Check(a) if a.baseline == ["go_t".parse().unwrap()]
            && a.baseline_store.baseline_store.as_deref() == Some(Path::new("old")) && a.output.file.output.is_some())
    }),
    (
        "check --test t --baseline 'last 5 of tag:a=b' 'p95 < baseline'",
        |c| matches!(c, Command::Check(a) if a.baseline == ["last 5 of tag:a=b".parse().unwrap()]),
    ),
    (
        "trend --test t --framework a --by tag:commit --tag branch=main --repeat 1 --out o --page-format png --scale 2 --paper a4 --log-scale --fonts none",
        |c| matches!(c, Command::Trend(a) if a.by == "tag:commit".parse().unwrap() && a.of.tag.len() == 1 && a.drawn.out.is_some()),
    ),
    (
        "check go_t 'p95 not worse than baseline' --baseline go_t#1 --baseline go_t#2 --no-baseline pass --unknown fail",
        |c| {
            matches!(c, Command::Check(a) if a.runs() == ["go_t"] && a.rules().eq(["p95 not worse than baseline"])
            && a.baseline.len() == 2 && a.no_baseline == Some(Fate::Pass) && a.unknown == Some(Fate::Fail))
        },
    ),
    ("compare a b --fail-on worse", |c| matches!(c, Command::Compare(a) if a.fail_on == Some(FailOn::Worse))),
    (
        "trend --test t --by day --fail-on worse --newest 3",
        |c| matches!(c, Command::Trend(a) if a.fail_on.is_some() && a.newest == Some(3)),
    ),
    ("trend --test t --by day --fail-on worse", |c| matches!(c, Command::Trend(a) if a.newest.is_none())),
    (
        "trend --test t --by day --min-change 2% --format md -o x",
        |c| matches!(c, Command::Trend(a) if a.by == By::Day && a.drawn.out.is_none()),
    ),
    (
        "plan --test t --framework a --repeat 1 --tag a=b --by tag:commit --change 3% --runs 5 --minutes 2.5 --format json -o p",
        |c| matches!(c, Command::Plan(a) if a.change == 0.03 && a.runs == Some(5) && a.minutes == Some(2.5)),
    ),
    (
        "capacity go_steps --slo 'p95 < 200ms' --slo 'failures < 1%' --by rate --format json -o c",
        |c| matches!(c, Command::Capacity(a) if a.slo.len() == 2 && a.by == Some(LevelAxis::Rate) && a.runs.run == ["go_steps"]),
    ),
    (
        "capacity --test t --framework a --repeat 1 --tag a=b --slo 'p95 < 1s' --by-label",
        |c| matches!(c, Command::Capacity(a) if a.by_label && a.runs.of.tag.len() == 1),
    ),
    (
        "alternate --framework f --test t --tag a=b --log l --pairs 4 --stop-early --sides x,y --decide p99 --percentiles 50,99 --fail-on worse --format json -o p -- a b",
        |c| matches!(c, Command::Alternate(a) if a.pairs == 4 && a.stop_early && a.sides == ["x", "y"] && a.commands == ["a", "b"]),
    ),
    (
        "alternate --framework f --test t --log l --together --cpus 0-3 -- a b",
        |c| matches!(c, Command::Alternate(a) if a.together && a.cpus.as_deref() == Some("0-3") && a.decide == ["throughput"]),
    ),
    (
        "alternate --framework f --test t --log l --time-unit us --delimiter ; --columns timeStamp,elapsed --resolution 10us --max-rejects 7 --max-span 36h --only 1..2 --origin 1 --injector-pattern ^(.*)- --injectors 3 --time-zone UTC --time-format dd.MM.yyyy-HH:mm --cpu-columns a,b --cpu-item i --cpu-scale percent-of-core --cpu-from zabbix+http://h?itemid=1 --ca-file c --cpu-timeout 9 --cpu-offset 1 --cpu-lookback 3 --workers 2 --readers 2 --memory 64MB --cores 8 -- a b",
        |c| matches!(c, Command::Alternate(a) if a.reading.max_rejects == 7 && a.cores.cores == Some(8)),
    ),
    (
        "site public --title nightly --by day --rules r.toml --version-url https://host/{} --format json -o x",
        |c| matches!(c, Command::Site(a) if a.dir == Path::new("public") && a.title.is_some() && a.shown.rules.is_some() && a.shown.version_url.is_some() && is_json(&a.output)),
    ),
    (
        "serve --listen localhost:9000 --title nightly --by day --rules r.toml --version-url https://host/{} --every 60 --dir d",
        |c| matches!(c, Command::Serve(a) if a.listen.port() == 9000 && a.listen.ip().is_loopback() && a.title.is_some() && a.shown.by == Some(By::Day) && a.shown.rules.is_some() && a.every == 60 && a.dir.is_some()),
    ),
    (
        "serve",
        |c| matches!(c, Command::Serve(a) if a.listen.to_string() == "127.0.0.1:8090" && a.every == 5 && a.dir.is_none()),
    ),
    ("open public", |c| matches!(c, Command::Open(a) if a.dir.as_deref() == Some(Path::new("public")))),
    ("open", |c| matches!(c, Command::Open(a) if a.dir.is_none())),
    ("plan --test t --pairs", |c| matches!(c, Command::Plan(a) if a.pairs && a.change == 0.05)),
    (
        "list --test t --framework a --repeat 1 --tag a=b",
        |c| matches!(c, Command::List(a) if a.of.tag.len() == 1),
    ),
    ("report --test t --tag a=b --tag c=d", |c| matches!(c, Command::Report(a) if a.runs.of.tag.len() == 2)),
    ("check --test t --tag a=b 'p95 < 1s'", |c| matches!(c, Command::Check(a) if a.of.tag.len() == 1)),
    (
        "compare --test t --framework a --tag a=b --tag a=c",
        |c| matches!(c, Command::Compare(a) if a.of.tag.len() == 2),
    ),
    ("copy --to x --tag a=b", |c| matches!(c, Command::Copy(a) if !a.runs.is_all())),
    ("verify --tag a=b", |c| matches!(c, Command::Verify(a) if !a.runs.is_all())),
    ("repair --keep-for 36h", |c| matches!(c, Command::Repair(a) if a.keep_for == Some(36 * 3_600_000))),
    ("repair --tag a=b", |c| matches!(c, Command::Repair(a) if !a.runs.is_all())),
    (
        "compare a_t b_t c_t",
        |c| matches!(c, Command::Compare(a) if a.a.as_deref() == Some("a_t") && a.b == ["b_t", "c_t"]),
    ),
    (
        "compare a b --decide throughput,p95",
        |c| matches!(c, Command::Compare(a) if a.decide == ["throughput", "p95"]),
    ),
    (
        "compare --test t --framework a --framework b --repeat 1",
        |c| matches!(c, Command::Compare(a) if a.a.is_none() && a.of.framework == ["a", "b"] && a.of.repeat == [1]),
    ),
    (
        "compare a b --baseline-store old --format csv --output x --percentiles 9",
        |c| matches!(c, Command::Compare(a) if a.output.format() == VerdictFormat::Report(ReportFormat::Table(Format::Csv)) && a.baseline_store.baseline_store.is_some()),
    ),
    (
        "compare a b --out c --page-format png --scale 2 --paper a4 --log-scale --fonts none",
        |c| matches!(c, Command::Compare(a) if a.drawn.out.as_deref() == Some(Path::new("c"))),
    ),
    ("list --format json --output runs.json", |c| matches!(c, Command::List(a) if is_json(&a.output))),
    (
        "copy a b --to laptop --replace --yes",
        |c| matches!(c, Command::Copy(a) if a.replace && a.confirm.yes && a.runs.run == ["a", "b"] && a.to.is_some()),
    ),
    (
        "copy --test t --framework a --repeat 2 --to-database postgres://h/d",
        |c| matches!(c, Command::Copy(a) if !a.replace && a.runs.of.repeat == [2] && a.runs.of.framework == ["a"] && a.to_database.is_some()),
    ),
    (
        "attach-series go_2048 --series memory=m.csv --unit bytes --replace --salvage",
        |c| matches!(c, Command::AttachSeries(a) if a.replace && a.salvage && a.series.series == ["memory=m.csv"]),
    ),
    (
        "attach-series --framework go --test 2048 --repeat 2 --series memory=m.csv --unit bytes --time-zone +01:00",
        |c| matches!(c, Command::AttachSeries(a) if a.runs.run.is_empty() && a.runs.of.repeat == [2] && a.time_zone == "+01:00"),
    ),
    (
        "attach-series go_2048 --series memory=m.csv --unit bytes --series-columns t,mem --time-format dd.MM.yyyy-HH:mm",
        |c| matches!(c, Command::AttachSeries(a) if a.series.series_columns == ["t,mem"] && a.time_format.is_some()),
    ),
    ("inspect a.zip --series memory=m.csv --unit bytes --series-columns t,mem", |c| {
        matches!(c, Command::Inspect(a) if a.series.series == ["memory=m.csv"] && a.series.unit == ["bytes"]
            && a.series.series_columns == ["t,mem"])
    }),
    ("sweep ladder.log --series memory=m.csv --unit bytes --series-columns t,mem", |c| {
        matches!(c, Command::Sweep(a) if a.series.series == ["memory=m.csv"] && a.series.unit == ["bytes"]
            && a.series.series_columns == ["t,mem"])
    }),
    (
        "ingest a.zip --series memory=m.csv --unit bytes --series-columns t,mem",
        |c| matches!(c, Command::Ingest(a) if a.series.series_columns == ["t,mem"]),
    ),
    ("attach-cpu r c --cpu-columns Time,cpu --time-format dd.MM.yyyy-HH:mm", |c| {
        matches!(c, Command::AttachCpu(a) if a.reading.cpu_columns.as_deref() == Some("Time,cpu")
            && a.reading.time_format.is_some())
    }),
    ("attach-cpu go_2048 cpu.csv --replace --cpu-offset -2 --cpu-lookback 5", |c| {
        matches!(c, Command::AttachCpu(a) if a.replace && a.cpu.as_deref() == Some(Path::new("cpu.csv")) && a.runs.run == ["go_2048"]
            && a.reading.join.cpu_offset == Some(-2) && a.reading.join.cpu_lookback == Some(5))
    }),
    (
        "attach-cpu --framework go --test 2048 --repeat 2 cpu.csv",
        |c| matches!(c, Command::AttachCpu(a) if a.runs.run.is_empty() && a.cpu.as_deref() == Some(Path::new("cpu.csv")) && a.runs.of.repeat == [2]),
    ),
    ("attach-cpu r c --time-zone +01:00 --cpu-item 7 --cpu-scale fraction --cores 8", |c| {
        matches!(c, Command::AttachCpu(a) if a.reading.time_zone == "+01:00" && a.reading.cpu_item.as_deref() == Some("7")
            && a.reading.cpu_scale.is_some() && a.cores.cores == Some(8))
    }),
    (
        "verify go_2048 --format csv --output x",
        |c| matches!(c, Command::Verify(a) if a.runs.run == ["go_2048"] && a.output.format() == Format::Csv),
    ),
    ("verify --test t --framework a --repeat 1", |c| matches!(c, Command::Verify(a) if !a.runs.is_all())),
    ("migrate --dry-run", |c| matches!(c, Command::Migrate(a) if a.dry_run)),
    ("repair --format json -o x", |c| matches!(c, Command::Repair(a) if is_json(&a.output))),
    ("migrate --format json -o x", |c| matches!(c, Command::Migrate(a) if is_json(&a.output))),
    ("drop go_t --format json -o x", |c| matches!(c, Command::Drop(a) if is_json(&a.output))),
    ("rename go_t --test u --format json -o x", |c| matches!(c, Command::Rename(a) if is_json(&a.output))),
    ("copy --to s --format json -o x", |c| matches!(c, Command::Copy(a) if is_json(&a.output))),
    (
        "attach-cpu go_t cpu.csv --format json -o x",
        |c| matches!(c, Command::AttachCpu(a) if is_json(&a.output)),
    ),
    (
        "attach-series go_t --series m=m.csv --unit bytes --format json -o x",
        |c| matches!(c, Command::AttachSeries(a) if is_json(&a.output)),
    ),
    ("repair -y", |c| matches!(c, Command::Repair(a) if a.confirm.yes)),
    ("repair --yes", |c| matches!(c, Command::Repair(a) if a.confirm.yes)),
    ("repair --dry-run", |c| matches!(c, Command::Repair(a) if a.dry_run && a.runs.is_all())),
    (
        "repair --test t --framework a --repeat 1",
        |c| matches!(c, Command::Repair(a) if !a.dry_run && !a.runs.is_all()),
    ),
    ("drop go_2048 go_512 -y", |c| matches!(c, Command::Drop(a) if a.runs.run.len() == 2 && a.confirm.yes)),
    (
        "drop --framework go --test 2048 --repeat 3 --yes",
        |c| matches!(c, Command::Drop(a) if a.runs.of.repeat == [3]),
    ),
    (
        "drop --older-than 90d --tag branch=x --keep-tagged release --keep-tagged v --dry-run",
        |c| matches!(c, Command::Drop(a) if a.older_than == Some(90 * 86_400_000) && a.keep_tagged.len() == 2 && a.dry_run),
    ),
    (
        "rename go_2048 --framework a --test b --repeat 2 --replace",
        |c| matches!(c, Command::Rename(a) if a.run == "go_2048" && a.repeat == Some(2) && a.replace),
    ),
    (
        "ingest a.log --name w{workers}.log --concurrency 8 --server-workers 2",
        |c| matches!(c, Command::Ingest(a) if a.points.name.is_some() && a.points.concurrency == Some(8) && a.points.server_workers == Some(2)),
    ),
    (
        "sweep --test t --framework a --tool wrk --by workers --format md -o x",
        |c| matches!(c, Command::Sweep(a) if a.by == Some(Axis::Workers) && a.tool == ["wrk"] && a.framework == ["a"] && a.output.file.output.is_some()),
    ),
    (
        "sweep --test t --out o --page-format png --scale 2 --paper a4 --log-scale --fonts none",
        |c| matches!(c, Command::Sweep(a) if a.drawn.out.as_deref() == Some(Path::new("o")) && a.pages().style().log_scale),
    ),
    (
        "sweep a b --frameworks f --name p --concurrency 2 --server-workers 3",
        |c| matches!(c, Command::Sweep(a) if a.test.is_none() && a.files.len() == 2 && a.frameworks.is_some() && a.points.name.is_some() && a.points.of_summaries() == Some("--concurrency")),
    ),
    (
        "inspect a.log --name w{workers}.log --concurrency 8 --server-workers 2",
        |c| matches!(c, Command::Inspect(a) if a.points.name.is_some() && a.points.server_workers == Some(2)),
    ),
    ("sweep --test t --at c64 --format csv", |c| matches!(c, Command::Sweep(a) if a.at == Some(64))),
    (
        "compare go@c64 nio@c64:wrk --test /json --format md",
        |c| matches!(c, Command::Compare(a) if a.b.len() == 1 && a.of.test.is_some()),
    ),
    (
        "export --test t --what points --format csv",
        |c| matches!(c, Command::Export(a) if a.runs.of.framework.is_empty() && a.runs.of.test.as_deref() == Some("t")),
    ),
    (
        "list --times --sort p95",
        |c| matches!(c, Command::List(a) if a.times && a.sort.as_deref() == Some("p95")),
    ),
    ("list --points --test t", |c| matches!(c, Command::List(a) if a.points)),
    ("export --test t --tag a=b", |c| matches!(c, Command::Export(a) if a.runs.of.tag.len() == 1)),
    ("diagnose --tag a=b", |c| matches!(c, Command::Diagnose(a) if a.runs.of.tag.len() == 1)),
    (
        "attach-cpu --tag a=b cpu.csv -y",
        |c| matches!(c, Command::AttachCpu(a) if a.runs.of.tag.len() == 1 && a.confirm.yes),
    ),
    (
        "attach-cpu go_t cpu.csv --yes",
        |c| matches!(c, Command::AttachCpu(a) if a.runs.run == ["go_t"] && a.confirm.yes),
    ),
    (
        "attach-series --tag a=b --series m=m.csv --unit bytes --yes",
        |c| matches!(c, Command::AttachSeries(a) if a.runs.of.tag.len() == 1 && a.confirm.yes),
    ),
    ("rename go_t --framework x --yes", |c| matches!(c, Command::Rename(a) if a.confirm.yes)),
    ("drop --points --test t --yes", |c| matches!(c, Command::Drop(a) if a.points && a.confirm.yes)),
    ("completions zsh", |c| matches!(c, Command::Completions(_))),
    ("man --out m", |c| matches!(c, Command::Man(a) if a.out == Path::new("m"))),
];

#[test]
fn flags_are_read_as_they_are_meant() {
    for (line, is_read) in LINES {
        assert!(is_read(command(line)), "{line}");
    }
}

/// The flags in the tables, each after the commands that have it.
fn tried() -> BTreeSet<String> {
    let lines = LINES.iter().map(|(line, _)| (*line).to_owned());
    let options = INGEST
        .iter()
        .flat_map(|(line, _)| ["ingest", "inspect", "watch"].map(|command| format!("{command} {line}")))
        .chain(["alternate --strict".to_owned()]);
    let commands = ["export", "report", "diagnose", "check", "compare", "trend", "plan", "capacity"];
    let views = VIEW.iter().flat_map(|(line, _)| commands.map(|command| format!("{command} {line}")));
    let styles = STYLE.iter().flat_map(|(line, _)| [format!("report {line}"), format!("ingest {line}")]);
    let flags = lines.chain(options).chain(views).chain(styles).flat_map(|line| {
        let command = line.split(' ').next().unwrap_or_default().to_owned();
        let long = |word: &str| if word == "-o" { "--output".to_owned() } else { word.to_owned() };
        let flags: Vec<String> = line.split(' ').filter(|word| word.starts_with('-')).map(long).collect();
        flags.into_iter().map(move |flag| format!("{command} {flag}"))
    });
    flags.collect()
}

#[test]
fn every_flag_stands_in_a_table() {
    let tried = tried();
    let mut perfpipe = Cli::command();
    perfpipe.build();
    let mut missed = Vec::new();
    for command in perfpipe.get_subcommands().filter(|command| command.get_name() != "help") {
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            let Some(flag) = argument.get_long() else { continue };
            let is_of_all =
                ["help", "version", "store", "database", "color", "wide", "quiet"].contains(&flag);
            let name = format!("{} --{flag}", command.get_name());
            if !is_of_all && !tried.contains(&name) {
                missed.push(name);
            }
        }
    }
    assert!(missed.is_empty(), "no line tries {missed:?}");
}

#[test]
fn runs_are_named_in_one_way_at_a_time() {
    for run in ["export", "diagnose"] {
        for flags in ["--test t", "--framework f", "--repeat 2", "--framework f --test t"] {
            assert_eq!(refused(&format!("{run} go_t {flags}")), ErrorKind::ArgumentConflict, "{run} {flags}");
        }
        for flags in ["", "--framework f", "--repeat 2", "--framework f --repeat 2"] {
            assert_eq!(
                refused(&format!("{run} {flags}")),
                ErrorKind::MissingRequiredArgument,
                "{run} {flags}"
            );
        }
    }
    for runs in ["report", "verify", "repair", "copy --to x", "drop"] {
        assert_eq!(refused(&format!("{runs} go_t --test t")), ErrorKind::ArgumentConflict, "{runs}");
    }
    assert_eq!(refused("check 'p95 < 1s' go_t --tag a=b"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("check --run go_t 'p95 < 1s'"), ErrorKind::UnknownArgument);
    assert!(matches!(command("report"), Command::Report(a) if a.runs.is_all()), "all tests");
    for line in [
        "report --framework f",
        "check 'p95 < 1s'",
        "compare",
        "compare a",
        "verify --repeat 1",
        "drop",
        "drop --yes",
        "drop --framework f",
        "drop --points",
        "merge go_t",
        "merge --parts 3",
        "ingest a.zip --part 3/16 --framework go --test t",
        "ingest a.zip --part 3/16 --framework go --origin 7",
        "ingest a.zip --injector x",
        "sweep",
        "rename go_t",
    ] {
        assert_eq!(refused(line), ErrorKind::MissingRequiredArgument, "{line}");
    }
    assert_eq!(refused("compare a go_t --test t --framework f"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("drop --test t --part 3"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("sweep --test t --at 8 --by workers"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("sweep --test t --at w8"), ErrorKind::ValueValidation);
    assert_eq!(refused("attach-cpu cpu.csv"), ErrorKind::MissingRequiredArgument);
    refused("attach-cpu go_t cpu.csv --framework go --test t");
}

#[test]
fn flags_of_another_thing_are_refused() {
    for line in [
        "compare a b --color-by cpu",
        "compare a b --cores 4",
        "compare a b --axis clock",
        "diagnose a --percentiles 50",
        "list --out x",
        "export a --out x",
        "ingest a --report x",
        "ingest a --table json",
        "ingest a --from x",
        "attach-series go_t --series m --unit b --from x",
        "watch a --check x",
        "report --test t --page-format png",
        "list --table json",
        "compare a b --table json",
    ] {
        assert_eq!(refused(line), ErrorKind::UnknownArgument, "{line}");
    }
    assert_eq!(refused("open public --store x"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("serve --every 0"), ErrorKind::ValueValidation);
    assert_eq!(refused("serve --listen 8090"), ErrorKind::ValueValidation);
    assert_eq!(refused("check --test t 'p95 < 1s' --baseline-store x"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("check --test t 'p95 < 1s' --no-baseline pass"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("trend --test t --by day --newest 3"), ErrorKind::MissingRequiredArgument);
    assert_eq!(refused("compare a b --fail-on better"), ErrorKind::InvalidValue);
    assert_eq!(refused("report --test t --cores 4 --cpu-max 9"), ErrorKind::ArgumentConflict);
    assert_eq!(refused("inspect a --format csv"), ErrorKind::InvalidValue);
    assert_eq!(refused("list --format parquet"), ErrorKind::InvalidValue);
}

#[test]
fn help_of_compare_lists_only_formats_that_it_writes() {
    let mut cli = Cli::command();
    let help = cli.find_subcommand_mut("compare").unwrap().render_long_help().to_string();
    let flag = help.split_once("--page-format <LIST>").unwrap().1;
    assert!(flag.split_once("--scale").unwrap().0.contains("[possible values: svg, pdf, png]"), "{help}");
}
