import assert from "node:assert/strict";
import { test } from "node:test";

import { columns, columnWidth, greatest, least, spans, spread, total } from "../../src/data/bins";
import { randomly } from "./random";

test("a column has a round number of seconds, a multiple of the unit", () => {
  assert.equal(columnWidth(0, 60, 1000), 1);
  assert.equal(columnWidth(0, 86_400, 400), 300);
  assert.equal(columnWidth(0, 600, 400, 3), 3);
  assert.equal(columnWidth(0, 900, 100, 3), 15);
  assert.equal(columnWidth(0, 600, 400, 7), 7);
  for (const most of [1, 7, 100, 414]) {
    for (const span of [1, 59, 3601, 86_400, 1_000_000])
      assert.ok(span / columnWidth(0, span, most) <= most, `${span} in ${most}`);
  }
});

test("a run of hours is drawn in many columns, whatever the unit of its counts", () => {
  const round = [1, 2, 5, 10, 20, 30, 60, 120];
  for (const hours of [1, 2, 4, 8, 12, 16, 24, 48]) {
    const seconds = hours * 3600;
    const least = Math.ceil(seconds / 1800);
    // As the program writes them, as it wrote them before, and as it joins them where there are too many counts.
    const written = round.find((width) => width >= least) ?? least;
    for (const unit of [written, least, 2 * written, 4 * written]) {
      for (const most of [320, 400, 440]) {
        const width = columnWidth(0, seconds, most, unit);
        assert.equal(width % unit, 0);
        const columns = seconds / width;
        assert.ok(columns <= most && columns >= Math.min(seconds / unit, most) / 2.01, `${hours} h by ${unit}: ${columns} columns`);
        if (unit === written) assert.ok(round.includes(width) || width % 60 === 0, `${hours} h: ${width}`);
      }
      // A zoom to minutes shows the counts as they are.
      assert.equal(columnWidth(0, 10 * unit, 400, unit), unit);
    }
  }
});

test("columns keep means and extremes, and leave out what is absent", () => {
  const values = { first: 10, width: 1, list: [1, 3, null, null, 8] };
  assert.deepEqual(columns(values, 10, 15, 2), [
    { start: 10, end: 12, mean: 2, min: 1, max: 3 },
    { start: 14, end: 15, mean: 8, min: 8, max: 8 },
  ]);
});

test("columns begin at the same seconds whatever the window", () => {
  const values = { first: 0, width: 1, list: [1, 2, 3, 4, 5, 6] };
  assert.deepEqual(
    columns(values, 1, 6, 2).map(({ start, end, mean }) => [start, end, mean]),
    [
      [1, 2, 2],
      [2, 4, 3.5],
      [4, 6, 5.5],
    ],
  );
});

test("values of several seconds are not divided", () => {
  const values = { first: 0, width: 3, list: [5, 7, 9] };
  assert.deepEqual(
    columns(values, 2, 9, 1).map(({ start, end, mean }) => [start, end, mean]),
    [
      [2, 3, 5],
      [3, 6, 7],
      [6, 9, 9],
    ],
  );
});

test("columns of random values are those of all their seconds", () => {
  const random = randomly(7);
  for (let round = 0; round < 50; round += 1) {
    const list = Array.from({ length: 1 + Math.floor(random() * 60) }, () =>
      random() < 0.2 ? null : Math.floor(random() * 100),
    );
    const [first, bin] = [Math.floor(random() * 9), 1 + Math.floor(random() * 7)];
    const end = first + list.length;
    let seconds = 0;
    for (const column of columns({ first, width: 1, list }, first, end, bin)) {
      const within = list.filter(
        (value, at) => value !== null && first + at >= column.start && first + at < column.end,
      ) as number[];
      assert.equal(column.max, Math.max(...within));
      assert.equal(column.min, Math.min(...within));
      assert.ok(Math.abs(column.mean - within.reduce((sum, value) => sum + value, 0) / within.length) < 1e-9);
      seconds += within.length;
    }
    assert.equal(seconds, list.filter((value) => value !== null).length);
  }
});

test("sums, extremes and spans are of the values that are there", () => {
  const values = { first: 10, width: 1, list: [1, 3, null, 8] };
  assert.equal(total(values, 0, 12), 4);
  assert.equal(total(values, 11, 99), 11);
  assert.equal(spread([null, null], 0, 2), null);
  assert.equal(greatest([null, 3, 1]), 3);
  assert.equal(greatest([]), 0);
  const holds = [true, true, false, true];
  assert.deepEqual(
    spans(0, 4, (at) => holds[at] ?? false),
    [
      [0, 2],
      [3, 4],
    ],
  );
  assert.deepEqual(
    spans(1, 1, () => true),
    [],
  );
});

test("extremes of a day's seconds are found without a spread of them", () => {
  const many = Array.from({ length: 400_000 }, (_, at) => (at * 7919) % 400_009);
  assert.equal(least(many), 0);
  assert.equal(greatest([...many, null]), many.reduce((a, b) => (a > b ? a : b)));
  assert.equal(least([]), Infinity);
});
