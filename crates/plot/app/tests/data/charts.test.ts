import assert from "node:assert/strict";
import { test } from "node:test";

import { spaced } from "../../src/charts/leaders";
import { leastSilence } from "../../src/charts/requests";
import { areaPath, linePath } from "../../src/charts/paths";
import { logAxis, nines, roundStep, timeTicks, valueAxis } from "../../src/charts/scale";

test("axes start at zero and have three to five ticks of 1, 2, 2.5 or 5", () => {
  for (let most = 0.013; most < 1e7; most *= 1.37) {
    for (const height of [52, 106, 156]) {
      const { ticks, top } = valueAxis(most, height);
      assert.ok(ticks.length >= 3 && ticks.length <= 5, `${ticks.length} ticks to ${most}`);
      assert.equal(ticks[0]?.at, 0);
      assert.ok(top >= most * (1 - 1e-9));
      assert.equal(new Set(ticks.map(({ text }) => text)).size, ticks.length, `${ticks.map(({ text }) => text)}`);
    }
    const lead = roundStep(most, 4) / 10 ** Math.floor(Math.log10(roundStep(most, 4)) + 1e-9);
    assert.ok(
      [1, 2, 2.5, 5].some((one) => Math.abs(one - lead) < 1e-6),
      `${lead}`,
    );
  }
});

test("the time axis has texts that fit", () => {
  assert.deepEqual(
    timeTicks(0, 78, 828).map(({ text }) => text),
    ["0:00", "0:10", "0:20", "0:30", "0:40", "0:50", "1:00", "1:10"],
  );
  assert.deepEqual(
    timeTicks(0, 86_400, 828)
      .map(({ text }) => text)
      .slice(0, 3),
    ["0:00", "3:00", "6:00"],
  );
  for (const to of [1, 13, 60, 3599, 3600, 86_400, 1e6]) assert.ok(timeTicks(0, to, 800).length <= 11);
});

test("a logarithmic axis rises evenly by factors", () => {
  const { y } = logAxis(1, 100, 90);
  assert.ok(Math.abs(y(1) - 90) < 1e-9 && Math.abs(y(10) - 45) < 1e-9 && Math.abs(y(100)) < 1e-9);
  assert.ok(Math.abs(nines(99) - 0.5) < 1e-9);
});

test("gaps end lines and areas", () => {
  assert.equal(linePath([[0, 1], [1, 2], null, [3, 4]]), "M0 1L1 2M3 4h1");
  assert.equal(areaPath([[0, 0], [1, 0], null], [[0, 9], [1, 9], null]), "M0 0L1 0L1 9L0 9z");
});

test("labels are apart, in order, and within", () => {
  const placed = spaced([50, 52, 51, 99], 13, 0, 100);
  const sorted = [...placed].sort((a, b) => a - b);
  sorted.slice(1).forEach((place, at) => assert.ok(place - (sorted[at] as number) >= 13 - 1e-9));
  assert.ok((placed[0] as number) < (placed[2] as number) && (placed[2] as number) < (placed[1] as number));
  assert.ok(Math.max(...placed) <= 100);
});

test("a silence is one where it is long for the run", () => {
  const every = (distance: number): boolean[] => Array.from({ length: 600 }, (_, at) => at % distance === 0);
  assert.equal(leastSilence(every(1)), 1);
  assert.equal(leastSilence(every(10)), 200);
  assert.equal(leastSilence([true, false, false]), 1);
  assert.equal(leastSilence([]), 1);
});

test("in a run of hours every time has hours", () => {
  const texts = (from: number, to: number) => timeTicks(from, to, 828, true).map(({ text }) => text);
  assert.ok(texts(600, 960).every((text) => /^0:1\d:\d\d$/.test(text)), texts(600, 960).join());
  assert.ok(texts(0, 86_400).includes("12:00"));
});
