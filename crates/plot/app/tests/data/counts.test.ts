import assert from "node:assert/strict";
import { test } from "node:test";

import { bucketEdge, Counts } from "../../src/data/counts";
import { counted, packed, percentileCont, randomly } from "./random";

const PERCENTS = [0, 10, 50, 90, 95, 99, 99.9, 100];

test("percentiles of any window are those of all its values", () => {
  const random = randomly(3);
  for (let round = 0; round < 40; round += 1) {
    const seconds = Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
      Array.from({ length: Math.floor(random() * 30) }, () => Math.floor(Math.exp(random() * 7))),
    );
    const first = Math.floor(random() * 20);
    const counts = new Counts(packed(seconds.map(counted)), first);
    const from = first + Math.floor(random() * seconds.length);
    const to = from + 1 + Math.floor(random() * (first + seconds.length - from));
    const values = seconds.slice(from - first, to - first).flat();
    for (const [at, { value, exact }] of counts.percentiles(from, to, PERCENTS).entries()) {
      const expected = percentileCont(values, PERCENTS[at] as number);
      assert.ok(exact);
      if (expected === null) assert.equal(value, null);
      else assert.ok(Math.abs((value as number) - expected) < 1e-9, `${value} for ${expected}`);
    }
  }
});

test("units of less than a ms are scaled", () => {
  const counts = new Counts(
    {
      ...packed([
        [
          [1500, 1],
          [2500, 1],
        ],
      ]),
      scale: 1000,
    },
    0,
  );
  assert.deepEqual(
    counts.percentiles(0, 1, [0, 50, 100]).map(({ value }) => value),
    [1.5, 2, 2.5],
  );
});

test("a percentile from buckets is at most 0.4 % off, and marked unless the bucket has one unit", () => {
  const random = randomly(1);
  const values = Array.from({ length: 4000 }, () => Math.floor(Math.exp(random() * 11)));
  const bucketOf = (time: number): number => {
    let bucket = 0;
    while (bucketEdge(bucket + 1) <= time) bucket += 1;
    return bucket;
  };
  const counts = new Counts(packed([counted(values.map(bucketOf))], false), 0);
  for (const [at, { value, exact }] of counts.percentiles(0, 1, [10, 50, 95, 99]).entries()) {
    const expected = percentileCont(values, [10, 50, 95, 99][at] as number) as number;
    assert.ok(Math.abs((value as number) - expected) <= expected * 0.004, `${value} for ${expected}`);
    assert.equal(exact, expected < 256);
  }
});

test("of columns of several seconds those are merged whose middle is within", () => {
  const counts = new Counts(packed([[[1, 1]], [[2, 1]], [[3, 1]]], true, 10), 0);
  const merged = (from: number, to: number): number[] => counts.merged(from, to).map(([place]) => place);
  assert.deepEqual(merged(0, 30), [1, 2, 3]);
  assert.deepEqual(merged(4, 26), [1, 2, 3]);
  assert.deepEqual(merged(6, 24), [2]);
  assert.deepEqual(merged(22, 24), [3]);
  assert.deepEqual(merged(29, 30), [3]);
});
