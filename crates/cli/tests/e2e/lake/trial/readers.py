"""Reads a run of a lake again and again while it is replaced, by DuckDB, delta-rs, ClickHouse and Spark, each on a thread.

    readers.py HOST KEY SECRET BUCKET/FOLDER TEST ENGINE,ENGINE... COUNT:SUM...

The last arguments are what the run may be: of each log, the number of samples and the sum of their elapsed times. `begin`
on the standard input makes the readers begin, and `end` pause; then a line tells what they read: `ok`, how often each
engine read the run, and how often there was nothing, since one table had the new run already and the other not yet. Any
other figure, two generations in one table, or an error ends the program with a message.
"""

import os
import pathlib
import sys
import threading

host, key, secret, place, test, engines, *figures = sys.argv[1:]
allowed = {tuple(map(int, figure.split(":"))) for figure in figures}
OF_TEST = f"test = '{test}'"


def duckdb_reader():
    import duckdb
    import duckdb_extension_delta
    import duckdb_extension_httpfs

    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    for module, name in [(duckdb_extension_httpfs, "httpfs"), (duckdb_extension_delta, "delta")]:
        folder = pathlib.Path(module.__file__).parent
        connection.load_extension(str(next(folder.rglob(f"{name}.duckdb_extension"))))
    connection.execute(
        f"CREATE SECRET (TYPE s3, KEY_ID '{key}', SECRET '{secret}', ENDPOINT '{host}', REGION 'us-east-1',"
        " USE_SSL false, URL_STYLE 'path')"
    )
    samples, runs = (f"delta_scan('s3://{place}/{table}')" for table in ["samples", "runs"])

    def alone():
        rows = f"SELECT generation, count(*), sum(elapsed) FROM {samples} WHERE {OF_TEST} GROUP BY generation"
        return connection.sql(rows).fetchall()

    def joined():
        return connection.sql(
            f"SELECT s.generation, count(*), sum(s.elapsed) FROM {samples} AS s JOIN {runs} AS r USING (generation)"
            f" WHERE r.{OF_TEST} GROUP BY ALL"
        ).fetchall()

    return alone, joined


def delta_rs_reader():
    import deltalake

    options = {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_ENDPOINT_URL": f"http://{host}",
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
        # A machine that is busy otherwise is no fault.
        "timeout": "600s",
    }

    def table(name):
        return deltalake.DeltaTable(f"s3://{place}/{name}", storage_options=options)

    def alone(generations=None):
        rows = table("samples").to_pyarrow_table(filters=[("test", "=", test)], columns=["generation", "elapsed"])
        found = {}
        for row in rows.to_pylist():
            if generations is None or row["generation"] in generations:
                count, total = found.get(row["generation"], (0, 0))
                found[row["generation"]] = (count + 1, total + row["elapsed"])
        return [(generation, *figures) for generation, figures in found.items()]

    def joined():
        runs = table("runs").to_pyarrow_table(filters=[("test", "=", test)], columns=["generation"])
        return alone(set(runs["generation"].to_pylist()))

    return alone, joined


def clickhouse_reader():
    import chdb

    samples, runs = (f"deltaLake('http://{host}/{place}/{table}', '{key}', '{secret}')" for table in ["samples", "runs"])

    def rows(query):
        text = chdb.query(query, "TabSeparated").bytes().decode()
        fields = (line.split("\t") for line in text.splitlines())
        return [(generation, int(count), int(total)) for generation, count, total in fields]

    def alone():
        return rows(f"SELECT generation, count(), sum(elapsed) FROM {samples} WHERE {OF_TEST} GROUP BY generation")

    def joined():
        return rows(
            f"SELECT s.generation, count(), sum(s.elapsed) FROM {samples} AS s JOIN {runs} AS r USING (generation)"
            f" WHERE r.{OF_TEST} GROUP BY s.generation"
        )

    return alone, joined


def spark_reader():
    settings = {
        "spark.hadoop.fs.s3a.endpoint": f"http://{host}",
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.access.key": key,
        "spark.hadoop.fs.s3a.secret.key": secret,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.ui.enabled": "false",
    }
    spark = session("local-cluster[2,1,1024]", settings)
    samples, runs = (f"delta.`s3a://{place}/{table}`" for table in ["samples", "runs"])

    def rows(query):
        return [tuple(row) for row in spark.sql(query).collect()]

    def alone():
        return rows(f"SELECT generation, count(*), sum(elapsed) FROM {samples} WHERE {OF_TEST} GROUP BY generation")

    def joined():
        return rows(
            f"SELECT s.generation, count(*), sum(s.elapsed) FROM {samples} AS s JOIN {runs} AS r USING (generation)"
            f" WHERE r.{OF_TEST} GROUP BY s.generation"
        )

    return alone, joined


ENGINES = {
    "DuckDB": duckdb_reader,
    "delta-rs": delta_rs_reader,
    "ClickHouse": clickhouse_reader,
    "Spark": spark_reader,
}
chosen = {name: ENGINES[name] for name in engines.split(",")}
tallies = {name: [0, 0] for name in chosen}
goes = threading.Event()
busy = {name: threading.Lock() for name in chosen}


def fail(message):
    print(message, flush=True)
    os._exit(1)


def read(name, make):
    try:
        readers = make()
        while goes.wait():
            with busy[name]:
                if not goes.is_set():
                    continue
                for reader in readers:
                    found = reader()
                    if len(found) > 1 or any(row[1:] not in allowed for row in found):
                        fail(f"{name}: {found}")
                    tallies[name][not found] += 1
    except Exception as error:
        told = " ".join(str(error).split())
        fail(f"{name}: {type(error).__name__}: {told}")


for name, make in chosen.items():
    threading.Thread(target=read, args=(name, make), daemon=True).start()
for line in sys.stdin:
    if line.strip() == "begin":
        goes.set()
        continue
    goes.clear()
    for lock in busy.values():
        with lock:
            pass
    told = ", ".join(f"{name} {read} (and {nothing} times nothing)" for name, (read, nothing) in tallies.items())
    print("ok", told, flush=True)
