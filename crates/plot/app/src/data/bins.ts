// Gathering of seconds into as many columns as can be told apart.

/** Values of a run: `list[i]` is of the `width` seconds from `first + i * width` on. */
export interface Values {
  first: number;
  width: number;
  list: (number | null)[];
}

/** The mean and the extremes of the seconds from `start` up to `end`. */
export interface Column {
  start: number;
  end: number;
  mean: number;
  min: number;
  max: number;
}

/** Widths of columns in seconds that people count in. */
const WIDTHS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

/** A round multiple of several seconds is at most so many times as long as it has to be. */
const ROUNDED = 2;

/**
 * Returns the seconds in a column: the least round multiple of `unit` by which `from` to `to` are `most` columns or fewer;
 * the least multiple where the round one is much longer.
 */
export function columnWidth(from: number, to: number, most: number, unit = 1): number {
  const least = (to - from) / Math.max(most, 1);
  const longest = unit > 1 ? ROUNDED * Math.max(least, unit) : Infinity;
  const round = WIDTHS.find((width) => width >= least && width % unit === 0);
  return round !== undefined && round <= longest ? round : Math.max(Math.ceil(least / unit), 1) * unit;
}

/** Gathers values into columns that begin at multiples of `bin` seconds. Columns without a value are left out. */
export function columns(values: Values, from: number, to: number, bin: number): Column[] {
  const step = Math.ceil(bin / values.width) * values.width;
  const found: Column[] = [];
  for (let start = values.first + Math.floor((from - values.first) / step) * step; start < to; start += step) {
    const [low, high] = [Math.max(start, from), Math.min(start + step, to)];
    // A value of several seconds is not divided: it belongs to each column that it reaches into.
    const column = spread(
      values.list,
      Math.floor((low - values.first) / values.width),
      Math.ceil((high - values.first) / values.width),
    );
    if (column) found.push({ start: low, end: high, ...column });
  }
  return found;
}

/** Returns the mean, the least and the greatest of the values from place `from` up to `to`; null if all are absent. */
export function spread(
  list: (number | null)[],
  from: number,
  to: number,
): { mean: number; min: number; max: number } | null {
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

/** Returns the greatest of some numbers, at least 0; unlike Math.max, of any number of them. */
export function greatest(list: Iterable<number | null>): number {
  let most = 0;
  for (const value of list) if (value !== null && value > most) most = value;
  return most;
}

/** Returns the least value; Infinity of none. A spread list of a day's seconds would exceed the stack. */
export function least(list: Iterable<number | null>): number {
  let least = Infinity;
  for (const value of list) if (value !== null && value < least) least = value;
  return least;
}

/** Returns the sum of the values of the seconds from `from` up to `to`. */
export function total(values: Values, from: number, to: number): number {
  let sum = 0;
  const [begin, end] = [Math.max(from - values.first, 0), Math.min(to - values.first, values.list.length)];
  for (let at = begin; at < end; at += 1) sum += values.list[at] ?? 0;
  return sum;
}

/** Returns the spans, as [from, to), of consecutive places from `from` up to `to` at which `holds` is true. */
export function spans(from: number, to: number, holds: (at: number) => boolean): [number, number][] {
  const found: [number, number][] = [];
  let start = -1;
  for (let at = from; at <= to; at += 1) {
    const within = at < to && holds(at);
    if (within && start < 0) start = at;
    if (!within && start >= 0) {
      found.push([start, at]);
      start = -1;
    }
  }
  return found;
}
