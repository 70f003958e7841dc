import assert from "node:assert/strict";
import { test } from "node:test";

import { dayTime, took } from "../src/format";
import { failureRows } from "../src/run/failures";
import { failureBars, failureTimes, isOfFailures, messageOf } from "../src/run/kinds";
import { tileRules } from "../src/run/rules";
import type { ErrorRow, RuleRow, RunData } from "../src/types";

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

test("how long failures took: the median of the bins and the greatest", () => {
  assert.deepEqual(failureTimes({ width: 100, first: 0, counts: [0, 1, 2], beyond: 0, max: 240 }), { p50: [200, 300], most: 240 });
  assert.deepEqual(failureTimes({ width: 2, first: 0, counts: [9], beyond: 0, max: 1 }), { p50: [0, 2], most: 1 });
  assert.deepEqual(failureTimes({ scale: 1000, width: 1, first: 500, counts: [1], beyond: 2, max: 2500 }), { p50: [2.5, 2.5], most: 2.5 });
  assert.deepEqual(failureTimes({ width: 1, first: 0, counts: [], beyond: 0, max: null }), { p50: null, most: null });
});

test("a message that repeats the code is none", () => {
  const of = (code: string, message: string): string => messageOf({ code, message });
  assert.deepEqual([of("503", "1503"), of("503", "503"), of("503", "Service Unavailable"), of("", "found 503")], ["", "", "Service Unavailable", "found 503"]);
});

test("failures without a code are rows by message", () => {
  const error = (code: string, message: string, number: number): ErrorRow => ({ code, message, labels: "a (1)", count: number, first: 0, last: 1 });
  const data = {
    detail: { overTime: { width: 1, labels: [], failures: [{ label: "a", code: "", counts: [3, 2] }, { label: "a", code: "500", counts: [4, 0] }] } },
    errors: [error("", "found 503", 3), error("500", "x", 3), error("500", "y", 1), error("", "found 500", 2)],
  } as unknown as RunData;
  assert.deepEqual(failureRows(data).map(({ code, messages, count, counts, mostly }) => [code, messages.length, count, counts, mostly]), [
    ["500", 2, 4, [4, 0], "a (4)"],
    ["", 1, 3, null, "a (1)"],
    ["", 1, 2, null, "a (1)"],
  ]);
});

test("rules of the whole run on a tile's figure stand in the tile", () => {
  const rule = (text: string): RuleRow => ({ rule: text, passed: true, value: null, limit: null, span: null, note: null });
  const of = (text: string): string | undefined => [...tileRules([rule(text)]).keys()][0];
  const tiles = ["p95 < 200ms", "failures <= 1%", "failures < 5", "cpu > 10%", "throughput != 5", "p95 of \"x\" < 1s", "p95 < 1s for 5s", "p90 < 1s", "apdex 500ms > 0.9"].map(of);
  assert.deepEqual(tiles, ["p95", "Failures", undefined, "CPU", "Throughput", undefined, undefined, undefined, undefined]);
});

test("a duration from ms on", () => assert.deepEqual([1, 46.2, 2000, 5120].map(took), ["1 ms", "46 ms", "2.0 s", "5.1 s"]));

test("what is said of failures that took long stands below the tiles", () => {
  const texts = ["2.06 % of the requests failed after 2.0 s to 5.0 s, which are not in these times", "2.06 % of the requests failed after 2.0 s to 5.0 s: times of successes leave them out", "5 requests were outstanding"];
  assert.deepEqual(texts.map(isOfFailures), [true, true, false]);
});
