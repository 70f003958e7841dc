import assert from "node:assert/strict";
import { test } from "node:test";

import { failuresBy, rates } from "../data/by_code.js";
import { Counts } from "../data/counts.js";
import { partFigures } from "../data/part.js";

const head = {
  first: 0,
  seconds: 4,
  lastPart: 0.5,
  parts: [{ name: "whole", from: 0, to: 4, duration: 3.5, times: [10, 20, 30] }, { name: "hold", from: 1, to: 3, duration: 2, times: [11, 21, 31] }],
};
const series = { successes: [10, 20, 20, 5], failures: [0, 5, 0, 0] };
const counts = new Counts({ width: 1, exact: true, columns: [[[7], [10]], [[8], [20]], [[9], [20]], [[6], [5]]] }, 0);

test("the whole run and its phases have the figures of the page", () => {
  const whole = partFigures(head, series, counts, -5, 99);
  assert.equal(whole.name, "whole");
  assert.deepEqual([whole.requests, whole.failures, whole.throughput], [60, 5, 55 / 3.5]);
  assert.deepEqual(whole.times.map(({ value }) => value), [10, 20, 30]);
  assert.equal(partFigures(head, series, counts, 1, 3).name, "hold");
});

test("any other part is counted, and a cut second only in part", () => {
  const part = partFigures(head, series, counts, 2, 4);
  assert.equal(part.name, null);
  assert.deepEqual([part.requests, part.failures, part.throughput], [25, 0, 25 / 1.5]);
  assert.equal(part.times[0].value, 9);
  assert.equal(partFigures(head, series, counts, 9, 12), null);
});

test("failures are added up by code or label, and rare ones together", () => {
  const of = (code, label, ...counts) => ({ label, code, counts });
  const all = [of("500", "x", 1, 0), of("503", "y", 4, 4), of("500", "", 2, 0), of("a", "x", 1, 0), of("b", "x", 0, 1)];
  const found = failuresBy(all, "code", 2);
  assert.deepEqual(found, [{ name: "503", counts: [4, 4] }, { name: "500", counts: [3, 0] }, { name: "2 other codes", counts: [1, 1] }]);
  const labels = failuresBy(all, "label", 2);
  assert.deepEqual(labels, [{ name: "y", counts: [4, 4] }, { name: "x", counts: [2, 1] }, { name: "(no label)", counts: [2, 0] }]);
});

test("the rate of a last column that is short is over its own seconds", () => {
  assert.deepEqual(rates([10, 10, 5], 10, 25), [1, 1, 1]);
});
