"""Ingests the logs of a run on a Spark cluster, one task a log, and merges the parts.

    spark-submit spark.py /shared/store go 2048 1795203738000 /shared/logs/load-*.csv.zip

The arguments are the store (a folder, a bucket or the URL of a database), the framework, the test, the origin and the
logs. All workers need perfpipe on the PATH, and the store and the logs under the same absolute paths. A task that Spark
starts again replaces its part.
"""

import os
import subprocess
import sys

from pyspark.sql import SparkSession

store, framework, test, origin, *logs = sys.argv[1:]
flag = "--database" if store.startswith("postgres") else "--store"


def perfpipe(*arguments):
    done = subprocess.run(["perfpipe", *arguments, flag, store], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stderr


def ingest(part):
    number, log = part
    return perfpipe(
        *["ingest", log, "--part", f"{number}/{len(logs)}", "--injector", os.path.basename(log)],
        *["--origin", origin, "--framework", framework, "--test", test],
    )


spark = SparkSession.builder.appName(f"perfpipe {framework}_{test}").getOrCreate()
for said in spark.sparkContext.parallelize(list(enumerate(logs, start=1)), len(logs)).map(ingest).collect():
    print(said, file=sys.stderr)
print(perfpipe("merge", f"{framework}_{test}", "--parts", str(len(logs))), file=sys.stderr)
spark.stop()
