import assert from "node:assert/strict";
import { test } from "node:test";

import { barsOf, heatCells, rowEdge, rowOf } from "../../src/data/cells";
import { Counts } from "../../src/data/counts";
import { counted, packed, randomly } from "./random";

test("rows of a heat map follow one another and hold their times", () => {
  for (let time = 1; time < 70_000; time += 1 + Math.floor(time / 50)) {
    const row = rowOf(time);
    assert.ok(rowEdge(row, 1) <= time * (1 + 1e-8) && time < rowEdge(row + 1, 1) * (1 + 1e-8), `${time}`);
  }
});

test("a heat map counts each request once, whatever the width of its columns", () => {
  const random = randomly(5);
  const seconds = Array.from({ length: 23 }, () =>
    Array.from({ length: 20 }, () => Math.floor(Math.exp(random() * 8))),
  );
  const counts = new Counts(packed(seconds.map(counted)), 4);
  for (const bin of [1, 2, 5, 30]) {
    const cells = heatCells(counts, 4, 27, bin);
    assert.equal(
      cells.columns.flatMap(({ rows }) => [...rows.values()]).reduce((sum, count) => sum + count, 0),
      23 * 20,
    );
    for (const { start, end, rows } of cells.columns) {
      for (const [row, count] of rows)
        assert.equal(
          count,
          seconds
            .slice(start - 4, end - 4)
            .flat()
            .filter((time) => rowOf(time) === row).length,
        );
    }
    assert.equal(cells.most, Math.max(...cells.columns.flatMap(({ rows }) => [...rows.values()])));
  }
});

test("bars count each time once, those beyond apart", () => {
  const random = randomly(9);
  const times = Array.from({ length: 3000 }, () => Math.floor(random() * 300));
  const counts = new Counts(packed([counted(times)]), 0);
  const bars = barsOf(counts, counts.merged(0, 1), 5, 200);
  assert.equal(bars.counts.length, 40);
  bars.counts.forEach((count, at) =>
    assert.equal(count, times.filter((time) => time >= at * 5 && time < at * 5 + 5).length),
  );
  assert.equal(bars.beyond, times.filter((time) => time >= 200).length);
});

test("a bucket of several units is divided among its bars", () => {
  // The bucket after the single units holds 256 and 257.
  const counts = new Counts(packed([[[256, 10]]], false), 0);
  assert.deepEqual(counts.range(256), [256, 257]);
  const bars = barsOf(counts, counts.merged(0, 1), 1, 300);
  assert.deepEqual([bars.counts[255], bars.counts[256], bars.counts[257], bars.counts[258]], [0, 5, 5, 0]);
});
