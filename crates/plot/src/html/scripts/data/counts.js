// Counts of elapsed times over time, merged by addition; percentiles and heat maps are made of them.
// @ts-check

/** @typedef {import("../types").PackedCounts} PackedCounts */

/** Buckets in an octave, and the time in ms below which each ms has a bucket: as in the data of the page. */
const PARTS = 128;
const SINGLE = 2 * PARTS;

/** Rows in an octave of a heat map. */
const ROWS = 8;

/**
 * Returns the lower edge of a bucket in ms, which is also the upper edge of the bucket before.
 * @param {number} bucket
 */
export function bucketEdge(bucket) {
  if (bucket < SINGLE) return bucket;
  const beyond = bucket - SINGLE;
  return (PARTS + (beyond % PARTS)) * 2 ** (Math.floor(beyond / PARTS) + 1);
}

/**
 * Returns the row of a heat map in which an elapsed time lies: a row for each ms up to 15, then eight for each octave.
 * @param {number} ms
 */
export function heatRow(ms) {
  if (ms < 2 * ROWS) return Math.floor(ms);
  const octave = Math.floor(Math.log2(ms)) - Math.log2(2 * ROWS);
  return 2 * ROWS + octave * ROWS + (Math.floor(ms / 2 ** (octave + 1)) % ROWS);
}

/**
 * Returns the lower edge of a heat map's row in ms.
 * @param {number} row
 */
export function heatEdge(row) {
  const beyond = row - 2 * ROWS;
  return beyond < 0 ? row : (ROWS + (beyond % ROWS)) * 2 ** (Math.floor(beyond / ROWS) + 1);
}

/** The counts of a run, in columns of `width` seconds. */
export class Counts {
  /**
   * @param {PackedCounts} packed
   * @param {number} first the first second
   */
  constructor(packed, first) {
    this.first = first;
    this.width = packed.width;
    this.exact = packed.exact;
    /** The number of units of the times in a ms. */
    this.scale = packed.scale ?? 1;
    /** The places of each column, and how often each occurs. A place is a time in its unit or a bucket. */
    this.columns = packed.columns.map(([steps, counts]) => {
      let place = 0;
      return { places: steps.map((step) => (place += step)), counts };
    });
  }

  /**
   * Returns the least and the greatest time, in their unit, that stand in a place.
   * @param {number} place
   * @returns {[number, number]}
   */
  range(place) {
    if (this.exact) return [place, place];
    const low = bucketEdge(place);
    return [low, Math.max(low, bucketEdge(place + 1) - 1)];
  }

  /**
   * Merges the columns of the seconds from `from` up to `to`. A column belongs to the seconds if its middle does; of
   * fewer seconds than a column has, the column in which they are is taken.
   * @param {number} from
   * @param {number} to
   */
  merged(from, to) {
    const at = (/** @type {number} */ second) => Math.round((second - this.first) / this.width);
    let [begin, end] = [at(from), at(to)];
    if (begin >= end) begin = Math.min(Math.floor((from - this.first) / this.width), this.columns.length - 1);
    end = Math.max(end, begin + 1);
    /** @type {Map<number, number>} */
    const all = new Map();
    for (const { places, counts } of this.columns.slice(Math.max(begin, 0), end)) {
      for (let at = 0; at < places.length; at += 1) all.set(places[at], (all.get(places[at]) ?? 0) + counts[at]);
    }
    return [...all].sort(([a], [b]) => a - b);
  }

  /**
   * Returns percentiles of the seconds from `from` up to `to`, as PostgreSQL's percentile_cont defines them, and whether
   * each is exact: of a bucket of several ms, the middle is taken.
   * @param {number} from
   * @param {number} to
   * @param {number[]} percents in ascending order
   * @returns {{ value: number | null, exact: boolean }[]}
   */
  percentiles(from, to, percents) {
    const merged = this.merged(from, to);
    const n = merged.reduce((sum, [, count]) => sum + count, 0);
    return percents.map((percent) => (n > 0 ? this.percentile(merged, (percent / 100) * (n - 1)) : { value: null, exact: true }));
  }

  /**
   * Returns the value at a position among the sorted values, linear between neighbours.
   * @param {[number, number][]} merged
   * @param {number} position
   */
  percentile(merged, position) {
    const rank = Math.floor(position);
    const [one, next] = [this.at(merged, rank), this.at(merged, Math.ceil(position))];
    return { value: one.value + (next.value - one.value) * (position - rank), exact: one.exact && next.exact };
  }

  /**
   * Returns the value of a rank, counted from 0.
   * @param {[number, number][]} merged
   * @param {number} rank
   */
  at(merged, rank) {
    let reached = 0;
    const found = merged.find(([, count]) => (reached += count) > rank) ?? merged[merged.length - 1];
    const [low, high] = this.range(found[0]);
    return { value: (low + high) / 2 / this.scale, exact: low === high };
  }

  /**
   * Returns the heat map: for each column the rows with their counts.
   * @returns {Map<number, number>[]}
   */
  heat() {
    return this.columns.map(({ places, counts }) => {
      /** @type {Map<number, number>} */
      const rows = new Map();
      places.forEach((place, at) => {
        const row = heatRow(this.range(place)[0]);
        rows.set(row, (rows.get(row) ?? 0) + counts[at]);
      });
      return rows;
    });
  }
}
