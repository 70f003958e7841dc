import assert from "node:assert/strict";
import { test } from "node:test";

import { Run } from "../../src/run/model";
import type { RunData, RunRow } from "../../src/types";
import { packed } from "./random";

const whole = { name: "whole", from: 0, to: 30, duration: 29.5, times: [null, null, null] };
const list = new Array<number>(30).fill(1);

function run(width: number): Run {
  const data = {
    head: {
      first: 0,
      seconds: 30,
      lastPart: 0.5,
      percentiles: [],
      cpuTop: null,
      parts: [whole, { ...whole, name: "hold", from: 13, duration: 16.5 }],
    },
    series: { successes: list, failures: list, load: list, cpu: list, elapsed: [], curve: [] },
    detail: {
      heat: packed(
        Array.from({ length: 30 / width }, () => [[5, 1]]),
        true,
        width,
      ),
    },
  } as unknown as RunData;
  return new Run({ cpu: null } as RunRow, data);
}

test("a window is limited to the run, and the whole run is none", () => {
  assert.equal(run(1).windowOf({}), null);
  assert.equal(run(1).windowOf({ from: 0, to: 29 }), null);
  assert.equal(run(1).windowOf({ from: -5, to: 99 }), null);
  assert.deepEqual(run(1).windowOf({ from: 3.7, to: 5.2 }), { from: 3, to: 6 });
  assert.deepEqual(run(1).windowOf({ from: 99 }), { from: 28, to: 30 });
  assert.deepEqual(run(1).windowOf({ from: 9, to: 2 }), { from: 9, to: 10 });
});

test("a window has whole columns of counts, unless it is a phase", () => {
  assert.deepEqual(run(10).windowOf({ from: 12, to: 18 }), { from: 10, to: 20 });
  assert.deepEqual(run(10).windowOf({ from: 13, to: 30 }), { from: 13, to: 30 });
  assert.equal(run(10).windowOf({ from: 1, to: 21 }), null);
});
