//! The whole job against its opponents, in turn, on one log: `cargo bench -p perfpipe --bench opponents`.
//!
//! Makes a log, runs each contender once a round, and prints medians and the ratio to `unzip -p` within each
//! round, so that a machine whose speed drifts does no harm. `-- --help` prints its options.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark speaks to a terminal, and stops at the first thing that is amiss"
)]

mod deal;
#[allow(dead_code, reason = "the generator's own options use all of it")]
#[path = "../../../ingest/examples/generate/options.rs"]
mod generate;
#[allow(dead_code, reason = "the generator's own options use all of it")]
#[path = "../../../ingest/examples/generate/load/mod.rs"]
mod load;
#[allow(dead_code, reason = "other benchmarks print another table")]
mod measure;
mod others;
#[path = "../../../ingest/examples/generate/output.rs"]
mod output;
mod plot;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;
mod repeat;

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Parser, ValueEnum};
use deal::Order;
use measure::{BEST, Contender, print, race};

/// The rows that are ready to be copied, in the folder of the benchmark.
const READY: &str = "ready.bin";

/// The command that this benchmark gives itself to inflate a file and nothing else.
const INFLATE: &str = "--inflate-only";

const HELP: &str = "\
--rows N          samples of the log [default: 10000000]
--runs N          rounds [default: 5]
--shape NAME      shape of the log, or `all` for perfpipe and `unzip -p` on each [default: one]
--log FILE        real log, zipped or plain, that is repeated with its times shifted until it is as long
--logs N          the same records in that many logs, dealt out and cut [default: 8]
--only WORD,WORD  contenders with such a word in their name
--against FILE    another build of perfpipe
--jmeter JAR      JMeter's own report
--plot FILE       wall times as an SVG";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help") {
        println!("{HELP}");
        return;
    }
    if let [flag, file] = words.as_slice()
        && flag == INFLATE
    {
        return inflate(Path::new(file));
    }
    let told = |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
    let number =
        |flag: &str, default: u64| told(flag).map_or(default, |value| value.parse().expect("a whole number"));
    let is_wanted = |contender: &Contender| told("--only").is_none_or(|words| contender.is_named(words));
    let (rows, runs) = (number("--rows", 10_000_000), number("--runs", 5));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shape = told("--shape").map_or("one", String::as_str);
    let real = told("--log").map(Path::new);
    let stored = |shape: &str| {
        let inputs = Inputs::make(folder.path(), rows, shape, real);
        let shape = real.map_or_else(|| format!("shape {shape}"), |log| log.display().to_string());
        println!("{rows} samples of {shape}, {} bytes of zip, {runs} rounds", inputs.size());
        let mut contenders = embedded(&inputs, folder.path());
        if let Some(other) = told("--against") {
            contenders.push(inputs.other(other, folder.path()));
        }
        contenders.extend(inputs.dealt(number("--logs", 8) as usize, folder.path()));
        (inputs, contenders)
    };
    if shape == "all" {
        for shape in load::Shape::value_variants().iter().filter_map(ValueEnum::to_possible_value) {
            let mut contenders = stored(shape.get_name()).1;
            contenders.retain(is_wanted);
            print(&race(&mut contenders, runs as usize), rows);
        }
        return;
    }
    let (inputs, mut contenders) = stored(shape);
    println!("{}", others::versions().join(", "));
    contenders.extend(others::installed(&inputs.log, folder.path()));
    contenders.extend(told("--jmeter").map(|jar| others::jmeter(jar, folder.path())));
    let server = postgres::TestServer::durable();
    let url = server.as_ref().map(postgres::TestServer::database);
    if let Some(url) = &url {
        contenders.push(others::chain(&inputs.log, url));
        contenders.extend(database(&inputs, url, folder.path()));
    }
    contenders.retain(is_wanted);
    let any = |word: &str| contenders.iter().any(|contender| contender.is_named(word));
    if any("unzipped") {
        inputs.unzip_to(&folder.path().join(others::PLAIN));
    }
    if let Some(url) = url.filter(|_| any("copy") || any("the server")) {
        make_ready(&inputs, &url, folder.path());
    }
    let results = race(&mut contenders, runs as usize);
    print(&results, rows);
    if let Some(file) = told("--plot") {
        let title = format!("{} million requests: wall time, the median of {runs} rounds", rows as f64 / 1e6);
        std::fs::write(file, plot::bars(&results, &title)).expect("a plot");
    }
}

/// The log and its CPU export.
struct Inputs {
    log: PathBuf,
    cpu: PathBuf,
}

impl Inputs {
    fn make(folder: &Path, rows: u64, shape: &str, real: Option<&Path>) -> Self {
        let inputs = Self { log: folder.join("perfectnio_2048.zip"), cpu: folder.join("cpu.csv") };
        if let Some(real) = real {
            repeat::repeat(real, rows, &inputs.log, &inputs.cpu);
            return inputs;
        }
        let seconds = (rows / 24_000).max(10);
        let words = format!(
            "generate x --rows {rows} --seconds {seconds} --threads 3000 --failures 0.5 --shape {shape}"
        );
        let options = generate::Options::try_parse_from(words.split(' ')).expect("the generator's options");
        let plan = options.plan().expect("a plan");
        let tally = output::write(&plan, &inputs.log).expect("a generated log");
        let mut cpu = File::create(&inputs.cpu).expect("a CPU export");
        load::write_cpu(&plan, &tally, false, &mut cpu).expect("a CPU export");
        inputs
    }

    fn size(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |file| file.len())
    }

    fn ingest(&self, arguments: &[&str]) -> Command {
        self.ingest_by(env!("CARGO_BIN_EXE_perfpipe"), arguments)
    }

    fn ingest_by(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.arg("ingest").arg(&self.log).arg(&self.cpu).args(arguments);
        command
    }

    /// Another build, all samples kept.
    fn other(&self, program: &str, folder: &Path) -> Contender {
        let store = folder.join("other").display().to_string();
        Contender::new("the other perfpipe, samples kept", self.ingest_by(program, &["--store", &store]))
    }

    /// The same records in several logs, samples kept and only counted.
    fn dealt(&self, logs: usize, folder: &Path) -> Vec<Contender> {
        let ways = [
            ("perfpipe, several logs, samples kept", Order::InTurn, None),
            ("perfpipe, several logs, counts only", Order::InTurn, Some("--no-samples")),
            ("perfpipe, cut into several logs, samples kept", Order::OneAfterAnother, None),
            ("perfpipe, cut into several logs, counts only", Order::OneAfterAnother, Some("--no-samples")),
        ];
        let made =
            [Order::InTurn, Order::OneAfterAnother].map(|order| deal::deal(&self.log, logs, order, folder));
        let [in_turn, cut] = &made;
        let ingest = |(name, order, flag): (&'static str, Order, Option<&str>)| {
            let logs = match order {
                Order::InTurn => in_turn,
                Order::OneAfterAnother => cut,
            };
            let mut command = Command::new(env!("CARGO_BIN_EXE_perfpipe"));
            command.arg("ingest").args(logs).arg(&self.cpu).args(flag).args(["--framework", "perfectnio"]);
            command.args(["--test", "2048", "--store"]).arg(folder.join(name));
            Contender::new(name, command)
        };
        ways.map(ingest).into()
    }

    fn unzip_to(&self, plain: &Path) {
        let file = File::create(plain).expect("a plain log");
        let unzip = Command::new("unzip").arg("-p").arg(&self.log).stdout(file).status().expect("unzip");
        assert!(unzip.success());
    }
}

fn embedded(inputs: &Inputs, folder: &Path) -> Vec<Contender> {
    let store = |name: &str| folder.join(name).display().to_string();
    let (kept, counted) = (store("kept"), store("counted"));
    let mut unzip = Command::new("unzip");
    unzip.arg("-p").arg(&inputs.log);
    let mut alone = Command::new(std::env::current_exe().expect("this program"));
    alone.args([OsString::from(INFLATE), inputs.log.clone().into()]);
    vec![
        Contender::new("unzip -p", unzip),
        Contender::new("inflating alone (zlib-rs)", alone),
        Contender::new("perfpipe, all samples kept", inputs.ingest(&["--store", &kept])),
        Contender::new("perfpipe, counts only", inputs.ingest(&["--store", &counted, "--no-samples"])),
    ]
}

/// perfpipe into Postgres, and `psql \copy` of the same rows, ready in binary, into a table of the same kind: as
/// one would, and as the server is fastest, the table new in its transaction and its index made last.
fn database(inputs: &Inputs, url: &str, folder: &Path) -> Vec<Contender> {
    let ready = folder.join(READY);
    let sql = |texts: &[&str]| psql(url, texts);
    let load = |options: &str| format!("\\copy opponent from '{}' (format binary{options})", ready.display());
    let (gone, table) =
        ("drop table if exists opponent", "create table opponent (like perfpipe.perfectnio_2048");
    let plain = sql(&[&load("")]);
    let best = sql(&[
        &format!("begin; {table})"),
        &load(", freeze"),
        "create index on opponent using brin (t_ms); commit",
    ]);
    vec![
        Contender::new("psql \\copy, ready in binary", plain).after(sql(&[
            gone,
            &format!("{table} including all)"),
            "checkpoint",
        ])),
        Contender::new(BEST, best).after(sql(&[gone, "checkpoint"])),
        Contender::new("perfpipe into Postgres", inputs.ingest(&["--database", url])).after(dropped(url)),
        Contender::new(
            "perfpipe into Postgres, 2 connections",
            inputs.ingest(&["--database", url, "--connections", "2"]),
        )
        .after(dropped(url)),
    ]
}

/// Takes the run away, so that perfpipe too loads a table and need not remove another in its place.
fn dropped(url: &str) -> Command {
    let mut command = Command::new("sh");
    let text = "\"$0\" drop --framework perfectnio --test 2048 --database \"$1\"; psql -q -X -d \"$1\" -c checkpoint";
    command.args(["-c", text, env!("CARGO_BIN_EXE_perfpipe"), url]);
    command
}

/// Stores the run and writes its rows to a file, in COPY's binary form.
fn make_ready(inputs: &Inputs, url: &str, folder: &Path) {
    let run = inputs.ingest(&["--database", url]).output().expect("perfpipe");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let copy = format!("\\copy perfpipe.perfectnio_2048 to '{}' binary", folder.join(READY).display());
    assert!(psql(url, &[&copy]).output().expect("psql").status.success());
}

fn psql(url: &str, texts: &[&str]) -> Command {
    let mut command = Command::new("psql");
    command.args(["-q", "-X", "-v", "ON_ERROR_STOP=1", "-d", url]);
    texts.iter().for_each(|text| {
        command.args(["-c", text]);
    });
    command
}

fn inflate(file: &Path) {
    let mut zip = zip::ZipArchive::new(File::open(file).expect("the zip")).expect("a zip");
    let mut member = zip.by_index(0).expect("a member");
    let mut buffer = vec![0; 1 << 20];
    let mut total = 0;
    loop {
        match member.read(&mut buffer).expect("a sound zip") {
            0 => break,
            read => total += read,
        }
    }
    let _ = writeln!(std::io::stdout(), "{total}");
}
