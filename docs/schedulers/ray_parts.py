"""Ingests the logs of a run on a Ray cluster, one task a log, and merges the parts.

    ray job submit -- python ray_parts.py /shared/store go 2048 1795203738000 /shared/logs/load-*.csv.zip

The arguments are the store, the framework, the test, the origin and the logs. All nodes need perfpipe on the PATH, and
the store and the logs under the same absolute paths. A task that Ray starts again replaces its part.
"""

import os
import subprocess
import sys

import ray

store, framework, test, origin, *logs = sys.argv[1:]


def perfpipe(*arguments):
    subprocess.run(["perfpipe", *arguments, "--store", store], check=True)


@ray.remote(num_cpus=2)
def ingest(number, log):
    perfpipe(
        *["ingest", log, "--part", f"{number}/{len(logs)}", "--injector", os.path.basename(log)],
        *["--origin", origin, "--framework", framework, "--test", test],
    )


ray.init()
ray.get([ingest.remote(number, log) for number, log in enumerate(logs, start=1)])
perfpipe("merge", f"{framework}_{test}", "--parts", str(len(logs)))
