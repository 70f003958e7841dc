import assert from "node:assert/strict";
import { test } from "node:test";
import { spreadOut } from "../src/test/overlay";
import { conditions, groupedFindings, merged, testFacts, tieGroups, tieSentence } from "../src/test/sentences";
import { RAN_ONCE } from "../src/measures";
import { run, standing } from "./support";

test("ties are named, with how many repeats leave them open", () => {
  const league = [standing("go", [1, 2]), standing("netty", [1, 2]), standing("node", [3, 3])];
  assert.deepEqual(tieGroups(league), [[0, 1]]);
  assert.equal(tieSentence(league), "go and netty are tied: 3 repeats can’t tell which is faster. The other places are clear (5 % error rate).");
});

test("overlapping intervals are tied in part", () => {
  const league = [standing("a", [1, 2]), standing("b", [1, 3]), standing("c", [2, 3])];
  assert.deepEqual(tieGroups(league), [[0, 1, 2]]);
  assert.match(tieSentence(league), /^a, b and c are partly tied/);
});

test("one repeat, nobody ranked and no ties have sentences of their own", () => {
  const once = [standing("a", [1, 2], { repeats: 1 }), standing("b", [1, 2], { repeats: 1 })];
  assert.equal(tieSentence(once), RAN_ONCE);
  assert.deepEqual(tieGroups(once), []);
  assert.match(tieSentence([standing("a", null), standing("b", null)]), /^Nobody is ranked/);
  assert.equal(tieSentence([standing("a", [1, 1]), standing("b", [2, 2])]), "All places are clear (5 % error rate).");
});

test("an unranked row ends a tie", () => assert.deepEqual(tieGroups([standing("a", null), standing("b", [1, 1])]), []));

test("sentences that differ in numbers become one", () => {
  assert.equal(merged(["stops at 22.4 of 1,060", "stops at 9.5 of 1,060"]), "stops at 9.5 to 22.4 of 1,060");
  assert.equal(merged(["stops at 1", "begins at 1"]), null);
});

test("a finding of all runs is one sentence", () => {
  const what = (number: number) => ({ findings: [{ kind: "saturation", what: `stops at ${number}` }] });
  const runs = [run({ id: "1", ...what(10) }), run({ id: "2", ...what(12) })];
  assert.deepEqual(groupedFindings(runs).map(({ subject, text }) => `${subject} ${text}`), ["In all 2 runs stops at 10 to 12"]);
  const [part] = groupedFindings([...runs, run({ id: "3", framework: "node" })]);
  assert.equal(part?.subject, "In all 2 runs of go");
});

test("other loads and lengths are said", () => {
  assert.deepEqual(conditions([run({ load: 60 }), run({ load: 60, duration: 61 })]), []);
  assert.equal(conditions([run({ load: 60 }), run({ load: 30, duration: 20 })]).length, 2);
});

test("names move apart and stay in order and inside", () => {
  assert.deepEqual(spreadOut([50, 52, 10], 15, 100), [50, 65, 10]);
  assert.deepEqual(spreadOut([98, 99], 15, 100), [85, 100]);
});

test("facts of a test name the range of lengths and loads", () => {
  const runs = [run({ duration: 13, load: 12 }), run({ framework: "node", duration: 78, load: 60 })];
  const text = testFacts([standing("go", [1, 1]), standing("node", [2, 2])], runs);
  assert.match(text, /13 s to 1 min 18 s a run, 12 to 60 threads\./);
  assert.match(testFacts([standing("go", [1, 1])], runs.slice(0, 1)), /, 13 s a run, up to 12 threads\./);
});
