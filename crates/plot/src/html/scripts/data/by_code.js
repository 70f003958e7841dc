// Failures by response code.
// @ts-check

/** @typedef {import("../types").FailureSeries} FailureSeries */

/**
 * Adds up failures by response code, the most frequent first; those beyond `most` codes together.
 * @param {FailureSeries[]} failures
 * @param {number} most
 * @returns {{ code: string, counts: number[] }[]}
 */
export function byCode(failures, most) {
  /** @type {Map<string, number[]>} */
  const codes = new Map();
  for (const { code, counts } of failures) codes.set(code, added(codes.get(code), counts));
  const sum = (/** @type {number[]} */ counts) => counts.reduce((all, count) => all + count, 0);
  const all = [...codes].map(([code, counts]) => ({ code, counts })).sort((a, b) => sum(b.counts) - sum(a.counts));
  const others = all.slice(most);
  if (others.length < 2) return all;
  const rest = others.reduce((/** @type {number[] | undefined} */ counts, other) => added(counts, other.counts), undefined);
  return [...all.slice(0, most), { code: `${others.length} other codes`, counts: rest ?? [] }];
}

/**
 * @param {number[] | undefined} one
 * @param {number[]} other
 */
function added(one, other) {
  return one ? one.map((count, at) => count + other[at]) : other;
}

/**
 * Returns counts by column as numbers per second. The last column may have fewer seconds than the others.
 * @param {number[]} counts
 * @param {number} width seconds in a column
 * @param {number} seconds of all columns together
 */
export function rates(counts, width, seconds) {
  return counts.map((count, at) => count / Math.min(width, Math.max(seconds - at * width, 1)));
}
