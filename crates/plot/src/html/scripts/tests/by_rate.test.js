import assert from "node:assert/strict";
import { test } from "node:test";

import { ratedSeconds, rateSteps, usualTop } from "../data/by_rate.js";

test("seconds without a time, and one that is cut, are left out", () => {
  const times = [[5, null, 7, 9], [8, null, null, 9]];
  const all = ratedSeconds([10, 0, 20, 3], [1, 4, 0, 0], times, false);
  assert.deepEqual(all.map(({ rate }) => rate), [11, 20, 3]);
  assert.deepEqual(all[1].values, [7, null]);
  assert.deepEqual(ratedSeconds([10, 0, 20, 3], [1, 4, 0, 0], times, true).map(({ rate }) => rate), [11, 20]);
});

test("steps have the medians of their seconds, and one second is no step", () => {
  const second = (rate, ...values) => ({ rate, values });
  const steps = rateSteps([second(19, 4, 40), second(10, 2, 20), second(20, 99, 1), second(12, 3, null), second(15, 9, 30)], 10);
  assert.deepEqual(steps, [{ from: 10, to: 19, seconds: 4, medians: [3.5, 30] }]);
  const empty = rateSteps([second(1, null), second(2, null), second(3, null)], 10);
  assert.deepEqual(empty[0].medians, [null]);
});

test("a second with few requests does not stretch the axis", () => {
  const seconds = [...Array(9).fill({ rate: 100, values: [20, 40] }), { rate: 2, values: [9000, 9000] }];
  assert.equal(usualTop(seconds), 40);
  assert.equal(usualTop([]), 0);
});
