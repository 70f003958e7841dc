// Medians over the repeats of a framework, as the league has them.
// @ts-check

/** @typedef {import("../types").Values} Values */

/**
 * Returns the median; of an even number of values the mean of the middle two; null if there are none.
 * @param {number[]} values
 */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  if (!sorted.length) return null;
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
}

/**
 * Returns the median of each second over several runs, where more than half of them have a value.
 * @param {Values[]} runs of the same width
 * @returns {Values}
 */
export function medianOf(runs) {
  const width = runs[0]?.width ?? 1;
  const first = Math.min(...runs.map((run) => run.first));
  const end = Math.max(...runs.map((run) => run.first + run.list.length * width));
  const list = Array.from({ length: Math.max(Math.round((end - first) / width), 0) }, (_, at) => {
    const values = runs.map((run) => run.list[at - Math.round((run.first - first) / width)] ?? null);
    const known = /** @type {number[]} */ (values.filter((value) => value !== null));
    return 2 * known.length > runs.length ? median(known) : null;
  });
  return { first, width, list };
}

/**
 * Returns the median time at each percentile over several runs.
 * @param {[number, number][][]} curves
 * @returns {[number, number][]}
 */
export function medianCurve(curves) {
  const known = curves.filter((curve) => curve.length);
  return (known[0] ?? []).flatMap(([percent], at) => {
    const times = known.flatMap((curve) => (curve[at]?.[0] === percent ? [curve[at][1]] : []));
    const time = median(times);
    return time === null ? [] : [/** @type {[number, number]} */ ([percent, time])];
  });
}
