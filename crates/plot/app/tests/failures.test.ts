import assert from "node:assert/strict";
import { test } from "node:test";

import { dayTime } from "../src/format";
import { failureBars } from "../src/run/kinds";

test("failures are gathered into few bars that hold whole bins", () => {
  const bins = { width: 2, first: 100, counts: Array.from({ length: 300 }, (_, at) => at % 7), beyond: 4, max: 9000 };
  const bars = failureBars(bins);
  const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0);
  assert.equal(sum(bars.counts), sum(bins.counts));
  assert.equal(bars.beyond, 4);
  assert.ok(bars.counts.length <= 57 && bars.width % bins.width === 0);
  assert.equal(sum(bars.counts.slice(0, Math.floor(100 / bars.width))), 0);
  assert.deepEqual(failureBars({ width: 1, first: 0, counts: [], beyond: 0, max: null }).counts, []);
  // Times may be counted in parts of a ms.
  assert.equal(failureBars({ scale: 10, width: 5, first: 0, counts: [1, 2], beyond: 0, max: 1 }).width, 0.5);
});

test("a time of day goes on after midnight", () => {
  assert.equal(dayTime(86_399), "23:59:59");
  assert.equal(dayTime(86_400 + 65), "00:01:05");
});
