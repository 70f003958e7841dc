import assert from "node:assert/strict";
import { test } from "node:test";

import { bandPath, linePath, lonely } from "../draw/paths.js";

const column = (start, mean, end = start + 1) => ({ start, end, mean, min: mean - 1, max: mean + 1 });
const middle = ({ start, end }) => (start + end) / 2;

test("a line is broken where seconds are missing", () => {
  const columns = [column(0, 5), column(1, 6), column(4, 7)];
  assert.equal(linePath(columns, middle, (value) => value), "M0.5 5L1.5 6M4.5 7");
  assert.equal(bandPath(columns.slice(0, 2), middle, (value) => value), "M0.5 6L1.5 7L1.5 5L0.5 4z");
});

test("a column without a neighbour is told apart", () => {
  const starts = (columns) => lonely(columns).map(({ start }) => start);
  assert.deepEqual(starts([column(0, 1), column(1, 1), column(4, 1), column(6, 1), column(7, 1)]), [4]);
  assert.deepEqual(starts([column(3, 1)]), [3]);
  assert.deepEqual(starts([]), []);
});
