import assert from "node:assert/strict";
import { test } from "node:test";
import { axisEnd } from "../src/charts/scale";

test("the axis of a run that grows reaches to the next round time", () => {
  const ends = [1, 10, 11, 21, 51, 60, 61, 121, 301, 3600, 3601, 40_000].map(axisEnd);
  assert.deepEqual(ends, [10, 10, 20, 50, 60, 60, 120, 300, 600, 3600, 7200, 72_000]);
});
