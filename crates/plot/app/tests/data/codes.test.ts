import assert from "node:assert/strict";
import { test } from "node:test";

import { failuresByCode } from "../../src/data/codes";

test("failures are added up by code, the most frequent first, with the label that has most of them", () => {
  const found = failuresByCode([
    { label: "a", code: "500", counts: [1, 0, 2] },
    { label: "a", code: "503", counts: [0, 4, 0] },
    { label: "b", code: "500", counts: [3, 1, 1] },
  ]);
  assert.deepEqual(found, [
    { code: "500", counts: [4, 1, 3], most: { label: "b", count: 5 } },
    { code: "503", counts: [0, 4, 0], most: { label: "a", count: 4 } },
  ]);
});

test("the series of a run are left as they are", () => {
  const given = [
    { label: "a", code: "1", counts: [1] },
    { label: "b", code: "1", counts: [1] },
  ];
  failuresByCode(given);
  assert.deepEqual(given[0]?.counts, [1]);
});
