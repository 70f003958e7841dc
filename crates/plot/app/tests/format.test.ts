import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../src/format";

test("rates have fewer decimals the greater they are", () => {
  const texts = [46333.2, 100, 99.96, 99.94, 12.34, 9.996, 9.99, 0.456, 0, null].map((value) => format.rate(value));
  assert.deepEqual(texts, ["46,333", "100", "100", "99.9", "12.3", "10.0", "9.99", "0.46", "0", "–"]);
});

test("no value is 0 that is not", () => {
  assert.deepEqual([0.00156, 0.0499, 0.1].map((value) => format.rate(value)), ["0.0016", "0.050", "0.10"]);
  assert.deepEqual([0.004, 0.0123].map((value) => format.ms(value)), ["0.0040", "0.012"]);
});

test("times have no decimals from 10 ms", () => {
  assert.deepEqual([1234.5, 46.4, 9.31, 0].map((value) => format.ms(value)), ["1,235", "46", "9.31", "0"]);
  assert.equal(format.ms(46.44, 1), "46.4");
});

test("no failures and some are told apart, and so are some and all", () => {
  const texts = [0, 0.004, 0.01, 2.594, 99.999, 100, null].map(format.failurePercent);
  assert.deepEqual(texts, ["0", "< 0.01", "0.01", "2.59", "99.99", "100", "–"]);
});

test("changes have a sign and a true minus", () => {
  assert.deepEqual([12.53, -7.94, 0.01, -0.04, 1234.5].map(format.change), ["+12.5", "−7.9", "0.0", "0.0", "+1,234.5"]);
});

test("negative numbers have a true minus", () => assert.equal(format.grouped(-3.5, 1), "−3.5"));

test("stamps have hours from an hour on", () => {
  assert.deepEqual([5, 54.9, 83, 3600, 50000].map((second) => format.stamp(second)), ["0:05", "0:54", "1:23", "1:00:00", "13:53:20"]);
  assert.deepEqual([5, 807, 50000].map((second) => format.stamp(second, true)), ["0:00:05", "0:13:27", "13:53:20"]);
});

test("spans are in words", () => {
  assert.deepEqual([13, 78.4, 120, 3900, 7200].map(format.span), ["13 s", "1 min 18 s", "2 min", "1 h 5 min", "2 h"]);
});

test("days share what they have in common", () => {
  const day = (text: string): number => Date.parse(`${text}T12:00Z`);
  assert.equal(format.days(day("2026-11-20"), day("2026-11-21")), "20 to 21 November 2026");
  assert.equal(format.days(day("2026-10-10"), day("2026-11-18")), "10 October to 18 November 2026");
  assert.equal(format.days(day("2025-12-31"), day("2026-01-01")), "31 December 2025 to 1 January 2026");
  assert.equal(format.days(day("2026-11-20"), day("2026-11-20")), "20 November 2026");
});

test("paddings bring decimal points below each other", () => {
  assert.deepEqual(format.paddings(["2.72", "0", "12.5", "< 0.01", "–"]), ["", ".00", "0", "", ".00"]);
  assert.deepEqual(format.paddings(["1,234", "5"]), ["", ""]);
});

test("ranges name a common unit once", () => {
  assert.equal(format.rangeText([20, 13], format.span), "13 to 20 s");
  assert.equal(format.rangeText([13, 78], format.span), "13 s to 1 min 18 s");
  assert.equal(format.rangeText([5, 5], format.count), "5");
  assert.deepEqual([[20], [12, 60]].map(format.threadsText), ["up to 20 threads", "12 to 60 threads"]);
});
