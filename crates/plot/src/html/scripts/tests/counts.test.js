import assert from "node:assert/strict";
import { test } from "node:test";

import { bucketEdge, Counts, heatEdge, heatRow } from "../data/counts.js";

/** Packs columns of [place, count] as the page has them. */
const packed = (columns, exact = true, width = 1) => ({
  width,
  exact,
  columns: columns.map((column) => [
    column.map(([place], at) => place - (at > 0 ? column[at - 1][0] : 0)),
    column.map(([, count]) => count),
  ]),
});

/** percentile_cont of plain values. */
function cont(values, percent) {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (percent / 100) * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return low + (high - low) * (position - Math.floor(position));
}

test("percentiles of merged columns are those of all values", () => {
  const columns = [[[10, 2], [40, 1]], [], [[12, 3], [40, 2], [90, 1]]];
  const counts = new Counts(packed(columns), 5);
  const values = (from, to) => columns.slice(from - 5, to - 5).flat().flatMap(([ms, n]) => Array(n).fill(ms));
  for (const [from, to] of [[5, 8], [5, 6], [7, 8], [6, 8]]) {
    const found = counts.percentiles(from, to, [0, 50, 95, 99, 100]);
    const expected = [0, 50, 95, 99, 100].map((percent) => cont(values(from, to), percent));
    assert.deepEqual(found.map(({ value }) => value), expected);
    assert.ok(found.every(({ exact }) => exact));
  }
  assert.deepEqual(counts.percentiles(6, 7, [50]), [{ value: null, exact: true }]);
});

test("a percentile from buckets is at most 0.4 % off, and marked unless the bucket has one ms", () => {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const values = Array.from({ length: 4000 }, () => Math.floor(Math.exp(random() * 11)));
  const bucketOf = (ms) => {
    let bucket = 0;
    while (bucketEdge(bucket + 1) <= ms) bucket += 1;
    return bucket;
  };
  const column = new Map();
  for (const ms of values) column.set(bucketOf(ms), (column.get(bucketOf(ms)) ?? 0) + 1);
  const counts = new Counts(packed([[...column].sort(([a], [b]) => a - b)], false), 0);
  counts.percentiles(0, 1, [10, 50, 95, 99]).forEach(({ value, exact }, at) => {
    const expected = cont(values, [10, 50, 95, 99][at]);
    assert.ok(Math.abs(value - expected) <= expected * 0.004, `${value} for ${expected}`);
    assert.equal(exact, expected < 256);
  });
});

test("of columns of several seconds those are merged whose middle is within", () => {
  const counts = new Counts(packed([[[1, 1]], [[2, 1]], [[3, 1]]], true, 10), 0);
  const merged = (from, to) => counts.merged(from, to).map(([place]) => place);
  assert.deepEqual(merged(0, 30), [1, 2, 3]);
  assert.deepEqual(merged(4, 26), [1, 2, 3]);
  assert.deepEqual(merged(6, 24), [2]);
  assert.deepEqual(merged(22, 24), [3]);
  assert.deepEqual(merged(29, 30), [3]);
});

test("rows of a heat map follow one another and hold their times", () => {
  for (let ms = 0; ms < 70_000; ms += 1 + Math.floor(ms / 50)) {
    const row = heatRow(ms);
    assert.ok(heatEdge(row) <= ms && ms < heatEdge(row + 1), `${ms}`);
  }
});

test("a heat map counts each request once", () => {
  const counts = new Counts(packed([[[3, 2], [17, 1], [16, 4]].sort((a, b) => a[0] - b[0])]), 0);
  assert.deepEqual([...counts.heat()[0]], [[3, 2], [16, 5]]);
});
