// The cells of a heat map and the bars of a distribution, made of packed counts.

import type { Counts, Merged } from "./counts";

/** The height of a cell: the ratio of its upper and lower edge. */
const RATIO = 1.2;

/** A heat map's cells: each column has the counts by row. */
export interface HeatCells {
  /** Seconds in a column. */
  bin: number;
  columns: { start: number; end: number; rows: Map<number, number> }[];
  lowest: number;
  highest: number;
  /** The greatest count of a cell. */
  most: number;
}

/** Bars of equal width from 0 on, and the number of times beyond the last. */
export interface Bars {
  /** In ms. */
  width: number;
  counts: number[];
  beyond: number;
}

/** Returns the lower edge of a heat map's row in ms. */
export function rowEdge(row: number, scale: number): number {
  return RATIO ** row / scale;
}

/** Returns the row in which a time of some units lies. Times below a unit are in the row of a unit. */
export function rowOf(units: number): number {
  return Math.floor(Math.log(Math.max(units, 1)) / Math.log(RATIO) + 1e-9);
}

/** Gathers the counts of the seconds from `from` up to `to` into cells of `bin` seconds. */
export function heatCells(counts: Counts, from: number, to: number, bin: number): HeatCells {
  const cells: HeatCells = { bin, columns: [], lowest: Infinity, highest: -Infinity, most: 0 };
  for (let start = counts.first + Math.floor((from - counts.first) / bin) * bin; start < to; start += bin) {
    const rows = new Map<number, number>();
    const [low, high] = [Math.max(start, from), Math.min(start + bin, to)];
    for (const [place, count] of counts.merged(low, high)) {
      const [least, most] = counts.range(place);
      const row = rowOf((least + most) / 2);
      rows.set(row, (rows.get(row) ?? 0) + count);
    }
    for (const [row, count] of rows) {
      cells.lowest = Math.min(cells.lowest, row);
      cells.highest = Math.max(cells.highest, row);
      cells.most = Math.max(cells.most, count);
    }
    cells.columns.push({ start: low, end: high, rows });
  }
  return cells;
}

/** Distributes merged counts over bars of `width` ms from 0 up to `upper` ms. A bucket of several units is divided evenly. */
export function barsOf(counts: Counts, merged: Merged, width: number, upper: number): Bars {
  const n = Math.round(upper / width);
  const bars = new Array<number>(n + 1).fill(0);
  const barOf = (unit: number): number => Math.min(Math.floor(unit / counts.scale / width + 1e-9), n);
  for (const [place, count] of merged) {
    const [low, high] = counts.range(place);
    const [one, other] = [barOf(low), barOf(high)];
    if (one === other) bars[one] = (bars[one] ?? 0) + count;
    for (let bar = one; one !== other && bar <= other; bar += 1) {
      const begin = Math.max(low, bar * width * counts.scale);
      const end = bar === n ? high + 1 : Math.min(high + 1, (bar + 1) * width * counts.scale);
      bars[bar] = (bars[bar] ?? 0) + (count * (end - begin)) / (high + 1 - low);
    }
  }
  return { width, counts: bars.slice(0, n).map(Math.round), beyond: Math.round(bars[n] ?? 0) };
}
