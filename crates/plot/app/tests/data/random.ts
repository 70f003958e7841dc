// What the tests of data share: random numbers that are the same each time, packed counts, and slow, obvious versions.

import type { PackedCounts } from "../../src/types";

/** Returns a generator of numbers from 0 to 1. */
export function randomly(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** Packs columns of places with their counts as perfpipe does. */
export function packed(columns: [place: number, count: number][][], exact = true, width = 1): PackedCounts {
  return {
    width,
    exact,
    columns: columns.map((column) => [
      column.map(([place], at) => place - (at > 0 ? (column[at - 1]?.[0] ?? 0) : 0)),
      column.map(([, count]) => count),
    ]),
  };
}

/** Counts plain values. */
export function counted(values: number[]): [number, number][] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
}

/** percentile_cont of plain values. */
export function percentileCont(values: number[], percent: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (percent / 100) * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return low === undefined || high === undefined ? null : low + (high - low) * (position - Math.floor(position));
}
