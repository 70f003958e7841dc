// Seconds by their number of requests.
// @ts-check

/** @typedef {{ rate: number, values: (number | null)[] }} RatedSecond */
/** @typedef {{ from: number, to: number, seconds: number, medians: (number | null)[] }} RateStep */

/** A step has a median of so many seconds at least. */
const LEAST = 2;

/**
 * Returns the seconds that have a time, with their number of requests and their times.
 * @param {number[]} successes
 * @param {number[]} failures
 * @param {(number | null)[][]} times for each percentile the times of all seconds
 * @param {boolean} cut true if the run ends within its last second
 * @returns {RatedSecond[]}
 */
export function ratedSeconds(successes, failures, times, cut) {
  const all = successes.map((count, at) => ({ rate: count + failures[at], values: times.map((list) => list[at]) }));
  if (cut) all.pop();
  return all.filter(({ values }) => values.some((value) => value !== null));
}

/**
 * Gathers seconds into steps of equal width by their number of requests, each with the medians of its times. Steps of
 * a single second are left out.
 * @param {RatedSecond[]} seconds
 * @param {number} width requests per second in a step
 * @returns {RateStep[]}
 */
export function rateSteps(seconds, width) {
  /** @type {Map<number, RatedSecond[]>} */
  const steps = new Map();
  for (const second of seconds) {
    const step = Math.floor(second.rate / width);
    const own = steps.get(step);
    if (own) own.push(second);
    else steps.set(step, [second]);
  }
  const ordered = [...steps].sort(([a], [b]) => a - b).filter(([, own]) => own.length >= LEAST);
  return ordered.map(([step, own]) => ({ from: step * width, to: (step + 1) * width - 1, seconds: own.length, medians: medians(own) }));
}

/**
 * Returns the median of each of the times.
 * @param {RatedSecond[]} seconds
 */
function medians(seconds) {
  return seconds[0].values.map((_, at) => {
    const sorted = seconds.flatMap(({ values }) => values[at] ?? []).sort((a, b) => a - b);
    if (!sorted.length) return null;
    const middle = (sorted.length - 1) / 2;
    return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  });
}

/**
 * Returns how far up an axis of times must reach: to the greatest of the seconds that have a tenth of the usual number
 * of requests.
 * @param {RatedSecond[]} seconds
 */
export function usualTop(seconds) {
  const rates = seconds.map(({ rate }) => rate).sort((a, b) => a - b);
  const least = (rates[Math.floor(rates.length / 2)] ?? 0) / 10;
  let top = 0;
  for (const { rate, values } of seconds) {
    if (rate >= least) for (const value of values) top = Math.max(top, value ?? 0);
  }
  return top;
}
