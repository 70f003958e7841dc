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

/// Those of the tools that Python finds, on the log as a plain file.
pub(crate) fn installed(folder: &Path) -> Vec<Contender> {
    let tools = [
        ("DuckDB, unzipped: load, statistics", "duckdb", DUCKDB),
        ("polars, unzipped: statistics", "polars", POLARS),
        ("ClickHouse, unzipped: statistics", "chdb", CLICKHOUSE),
    ];
    tools
        .into_iter()
        .filter(|(_, module, _)| has(module))
        .map(|(name, module, script)| {
            let mut command = Command::new("python3");
            command.args(["-c", script]).arg(folder.join(PLAIN)).arg(folder.join(module));
            Contender::new(name, command)
        })
        .collect()
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
