//! Other tools at a part of the job: per-second statistics of a log that is unzipped already, those of them that
//! are installed; and the chain of small programs that a log is often loaded with.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::measure::Contender;

/// What SQL calls the exact percentiles of each second of the successes.
const DUCKDB: &str = "
import duckdb, sys
database = duckdb.connect(sys.argv[2])
database.sql(f\"create or replace table samples as select * from read_csv('{sys.argv[1]}')\")
database.sql('''select (timeStamp - t0) // 1000 as second, count(*), avg(elapsed),
    quantile_cont(elapsed, [0.25, 0.5, 0.75, 0.95])
    from samples, (select min(timeStamp) as t0 from samples) where success group by 1 order by 1''').fetchall()
";

const POLARS: &str = "
import polars as pl, sys
elapsed = pl.col('elapsed')
(pl.scan_csv(sys.argv[1]).filter('success')
    .with_columns(second=(pl.col('timeStamp') - pl.col('timeStamp').min()) // 1000)
    .group_by('second').agg(pl.len(), elapsed.mean(),
        *[elapsed.quantile(q, 'linear').alias(str(q)) for q in (0.25, 0.5, 0.75, 0.95)])
    .sort('second').collect(engine='streaming'))
";

const CLICKHOUSE: &str = "
import chdb, sys
chdb.query(f'''with (select min(timeStamp) from file('{sys.argv[1]}', CSVWithNames)) as t0
    select intDiv(timeStamp - t0, 1000) as second, count(), avg(elapsed),
    quantilesExactInclusive(0.25, 0.5, 0.75, 0.95)(elapsed)
    from file('{sys.argv[1]}', CSVWithNames) where success group by 1 order by 1''')
";

/// Cuts the columns out of the log, as a filter in front of COPY does, by their places. Records with quotes, failures
/// most of them, are lost to it.
const FILTER: &str = r#"NR > 1 && NF == 17 && !/"/ { print $1 "," $2 "," $3 "," $4 "," $8 "," $10 "," $11 "," $13 "," $15 "," $17 }"#;

const CHAIN_TABLE: &str = "drop table if exists chain; create table chain (ts bigint, elapsed int, label text, \
     code text, success boolean, bytes bigint, sent_bytes bigint, all_threads int, latency int, connect int)";

const CHAIN_SECONDS: &str = "select (ts - t0) / 1000 as second, count(*), avg(elapsed), \
     percentile_cont(array[0.25, 0.5, 0.75, 0.95]) within group (order by elapsed) \
     from chain, (select min(ts) as t0 from chain) as first where success group by 1 order by 1";

/// The log as a plain file, in the folder of the benchmark.
pub(crate) const PLAIN: &str = "plain.csv";

/// Those of the tools that Python finds, on the log as a plain file, and DuckDB on what `unzip` writes as well.
pub(crate) fn installed(zip: &Path, folder: &Path) -> Vec<Contender> {
    let tools = [
        ("DuckDB, unzipped: load, statistics", "duckdb", DUCKDB),
        ("polars, unzipped: statistics", "polars", POLARS),
        ("ClickHouse, unzipped: statistics", "chdb", CLICKHOUSE),
    ];
    let found = tools.into_iter().filter(|(_, module, _)| has(module)).map(|(name, module, script)| {
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(folder.join(PLAIN)).arg(folder.join(module));
        Contender::new(name, command)
    });
    let piped = has("duckdb").then(|| {
        let mut command = Command::new("sh");
        command.args(["-c", "unzip -p \"$1\" | python3 -c \"$0\" /dev/stdin \"$2\"", DUCKDB]);
        command.arg(zip).arg(folder.join("piped"));
        Contender::new("unzip | DuckDB: load, statistics", command)
    });
    found.chain(piped).collect()
}

/// JMeter's own report of the log as a plain file.
pub(crate) fn jmeter(jar: &str, folder: &Path) -> Contender {
    let report = folder.join("jmeter");
    let mut command = Command::new("java");
    command.args(["-jar", jar, "-g"]).arg(folder.join(PLAIN)).arg("-o").arg(&report);
    command.arg("-j").arg(folder.join("jmeter.log"));
    let mut gone = Command::new("rm");
    gone.arg("-rf").arg(report);
    Contender::new("JMeter -g, unzipped: its report", command).after(gone)
}

/// The versions of all tools that are there.
pub(crate) fn versions() -> Vec<String> {
    let module = |name: &str| format!("import {name}; print('{name}', {name}.__version__)");
    let (duckdb, polars, chdb) = (module("duckdb"), module("polars"), module("chdb"));
    let asked: [(&str, &[&str]); 8] = [
        (env!("CARGO_BIN_EXE_perfpipe"), &["--version"]),
        ("unzip", &["-v"]),
        ("awk", &["-W", "version"]),
        ("psql", &["--version"]),
        ("python3", &["-c", &duckdb]),
        ("python3", &["-c", &polars]),
        ("python3", &["-c", &chdb]),
        ("java", &["--version"]),
    ];
    asked.into_iter().filter_map(|(program, words)| first_line(program, words)).collect()
}

/// The first line of what a program prints, if it is there.
fn first_line(program: &str, words: &[&str]) -> Option<String> {
    let said = Command::new(program).args(words).output().ok().filter(|said| said.status.success())?;
    Some(String::from_utf8_lossy(&said.stdout).lines().next()?.split(", by").next()?.to_owned())
}

fn has(module: &str) -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", &format!("import {module}")]).stdout(Stdio::null()).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}

/// `unzip`, a filter and `psql` in a row, then SQL for the statistics.
pub(crate) fn chain(zip: &Path, url: &str) -> Contender {
    let script = format!(
        "set -e; unzip -p \"$0\" | awk -F, '{FILTER}' | psql -q -X -d '{url}' -c '\\copy chain from stdin csv'; \
         psql -q -X -d '{url}' -c '{CHAIN_SECONDS}'"
    );
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(zip);
    let mut ready = Command::new("psql");
    ready.args(["-q", "-X", "-d", url, "-c", CHAIN_TABLE]);
    Contender::new("unzip | awk | psql, SQL statistics", command).after(ready)
}
