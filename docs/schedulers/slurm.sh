#!/bin/sh
# Ingests the logs of a run on a Slurm cluster, one task a log, and merges the parts. Waits until all is done.
#
#   FRAMEWORK=go TEST=2048 ORIGIN=1795203738000 PERFPIPE_STORE=/shared/store ./slurm.sh /shared/logs/load-*.csv.zip
#
# All nodes need perfpipe on the PATH, and the store and the logs under the same absolute paths.
set -eu

if [ -z "${SLURM_JOB_ID-}" ]; then
    array=$(sbatch --parsable --array="1-$#" "$0" "$@")
    sbatch --wait --dependency="afterok:$array" --kill-on-invalid-dep=yes "$0" "$@"
elif [ -z "${SLURM_ARRAY_TASK_ID-}" ]; then
    perfpipe merge "${FRAMEWORK}_$TEST" --parts $#
else
    shift $((SLURM_ARRAY_TASK_ID - 1))
    perfpipe ingest "$1" --part auto --injector "$(basename "$1")" --origin "$ORIGIN" \
        --framework "$FRAMEWORK" --test "$TEST"
fi
