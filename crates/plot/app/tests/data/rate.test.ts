import assert from "node:assert/strict";
import { test } from "node:test";

import { ratedSeconds, rateSteps } from "../../src/data/rate";
import type { RunData } from "../../src/types";

const data = {
  head: { first: 2, seconds: 6, lastPart: 0.3 },
  series: { successes: [10, 11, 0, 22, 29, 5], failures: [0, 1, 0, 0, 0, 0], elapsed: [[1, 3, null, 7, 9, 99]] },
} as unknown as RunData;

test("seconds with a time have their rate; a cut one is left out", () => {
  assert.deepEqual(
    ratedSeconds(data, 0, 99).map(({ rate }) => rate),
    [10, 12, 22, 29],
  );
  assert.deepEqual(
    ratedSeconds(data, 3, 6).map(({ rate }) => rate),
    [12, 22],
  );
});

test("steps have the medians of their seconds; single seconds are left out", () => {
  const steps = rateSteps([...ratedSeconds(data, 0, 99), { rate: 95, values: [5] }], 10);
  assert.deepEqual(steps, [
    { from: 10, to: 20, seconds: 2, medians: [2] },
    { from: 20, to: 30, seconds: 2, medians: [8] },
  ]);
});
