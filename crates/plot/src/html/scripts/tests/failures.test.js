import assert from "node:assert/strict";
import { test } from "node:test";

import { byRow } from "../data/by_code.js";

const failures = [
  { label: "Get", code: "500", counts: [5, 4] },
  { label: "", code: "", counts: [3, 0] },
  { label: "Post", code: "500", counts: [1, 1] },
];
/** The failures of each second: 12 in the first column of two seconds, 5 in the second, of one. */
const all = [10, 2, 5];

test("failures that have no row of their own are the others, and none is lost", () => {
  const rows = byRow(failures, all, 2, 2);
  assert.deepEqual(rows, [
    { name: "Get: 500", counts: [5, 4] },
    { name: "(no label): (no code)", counts: [3, 0] },
    { name: "others", counts: [4, 1] },
  ]);
  const sum = rows.flatMap(({ counts }) => counts).reduce((one, other) => one + other, 0);
  assert.equal(sum, 17);
});

test("there are no others where each failure has its row", () => {
  assert.deepEqual(byRow(failures.slice(0, 1), [5, 4], 1, 10), [{ name: "Get: 500", counts: [5, 4] }]);
  assert.deepEqual(byRow([], [0, 0, 0], 1, 10), []);
});
