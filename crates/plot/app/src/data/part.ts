// The figures of a part of a run.

import type { RunData, RunHead, RunRow } from "../types";
import { spread, total } from "./bins";
import type { Counts, Percentile } from "./counts";

/** The percentiles of a part, in percent. */
export const PERCENTS = [50, 95, 99] as const;

/** The figures of the seconds from `from` up to `to`. */
export interface PartFigures {
  /** The name of the part of `RunHead.parts` that these seconds are; null if they are none. */
  name: string | null;
  from: number;
  to: number;
  /** In seconds. */
  duration: number;
  requests: number;
  failures: number;
  /** Failures of all requests, from 0 to 1. */
  share: number;
  /** Successes a second. */
  throughput: number;
  /** For each of `PERCENTS`. */
  times: Percentile[];
  /** The mean in percent. */
  cpu: number | null;
  /** The least and the greatest mean load of a second. */
  load: [number, number] | null;
}

/** Names the requests that times are of. */
export function averaged({ includeFailures }: RunHead): string {
  return includeFailures ? "of all requests" : "of successes";
}

/** Returns true if CPU values are of one core: some exceed 100 %. */
export function ofOneCore({ head, series }: RunData): boolean {
  return (head.cpuTop ?? 0) > 100 || series.cpu.some((value) => (value ?? 0) > 100);
}

/** The title of charts of CPU values. */
export const cpuTitle = (ofCore: boolean): string => (ofCore ? "CPU, % of one core" : "CPU, %");

/** Returns the second after the last that is drawn: a cut one is left out, unless the run has no other. */
export function drawnEnd(head: RunHead): number {
  return head.first + head.seconds - (head.lastPart < 1 && head.seconds > 1 ? 1 : 0);
}

/**
 * Returns the figures of the seconds from `from` up to `to`, limited to the run. Numbers of requests are exact.
 * Percentiles are exact for the whole run and its phases, and where each unit was counted apart.
 */
export function partFigures(row: RunRow, data: RunData, counts: Counts, from: number, to: number): PartFigures | null {
  const { head, series } = data;
  const end = head.first + head.seconds;
  const [begin, stop] = [Math.max(from, head.first), Math.min(to, end)];
  if (begin >= stop) return null;
  const values = (list: (number | null)[]) => ({ first: head.first, width: 1, list });
  const successes = total(values(series.successes), begin, stop);
  const failures = total(values(series.failures), begin, stop);
  const part = head.parts.find((part) => part.from === begin && part.to === stop);
  const duration = part ? part.duration : stop - begin - (stop === end ? 1 - head.lastPart : 0);
  const requests = successes + failures;
  const [one, other] = [begin - head.first, Math.min(stop, drawnEnd(head)) - head.first];
  const load = spread(series.load, one, other);
  return {
    name: part ? part.name : null,
    from: begin,
    to: stop,
    duration,
    requests,
    failures,
    share: requests > 0 ? failures / requests : 0,
    throughput: successes / Math.max(duration, 0.001),
    times: part ? part.times.map((value) => ({ value, exact: true })) : counts.percentiles(begin, stop, PERCENTS),
    cpu: part?.name === "whole" && row.cpu !== null ? row.cpu : (spread(series.cpu, one, other)?.mean ?? null),
    load: load ? [load.min, load.max] : null,
  };
}
