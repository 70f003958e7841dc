//! The whole job against its opponents, in turn, on one log: `cargo bench -p perfpipe --bench opponents`.
//!
//! Makes a log, runs each contender once a round, and prints medians and the ratio to `unzip -p` within each
//! round, so that a machine whose speed drifts does no harm. Options after `--`: `--rows N`, `--runs N`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark speaks to a terminal, and stops at the first thing that is amiss"
)]

#[allow(dead_code, reason = "the generator's own options use all of it")]
#[path = "../../../ingest/examples/generate/options.rs"]
mod generate;
#[allow(dead_code, reason = "the generator's own options use all of it")]
#[path = "../../../ingest/examples/generate/load/mod.rs"]
mod load;
mod measure;
#[path = "../../../ingest/examples/generate/output.rs"]
mod output;
#[path = "../../../ingest/tests/support/postgres.rs"]
mod postgres;

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use measure::{Contender, print, race};

/// The command that this benchmark gives itself to inflate a file and nothing else.
const INFLATE: &str = "--inflate-only";

struct Options {
    rows: u64,
    runs: usize,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, file] = words.as_slice()
        && flag == INFLATE
    {
        return inflate(Path::new(file));
    }
    let number = |flag: &str, default: u64| {
        let value = words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
        value.map_or(default, |value| value.parse().expect("a whole number"))
    };
    let options = Options { rows: number("--rows", 10_000_000), runs: number("--runs", 5) as usize };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inputs = Inputs::make(folder.path(), options.rows);
    println!("{} records, {} bytes of zip, {} rounds", options.rows, inputs.size(), options.runs);

    let mut contenders = embedded(&inputs, folder.path());
    let server = postgres::TestServer::start(None);
    match &server {
        Some(server) => contenders.extend(database(&inputs, server, folder.path())),
        None => println!("PostgreSQL is not installed: its contenders are left out"),
    }
    let results = race(&mut contenders, options.runs);
    print(&results);
}

/// The log and its CPU export.
struct Inputs {
    log: PathBuf,
    cpu: PathBuf,
}

impl Inputs {
    fn make(folder: &Path, rows: u64) -> Self {
        let inputs = Self { log: folder.join("perfectnio_2048.zip"), cpu: folder.join("cpu.csv") };
        let seconds = (rows / 24_000).max(10);
        let words = format!("generate x --rows {rows} --seconds {seconds} --threads 3000 --failures 0.5");
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_perfpipe"));
        command.arg("ingest").arg(&self.log).arg(&self.cpu).args(arguments);
        command
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

/// perfpipe into Postgres, and `psql \copy` of the same rows, ready in binary, into a table of the same kind.
fn database(inputs: &Inputs, server: &postgres::TestServer, folder: &Path) -> Vec<Contender> {
    let url = server.database();
    let run = inputs.ingest(&["--database", &url]).output().expect("perfpipe");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let ready = folder.join("ready.bin");
    let sql = |text: &str| psql(&url, text);
    let mut copied = sql(&format!("\\copy perfpipe.perfectnio_2048 to '{}' binary", ready.display()));
    assert!(copied.output().expect("psql").status.success());
    let load = sql(&format!("\\copy opponent from '{}' binary", ready.display()));
    let fresh =
        "drop table if exists opponent; create table opponent (like perfpipe.perfectnio_2048 including all)";
    vec![
        Contender::new("psql \\copy, ready in binary", load).after(sql(fresh)),
        Contender::new("perfpipe into Postgres", inputs.ingest(&["--database", &url])),
    ]
}

fn psql(url: &str, text: &str) -> Command {
    let mut command = Command::new("psql");
    command.args(["-q", "-X", "-d", url, "-c", text]);
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
