// Gathering of seconds into as many columns as there are pixels.
// @ts-check

/** @typedef {import("../types").Column} Column */
/** @typedef {import("../types").Values} Values */

/**
 * Returns the number of seconds in a column if `width` pixels show the seconds from `from` up to `to`.
 * @param {number} from
 * @param {number} to
 * @param {number} width
 */
export function binWidth(from, to, width) {
  return Math.max(1, Math.ceil((to - from) / width));
}

/**
 * Gathers values into columns of `bin` seconds. Columns without a value are left out.
 * @param {Values} values
 * @param {number} from the first second
 * @param {number} to the second after the last
 * @param {number} bin
 * @returns {Column[]}
 */
export function columns(values, from, to, bin) {
  const found = [];
  // A value of several seconds is not divided.
  const step = Math.ceil(bin / values.width) * values.width;
  const begin = values.first + Math.floor((from - values.first) / values.width) * values.width;
  for (let start = begin; start < to; start += step) {
    const end = Math.min(start + step, to);
    const column = spread(values.list, Math.round((start - values.first) / values.width), Math.ceil((end - values.first) / values.width));
    if (column) found.push({ start: Math.max(start, from), end, ...column });
  }
  return found;
}

/**
 * Returns the mean, the least and the greatest of some values; null if all are absent.
 * @param {(number | null)[]} list
 * @param {number} from
 * @param {number} to
 */
export function spread(list, from, to) {
  let [n, sum, min, max] = [0, 0, Infinity, -Infinity];
  for (let at = Math.max(from, 0); at < to && at < list.length; at += 1) {
    const value = list[at];
    if (value === null || value === undefined) continue;
    n += 1;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return n > 0 ? { mean: sum / n, min, max } : null;
}

/**
 * Returns the values that are present.
 * @param {(number | null)[]} list
 */
export function present(list) {
  return /** @type {number[]} */ (list.filter((value) => value !== null));
}

/**
 * Returns the greatest of some numbers, at least 0; unlike Math.max, of any number of them.
 * @param {(number | null)[]} list
 */
export function greatest(list) {
  let most = 0;
  for (const value of list) if (value !== null && value > most) most = value;
  return most;
}

/**
 * Returns the sum of the values of the seconds from `from` up to `to`.
 * @param {Values} values
 * @param {number} from
 * @param {number} to
 */
export function total(values, from, to) {
  let sum = 0;
  const [begin, end] = [Math.max(from - values.first, 0), Math.min(to - values.first, values.list.length)];
  for (let at = begin; at < end; at += 1) sum += values.list[at] ?? 0;
  return sum;
}
