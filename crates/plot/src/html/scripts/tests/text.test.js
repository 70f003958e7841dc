import assert from "node:assert/strict";
import { test } from "node:test";

import { byteUnit, counted, measured, MISSING, percent, shortTime, stamp, timeOfDay } from "../data/format.js";
import { compareCells, nextOrder } from "../data/order.js";
import { bytesOf, unpack } from "../data/unpack.js";
import { logAxis, roundStep, timeAxis, valueAxis } from "../draw/scale.js";

test("numbers have as many digits as say something", () => {
  assert.deepEqual([46333.2, 12.34, 0.456, 0, null].map(measured), ["46,333", "12.3", "0.46", "0", MISSING]);
  assert.equal(counted(1234567), "1,234,567");
  assert.deepEqual([0, 0.00001, 0.125, 0.99999, 1].map(percent), ["0 %", "< 0.01 %", "12.5 %", "> 99.99 %", "100 %"]);
  assert.deepEqual([54, 50_000].map(stamp), ["0:54", "13:53:20"]);
  assert.deepEqual([0, 70_938, 86_400].map(timeOfDay), ["00:00:00", "19:42:18", "00:00:00"]);
  assert.deepEqual([200, 5000].map(shortTime), ["200 ms", "5 s"]);
});

test("rows are in order, and absent values last in either direction", () => {
  const sorted = (cells, number, sign) => [...cells].sort((a, b) => compareCells(a, b, number, sign));
  assert.deepEqual(sorted(["10", "", "9", "-1"], true, 1), ["-1", "9", "10", ""]);
  assert.deepEqual(sorted(["10", "", "9", "-1"], true, -1), ["10", "9", "-1", ""]);
  assert.deepEqual(sorted(["Get 10", "Get 9", "a"], false, 1), ["a", "Get 9", "Get 10"]);
});

test("the first click puts the best first", () => {
  assert.equal(nextOrder(null, "ascending"), "ascending");
  assert.equal(nextOrder("ascending", "ascending"), "descending");
  assert.equal(nextOrder("descending", "ascending"), "ascending");
  assert.equal(nextOrder(null, "descending"), "descending");
});

test("an axis has head room, and whole numbers where it must", () => {
  assert.equal(roundStep(100, 5), 20);
  assert.equal(roundStep(12, 5), 2.5);
  assert.equal(roundStep(12, 5, true), 5);
  assert.equal(roundStep(0.8, 4, true), 1);
  for (const max of [1, 2, 10, 99, 100, 1234]) {
    const axis = valueAxis(max, 170);
    assert.ok(axis.top > max && axis.y(max) > 0, `${max} lies on the frame`);
  }
  assert.deepEqual(valueAxis(2, 70, { whole: true }).ticks.map(({ text }) => text), ["0", "2", "4"]);
  assert.equal(valueAxis(70, 90, { end: 100 }).top, 100);
});

test("a logarithmic axis and a time axis have round ticks", () => {
  assert.deepEqual(logAxis(0.5, 2000, 190).ticks.map(({ text }) => text), ["1 ms", "10 ms", "100 ms", "1 s"]);
  assert.deepEqual(timeAxis(0, 60, 400).ticks.map(({ text }) => text), ["0", "15", "30", "45", "60"]);
  assert.deepEqual(timeAxis(0, 90, 400).ticks.map(({ text }) => text).slice(0, 3), ["0:00", "0:30", "1:00"]);
});

test("packed data are unpacked", async () => {
  assert.deepEqual([...bytesOf(" aGk= ")], [104, 105]);
  const { deflateSync } = await import("node:zlib");
  const data = { list: [1, null, 2.5], text: "Größe" };
  assert.deepEqual(await unpack(deflateSync(JSON.stringify(data)).toString("base64")), data);
});

test("bytes per second have the unit in which they are short", () => {
  const names = [0, 0.5, 999, 1000, 44_700, 2.5e6, 3e9].map((most) => byteUnit(most).name);
  assert.deepEqual(names, ["B/s", "B/s", "B/s", "kB/s", "kB/s", "MB/s", "GB/s"]);
});

test("ticks of the time of day are at round times", () => {
  const { ticks, x } = timeAxis(0, 120, 400, 19 * 3600 + 42 * 60 + 18);
  assert.deepEqual(ticks.map(({ text }) => text), ["19:42:30", "19:43:00", "19:43:30", "19:44:00"]);
  assert.equal(x(ticks[0].at), 40);
  assert.deepEqual(timeAxis(0, 120, 400).ticks.map(({ text }) => text), ["0:00", "0:30", "1:00", "1:30", "2:00"]);
});
