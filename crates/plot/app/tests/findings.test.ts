import assert from "node:assert/strict";
import { test } from "node:test";
import { harmful } from "../src/run/findings";
import type { Finding } from "../src/types";

const finding = (kind: string, first: number, cost?: number): Finding => ({
  ...{ kind, note: false, first, last: first + 9, what: "", evidence: "" },
  ...(cost === undefined ? {} : { cost }),
});

test("within a kind what costs most stands first", () => {
  const steady = finding("failures", 0, 183);
  const outage = finding("failures", 40, 2973);
  const stalls = [finding("stall", 50, 4), finding("stall", 70, 12)];
  const drift = finding("drift", 5, 900);
  const note = { ...finding("note", 0, 1e6), note: true };
  assert.deepEqual(harmful([steady, drift, note, outage, ...stalls]).map(({ first }) => first), [70, 50, 40, 0, 5]);
  // A site of before has no costs.
  assert.deepEqual(harmful([finding("failures", 40), finding("failures", 0)]).map(({ first }) => first), [0, 40]);
});
