// Counts of elapsed times over time, merged by addition; percentiles and heat maps are made of them.

import type { PackedCounts } from "../types";

/** Buckets in an octave, and the time below which each unit has a bucket: as perfpipe writes them. */
const PARTS = 128;
const SINGLE = 2 * PARTS;

/** Places with their counts, ascending. A place is a time in its unit or a bucket. */
export type Merged = [place: number, count: number][];

/** A percentile, and whether it is exact: of a bucket of several units, the middle is taken. */
export interface Percentile {
  value: number | null;
  exact: boolean;
}

/** Returns the lower edge of a bucket in units, which is also the upper edge of the bucket before. */
export function bucketEdge(bucket: number): number {
  if (bucket < SINGLE) return bucket;
  const beyond = bucket - SINGLE;
  return (PARTS + (beyond % PARTS)) * 2 ** (Math.floor(beyond / PARTS) + 1);
}

/** The counts of a run, in columns of `width` seconds. */
export class Counts {
  readonly width: number;
  readonly exact: boolean;
  /** The number of units of the times in a ms. */
  readonly scale: number;
  private readonly columns: { places: number[]; counts: number[] }[];

  constructor(
    packed: PackedCounts,
    readonly first: number,
  ) {
    this.width = packed.width;
    this.exact = packed.exact;
    this.scale = packed.scale ?? 1;
    this.columns = packed.columns.map(([steps, counts]) => {
      let place = 0;
      return { places: steps.map((step) => (place += step)), counts };
    });
  }

  /** Returns the least and the greatest time, in units, that stand in a place. */
  range(place: number): [number, number] {
    if (this.exact) return [place, place];
    const low = bucketEdge(place);
    return [low, Math.max(low, bucketEdge(place + 1) - 1)];
  }

  /**
   * Merges the columns of the seconds from `from` up to `to`. A column belongs to the seconds if its middle does; of
   * fewer seconds than a column has, the column in which they are is taken.
   */
  merged(from: number, to: number): Merged {
    const column = (second: number): number => Math.round((second - this.first) / this.width);
    let [begin, end] = [column(from), column(to)];
    if (begin >= end) begin = Math.min(Math.floor((from - this.first) / this.width), this.columns.length - 1);
    end = Math.max(end, begin + 1);
    const all = new Map<number, number>();
    for (const { places, counts } of this.columns.slice(Math.max(begin, 0), end)) {
      places.forEach((place, at) => all.set(place, (all.get(place) ?? 0) + (counts[at] ?? 0)));
    }
    return [...all].sort(([a], [b]) => a - b);
  }

  /** Returns percentiles of the seconds from `from` up to `to`, as PostgreSQL's percentile_cont defines them. */
  percentiles(from: number, to: number, percents: readonly number[]): Percentile[] {
    return this.percentilesOf(this.merged(from, to), percents);
  }

  /** Returns percentiles of merged counts. */
  percentilesOf(merged: Merged, percents: readonly number[]): Percentile[] {
    let n = 0;
    const reached = merged.map(([, count]) => (n += count));
    const valueOf = (rank: number): { value: number; exact: boolean } => {
      const [low, high] = this.range((merged[after(reached, rank)] ?? [0])[0]);
      return { value: (low + high) / 2 / this.scale, exact: low === high };
    };
    return percents.map((percent) => {
      if (n === 0) return { value: null, exact: true };
      const position = (percent / 100) * (n - 1);
      const rank = Math.floor(position);
      const [one, next] = [valueOf(rank), valueOf(Math.ceil(position))];
      return { value: one.value + (next.value - one.value) * (position - rank), exact: one.exact && next.exact };
    });
  }
}

/** Returns the first place whose cumulated count exceeds a rank; the last if there is none. */
function after(reached: number[], rank: number): number {
  let [low, high] = [0, reached.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((reached[middle] ?? 0) > rank) high = middle;
    else low = middle + 1;
  }
  return low;
}
