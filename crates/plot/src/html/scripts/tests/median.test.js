import assert from "node:assert/strict";
import { test } from "node:test";

import { rates } from "../data/by_code.js";
import { median, medianCurve, medianOf } from "../data/median.js";

test("medians are those of the league", () => {
  assert.equal(median([]), null);
  assert.equal(median([100, 10]), 55);
  assert.equal(median([3, 1, 2]), 2);
});

test("a second has a median where more than half of the repeats have a value", () => {
  const runs = [
    { first: 0, width: 1, list: [1, 2, null, 4] },
    { first: 1, width: 1, list: [4, 5] },
    { first: 0, width: 1, list: [3, 9, 8] },
  ];
  assert.deepEqual(medianOf(runs), { first: 0, width: 1, list: [2, 4, 6.5, null] });
  assert.deepEqual(medianCurve([[[0, 1], [50, 10]], [[0, 3], [50, 20]], []]), [[0, 2], [50, 15]]);
});

test("a last column of less than a second has no rate", () => {
  assert.deepEqual(rates([10, 20, 1], 1, 2.04), [10, 20, null]);
  assert.deepEqual(rates([10, 20, 30], 1, 3), [10, 20, 30]);
  assert.deepEqual(rates([20, 15], 2, 3.5), [10, 10]);
  assert.deepEqual(rates([7], 1, 0.2), [7], "the only second is drawn");
});
