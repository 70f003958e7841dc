// Failures by response code, by label, or by both.
// @ts-check

/** @typedef {import("../types").FailureSeries} FailureSeries */

/**
 * Adds up failures by response code or by label, the most frequent first; those beyond `most` of them together.
 * @param {FailureSeries[]} failures
 * @param {"code" | "label"} by
 * @param {number} most
 * @returns {{ name: string, counts: number[] }[]}
 */
export function failuresBy(failures, by, most) {
  /** @type {Map<string, number[]>} */
  const sums = new Map();
  for (const one of failures) sums.set(one[by], added(sums.get(one[by]), one.counts));
  const sum = (/** @type {number[]} */ counts) => counts.reduce((all, count) => all + count, 0);
  const all = [...sums].map(([name, counts]) => ({ name: name || `(no ${by})`, counts }));
  all.sort((a, b) => sum(b.counts) - sum(a.counts));
  const others = all.slice(most);
  if (others.length < 2) return all;
  const rest = others.reduce((/** @type {number[] | undefined} */ counts, other) => added(counts, other.counts), undefined);
  return [...all.slice(0, most), { name: `${others.length} other ${by}s`, counts: rest ?? [] }];
}

/**
 * @param {number[] | undefined} one
 * @param {number[]} other
 */
function added(one, other) {
  return one ? one.map((count, at) => count + other[at]) : other;
}

/**
 * Returns counts by column as numbers per second. The last column may have fewer seconds than the others; of less than a
 * second, it has no number, unless it is the only one.
 * @param {number[]} counts
 * @param {number} width seconds in a column
 * @param {number} seconds of all columns together
 * @returns {(number | null)[]}
 */
export function rates(counts, width, seconds) {
  return counts.map((count, at) => {
    const lasted = Math.min(width, seconds - at * width);
    // Seconds are sums, and so may be a little less than 1.
    return lasted > 1 - 1e-6 || counts.length < 2 ? count / Math.max(lasted, 1) : null;
  });
}

/**
 * Returns the failures of the `most` rows of label and code with the most failures, and of all others together: what is
 * left of `all` failures. The others are left out if there are none.
 * @param {FailureSeries[]} failures the most frequent first
 * @param {number[]} all failures of each second
 * @param {number} width seconds in a column
 * @param {number} most
 * @returns {{ name: string, counts: number[] }[]}
 */
export function byRow(failures, all, width, most) {
  const rows = failures.slice(0, most).map(({ label, code, counts }) => ({ name: `${label || "(no label)"}: ${code || "(no code)"}`, counts }));
  const columns = Array.from({ length: Math.ceil(all.length / width) }, (_, at) =>
    all.slice(at * width, (at + 1) * width).reduce((sum, count) => sum + count, 0));
  const counts = rows.reduce((left, row) => left.map((count, at) => Math.max(count - row.counts[at], 0)), columns);
  return counts.some((count) => count > 0) ? [...rows, { name: "others", counts }] : rows;
}
