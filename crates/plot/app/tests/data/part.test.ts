import assert from "node:assert/strict";
import { test } from "node:test";

import { Counts } from "../../src/data/counts";
import { drawnEnd, partFigures } from "../../src/data/part";
import type { RunData, RunRow } from "../../src/types";
import { counted, packed, percentileCont } from "./random";

const times = [[10, 20], [30], [], [40, 50, 60], [70]];
const whole = { name: "whole", from: 5, to: 10, duration: 4.5, times: [40, 68, 69.6] };
const data = {
  head: {
    first: 5,
    seconds: 5,
    lastPart: 0.5,
    percentiles: [50],
    cpuTop: 100,
    parts: [whole, { name: "ramp", from: 5, to: 7, duration: 2, times: [1, 2, 3] }],
  },
  series: {
    successes: [2, 1, 0, 3, 1],
    failures: [0, 1, 0, 0, 9],
    load: [1, 1, 2, 2, 0.4],
    cpu: [10, null, 30, 50, 90],
    elapsed: [],
    curve: [],
  },
} as unknown as RunData;
const row = { cpu: 33 } as RunRow;
const counts = new Counts(packed(times.map(counted)), 5);
const figures = (from: number, to: number) => partFigures(row, data, counts, from, to);

test("the whole run and its phases have the figures that are written", () => {
  const all = figures(0, 99);
  assert.equal(all?.name, "whole");
  assert.deepEqual(
    [all?.requests, all?.failures, all?.share, all?.throughput, all?.cpu],
    [17, 10, 10 / 17, 7 / 4.5, 33],
  );
  assert.deepEqual(
    all?.times.map(({ value }) => value),
    whole.times,
  );
  const ramp = figures(5, 7);
  assert.deepEqual([ramp?.name, ramp?.throughput, ramp?.cpu, ramp?.times[2]?.value], ["ramp", 1.5, 10, 3]);
});

test("any other window has figures of its seconds", () => {
  const window = figures(6, 9);
  assert.deepEqual(
    [window?.name, window?.requests, window?.failures, window?.throughput, window?.cpu],
    [null, 5, 1, 4 / 3, 40],
  );
  const values = times.slice(1, 4).flat();
  assert.deepEqual(
    window?.times.map(({ value }) => value),
    [50, 95, 99].map((percent) => percentileCont(values, percent)),
  );
});

test("a cut second is as long as it lasted, and no part of means and charts", () => {
  const end = figures(8, 10);
  assert.equal(end?.duration, 1.5);
  assert.equal(end?.throughput, 4 / 1.5);
  assert.equal(end?.cpu, 50);
  assert.deepEqual(end?.load, [2, 2]);
  assert.equal(drawnEnd(data.head), 9);
  assert.equal(drawnEnd({ ...data.head, seconds: 1 }), 6);
  assert.equal(drawnEnd({ ...data.head, lastPart: 1 }), 10);
});

test("a window without a second has none", () => {
  assert.equal(figures(7, 7), null);
  assert.equal(figures(20, 30), null);
});
