// The figures of a part of a run.
// @ts-check

import { total } from "./bins.js";

/** @typedef {import("../types").RunHead} RunHead */
/** @typedef {import("../types").Series} Series */
/** @typedef {import("./counts.js").Counts} Counts */

/** The percentiles of a part, in percent. */
export const PERCENTS = [50, 95, 99];

/**
 * Returns the figures of the seconds from `from` up to `to`, limited to the run. Numbers of requests are exact.
 * Percentiles are exact for the whole run and its phases, and where each ms was counted apart.
 * @param {RunHead} head
 * @param {Series} series
 * @param {Counts} counts
 * @param {number} from
 * @param {number} to
 */
export function partFigures(head, series, counts, from, to) {
  const end = head.first + head.seconds;
  const [begin, stop] = [Math.max(from, head.first), Math.min(to, end)];
  if (begin >= stop) return null;
  const sum = (/** @type {number[]} */ list) => total({ first: head.first, width: 1, list }, begin, stop);
  const [successes, failures] = [sum(series.successes), sum(series.failures)];
  const known = head.parts.find((part) => part.from === begin && part.to === stop);
  const duration = known ? known.duration : stop - begin - (stop === end ? 1 - head.lastPart : 0);
  const times = known
    ? known.times.map((value) => ({ value, exact: true }))
    : counts.percentiles(begin, stop, PERCENTS);
  return {
    name: known ? known.name : null,
    from: begin,
    to: stop,
    requests: successes + failures,
    failures,
    share: successes + failures > 0 ? failures / (successes + failures) : 0,
    throughput: successes / Math.max(duration, 0.001),
    times,
  };
}
