import assert from "node:assert/strict";
import { test } from "node:test";

import { binWidth, columns, greatest, total } from "../data/bins.js";

test("a column has at least one second", () => {
  assert.equal(binWidth(0, 60, 1000), 1);
  assert.equal(binWidth(0, 86_400, 1000), 87);
});

test("columns keep means and extremes, and leave out what is absent", () => {
  const values = { first: 10, width: 1, list: [1, 3, null, null, 8] };
  assert.deepEqual(columns(values, 10, 15, 2), [
    { start: 10, end: 12, mean: 2, min: 1, max: 3 },
    { start: 14, end: 15, mean: 8, min: 8, max: 8 },
  ]);
  // A run that begins later than the chart.
  assert.deepEqual(columns(values, 8, 12, 2).map(({ start, mean }) => [start, mean]), [[10, 2]]);
});

test("values of several seconds are not divided", () => {
  const values = { first: 0, width: 3, list: [5, 7, 9] };
  const found = columns(values, 2, 9, 1);
  assert.deepEqual(found.map(({ start, end, mean }) => [start, end, mean]), [[2, 3, 5], [3, 6, 7], [6, 9, 9]]);
});

test("sums and maxima are of the seconds that are there", () => {
  const values = { first: 10, width: 1, list: [1, 3, null, 8] };
  assert.equal(total(values, 0, 12), 4);
  assert.equal(total(values, 11, 99), 11);
  assert.equal(greatest([null, 3, 1]), 3);
  assert.equal(greatest([]), 0);
});
