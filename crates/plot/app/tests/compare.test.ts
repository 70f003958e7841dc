import assert from "node:assert/strict";
import { test } from "node:test";
import { changeAxis, placeOn, stretch } from "../src/compare/axis";
import { choicesOf, findChoices } from "../src/compare/choices";
import { changeCells, countSentence, countVerdicts, differenceText, figureOf, figuresOf, hidingText, isAbsent, noisesOf, noiseSigns, noteText, onlyTheseRuns, outcomeOf, rowText, tooShort, unknownText } from "../src/compare/figures";
import { partOf, shownSides } from "../src/compare/parts";
import { compareFacts, differingTags, sameText, sideAbout, titleOf, warningsOf } from "../src/compare/sentences";
import { idsOf, kindOf, medianFirst, namedSides, parseSides, printSides, repeatsText, sideNames, sidesOfTicked } from "../src/compare/sides";
import { link, parseRoute } from "../src/router";
import { look, variant } from "../src/slots";
import type { ChangeRow, RunRow } from "../src/types";
import { run } from "./support";

const GO = [1, 2, 3].map((repeat) => run({ framework: "go", repeat, throughput: [100, 140, 110][repeat - 1] ?? 0 }));
const NODE = [1, 2].map((repeat) => run({ framework: "node", repeat }));
const OLD = run({ framework: "go", repeat: 4, tags: { commit: "aaa" } });
const NEW = [5, 6].map((repeat) => run({ framework: "go", repeat, tags: { commit: "bbb" } }));
const ALL = [...GO, ...NODE, OLD, ...NEW];
const RUNS: ReadonlyMap<string, RunRow> = new Map(ALL.map((one) => [one.id, one]));
const ids = (runs: readonly RunRow[]): string[] => runs.map(({ id }) => id);

function row(values: Partial<ChangeRow>): ChangeRow {
  return {
    ...{ run: "node", part: "run", measure: "throughput", unit: "/s", a: 100, b: 90, change_percent: -10 },
    ...{ change_percent_low: -12, change_percent_high: -8, difference_low: -12, difference_high: -8, joint_percent: [-14, -6] },
    ...{ outcome: "worse", p: 0.001, p_adjusted: 0.004, noise: "repeats", moreIsBetter: true },
    ...values,
  } as ChangeRow;
}

const UNKNOWN = { change_percent_low: null, change_percent_high: null, difference_low: null, difference_high: null, joint_percent: null, outcome: "unknown" };

test("links name sides, the baseline first, and come back as they were", () => {
  const sides = [ids(GO), ids(NODE), [OLD.id]];
  const href = link("compare", null, { ...printSides(sides) });
  assert.equal(href, "#/compare?a=go_shop-1,go_shop-2,go_shop-3&b=node_shop-1,node_shop-2&b=go_shop-4");
  assert.deepEqual(parseSides(parseRoute(href).query, RUNS).map(idsOf), sides);
});

test("runs that are gone stay in the link, and are told", () => {
  const { query } = parseRoute("#/compare?a=go_shop-1,x&b=y&b=");
  const sides = parseSides(query, RUNS);
  assert.deepEqual(sides.map(({ missing }) => missing), [["x"], ["y"]]);
  assert.deepEqual(printSides(sides.map(idsOf)), { a: "go_shop-1,x", b: ["y"] });
  assert.deepEqual(warningsOf(sides, namedSides([[GO[0] as RunRow]])), ["2 runs of this link are not in this store, or no longer: x and y."]);
});

test("without a baseline the first side is it; there are eight at most, and no run twice in one", () => {
  assert.deepEqual(parseSides(parseRoute("#/compare?b=go_shop-1,go_shop-1&b=node_shop-1").query, RUNS).map(idsOf), [["go_shop-1"], ["node_shop-1"]]);
  assert.equal(parseSides(parseRoute(`#/compare?a=go_shop-1${"&b=node_shop-1".repeat(12)}`).query, RUNS).length, 8);
});

test("ticked repeats are one side, other versions others", () => {
  assert.deepEqual(sidesOfTicked(["go_shop-1", "node_shop-1", "go_shop-2", "go_shop-4"], RUNS), [["go_shop-1", "go_shop-2"], ["node_shop-1"], ["go_shop-4"]]);
  assert.deepEqual(sidesOfTicked(ids(NEW), RUNS), [["go_shop-5"], ["go_shop-6"]]);
  assert.deepEqual(sidesOfTicked(["go_shop-1"], RUNS), [["go_shop-1"]]);
});

test("names are as short as they may be, and all differ", () => {
  const shop = (framework: string, test: string, repeat = 1): RunRow => run({ framework, test, repeat });
  assert.deepEqual(sideNames([GO, NODE]), ["go", "node"]);
  assert.deepEqual(sideNames([[shop("go", "a")], [shop("go", "b")]]), ["go · a", "go · b"]);
  assert.deepEqual(sideNames([[OLD], NEW, NODE]), ["go aaa", "go bbb", "node"]);
  assert.deepEqual(sideNames([[GO[0] as RunRow], [GO[1] as RunRow]]), ["go #1", "go #2"]);
  assert.deepEqual(sideNames([GO, [GO[0] as RunRow]]), ["go #1 to #3", "go #1"]);
  assert.equal(new Set(sideNames([GO, GO, GO])).size, 3);
  assert.equal(repeatsText([1, 4].map((repeat) => run({ repeat }))), "#1, #4");
});

test("a framework's second side has its colour, another look and a dash", () => {
  const sides = namedSides([GO, NODE, [OLD], NEW]);
  assert.equal(new Set(sides.map((side) => side.look.color)).size, 1); // Without a store all are grey.
  const looks = [0, 1, 2, 3].map((nth) => variant(look(2), nth));
  assert.equal(new Set(looks.map(({ marker, hollow, dash }) => `${marker} ${hollow} ${dash}`)).size, 4);
  assert.deepEqual(looks.map(({ color, dashed }) => [color, dashed]), looks.map(({ color }, at) => [color, at > 0]));
});

test("the median run stands first", () => assert.deepEqual(ids(medianFirst(GO)), ["go_shop-3", "go_shop-1", "go_shop-2"]));

test("what can be chosen: repeats of a version together, a single one when it is searched for", () => {
  const choices = choicesOf(ALL, new Set());
  const texts = (text: string, open: readonly string[] = []): string[] => findChoices(choices, text, new Set(open)).map((choice) => `${choice.text}: ${choice.about}`);
  assert.deepEqual(texts(""), [
    "go: 2 repeats, bbb",
    "go #4: aaa, 1 January 1970, 00:00",
    "go: 3 repeats",
    "go: all 6 runs of 3 versions",
    "node: 2 repeats",
  ]);
  assert.deepEqual(texts("go #2"), ["go #2: 1 January 1970, 00:00"]);
  assert.deepEqual(texts("commit bbb"), ["go #5: bbb, 1 January 1970, 00:00", "go #6: bbb, 1 January 1970, 00:00"]);
  assert.equal(texts("", [kindOf(NODE[0] as RunRow)]).length, 7);
  assert.deepEqual(texts("nothing"), []);
});

test("the tests of the sides stand first among the choices", () => {
  const runs = [run({ test: "a" }), run({ test: "b" })];
  assert.deepEqual(choicesOf(runs, new Set(["b"])).map((choice) => choice.test), ["b", "a"]);
});

test("outcomes are read, with what holds of these runs alone", () => {
  assert.deepEqual(outcomeOf({ outcome: "worse (these runs)" }), { verdict: "worse", theseRuns: true });
  assert.deepEqual(outcomeOf({ outcome: "not shown" }), { verdict: "not shown", theseRuns: false });
  assert.deepEqual(outcomeOf({ outcome: "something new" }), { verdict: "unknown", theseRuns: false });
});

test("verdicts are counted in one line", () => {
  const outcomes = (list: string[]): ChangeRow[] => list.map((outcome) => row({ outcome }));
  assert.equal(countSentence(outcomes(["not shown", "worse", "better", "not shown"])), "1 worse, 1 better, 2 not shown");
  assert.equal(countSentence(outcomes(["not shown", "more"])), "0 worse, 0 better, 1 more, 1 not shown");
  assert.equal(countSentence(outcomes(["worse (these runs)", "not shown"])), "1 worse, 0 better, 1 not shown (these runs)");
  assert.equal(countSentence(outcomes(["unknown", "unknown"])), "2 can’t tell");
  assert.equal(onlyTheseRuns(outcomes(["worse (these runs)", "better"])), null);
  assert.deepEqual(countVerdicts([]).length, 0);
});

test("a row in words has both intervals and the verdict", () => {
  assert.equal(rowText(row({}), []), "−10.0 %, 99 % from −12.0 to −8.0, with all figures from −14.0 to −6.0, worse");
  const hidden = row({ joint_percent: [-14, 2.04], outcome: "not shown" });
  assert.equal(rowText(hidden, []), "−10.0 %, 99 % from −12.0 to −8.0, with all figures from −14.0 to +2.0, not shown, which does not mean equal: −14.0 to +2.0 % could hide");
});

test("what is not shown says what could hide, and never that it is equal", () => {
  const texts = [row({}), row({ joint_percent: null }), row(UNKNOWN)].map(hidingText);
  assert.deepEqual(texts, [
    "not shown, which does not mean equal: −14.0 to −6.0 % could hide",
    "not shown, which does not mean equal: −12.0 to −8.0 % could hide",
    "not shown, which does not mean equal",
  ]);
});

test("an interval may have no upper end", () => {
  const open = row({ change_percent: 0, change_percent_low: -36, change_percent_high: 66.9, joint_percent: [-52, Infinity], outcome: "not shown" });
  assert.equal(hidingText(open), "not shown, which does not mean equal: −52.0 % or more could hide");
  assert.match(rowText(open, []), /with all figures together: −52.0 % or more, not shown/);
  assert.match(hidingText({ ...open, joint_percent: [-100, Infinity] }), /any change could hide/);
  const axis = changeAxis([open, row({})]);
  assert.ok(Number.isFinite(axis.low) && Number.isFinite(axis.high) && axis.ticks.length > 1, JSON.stringify(axis));
  const { from, to, beyondHigh } = stretch(axis, [-52, Infinity]);
  assert.ok(from < to && to <= 100 && beyondHigh);
  assert.equal(changeCells([open])[1]?.[12], null);
});

test("a change from 0 is told as a difference", () => {
  const failures = row({ ...UNKNOWN, measure: "failures_percent", unit: "%", a: 0, b: 0.123, change_percent: null, difference_low: -0.02, difference_high: 0.3, outcome: "not shown" });
  assert.equal(differenceText(failures)?.join(" "), "+0.12 points, 99 % from −0.02 to +0.30");
  assert.match(rowText(failures, []), /−0.02 to \+0.30 points could hide$/);
  assert.equal(differenceText(row({})), null);
  assert.equal(differenceText(row(UNKNOWN)), null);
});

test("what can't be told says why", () => {
  assert.equal(unknownText(row(UNKNOWN), ["x", "unknown: the run is too short"]), "can’t tell: the run is too short");
  assert.equal(unknownText(row({ ...UNKNOWN, b: null }), []), "can’t tell: this side has none");
  assert.equal(isAbsent([row({ a: null, b: null })]), true);
});

test("figures stand in the order of the table, of one part, each with its sides", () => {
  const rows = ["p95", "cpu_mean", "series memory", "p50", "throughput", "elapsed_mean", "failures_percent"].map((measure) => row({ measure }));
  const figures = figuresOf([...rows, row({ measure: "p50", run: "spring" }), row({ part: "hold" })], "run");
  assert.deepEqual(figures.map((of) => of[0]?.measure), ["throughput", "failures_percent", "elapsed_mean", "p50", "p95", "cpu_mean", "series memory"]);
  assert.deepEqual(figures[3]?.map((one) => one.run), ["node", "spring"]);
  assert.equal(figureOf({ measure: "series memory", unit: "MiB" }).name, "memory");
});

test("the hold is shown if there is one, unless the whole run is wanted", () => {
  const both = [row({}), row({ part: "hold" })];
  assert.deepEqual([partOf(both, null), partOf(both, "run"), partOf([row({})], null), partOf([row({})], "hold"), partOf([], null)], ["hold", "run", "run", "run", "run"]);
});

test("few sides stand beside each other, of more the wanted one", () => {
  assert.deepEqual(shownSides(["a", "b"], "2", 2), ["a", "b"]);
  assert.deepEqual(shownSides(["a", "b", "c"], "2", 2), ["b"]);
  assert.deepEqual(shownSides(["a", "b", "c"], "9", 2), ["a"]);
  assert.deepEqual(shownSides([], null, 2), []);
});

test("usual noise is said once, other noise has a sign", () => {
  const rows = [row({ noise: "seconds" }), row({ noise: "seconds" }), row({}), row({ ...UNKNOWN, noise: "pairs" })];
  const noises = noisesOf(rows);
  assert.equal(noises?.text, "Noise: the scatter of seconds within the runs; † the scatter of the repeats.");
  assert.deepEqual(noiseSigns([rows[2] as ChangeRow], noises).map(({ sign }) => sign), ["†"]);
  assert.deepEqual(noiseSigns([rows[0] as ChangeRow], noises), []);
  assert.equal(noisesOf([row(UNKNOWN)]), null);
});

test("the axis has round ends and zero, and few steps", () => {
  const axis = changeAxis([row({}), row({ joint_percent: [-3, 9], change_percent: 4, change_percent_low: 1, change_percent_high: 6 })]);
  assert.deepEqual(axis.ticks.map(({ text }) => text), ["−20", "−10", "0", "+10"]);
  assert.ok(axis.low <= -14 && axis.high >= 9);
});

test("the axis has arrows for few wide intervals, and ends at −100 %", () => {
  const narrow = Array.from({ length: 6 }, () => row({}));
  const wide = row({ joint_percent: [-400, 900], change_percent: 20, change_percent_low: -80, change_percent_high: 200 });
  const axis = changeAxis([...narrow, wide]);
  assert.ok(axis.high < 100);
  assert.deepEqual(stretch(axis, [-400, 900]), { from: 5, to: 95, beyondLow: true, beyondHigh: true });
  assert.equal(stretch(axis, [-14, -6]).beyondLow, false);
  assert.equal(changeAxis([wide]).low, -100);
});

test("an axis of no intervals has no ticks; one of zero widths has", () => {
  assert.deepEqual(changeAxis([row(UNKNOWN)]).ticks, []);
  const zero = changeAxis([row({ change_percent: 0, change_percent_low: 0, change_percent_high: 0, joint_percent: [0, 0] })]);
  assert.ok(zero.ticks.length > 1 && zero.high > zero.low);
});

test("pictures agree with verdicts: an interval without 0 does not reach its place", () => {
  let state = 7;
  const random = (): number => (state = (state * 16807) % 2147483647) / 2147483647;
  for (let round = 0; round < 1000; round += 1) {
    const rows = Array.from({ length: 1 + Math.floor(random() * 9) }, () => {
      const [change, width] = [Math.max((random() - 0.5) * 10 ** (random() * 3), -99), random() * 10 ** (random() * 2.5)];
      const low = Math.max(change - width, -99.9);
      return row({ change_percent: change, change_percent_low: low, change_percent_high: change + width, joint_percent: [Math.max(low - width, -99.9), change + 2 * width] });
    });
    const axis = changeAxis(rows);
    assert.ok(axis.low <= 0 && axis.high >= 0 && axis.ticks.some(({ at }) => at === 0) && axis.ticks.length <= 5, JSON.stringify(axis));
    for (const { joint_percent: joint } of rows) {
      if (!joint) continue;
      const { from, to } = stretch(axis, joint);
      assert.equal(joint[0] <= 0 && joint[1] >= 0, from <= placeOn(axis, 0) && to >= placeOn(axis, 0), JSON.stringify([joint, axis]));
      assert.ok(from >= 4 && to <= 96 && from <= to);
    }
  }
});

test("titles and facts", () => {
  assert.equal(titleOf(["node", "spring", "vapor"]), "spring and vapor against node");
  assert.equal(titleOf(["node", "a", "b", "c", "d"]), "4 sides against node");
  assert.equal(titleOf(["node", "node"]), "node against itself");
  assert.equal(titleOf([]), "Compare");
  assert.equal(compareFacts([...GO, run({ load: 20, tool: "JMeter" })]), "shop, 4 runs, JMeter, 1 January 1970, 1 min a run, 10 to 20 threads");
  assert.equal(sameText(GO, 2), "The same runs on both sides: nothing to compare.");
  assert.equal(sameText([OLD], 3), "The same run on all sides: nothing to compare.");
});

test("other tests, loads and shared runs are warned of", () => {
  const chosen = (runs: RunRow[]) => ({ runs, missing: [] });
  const other = run({ test: "json", load: 40 });
  const warnings = warningsOf([chosen(GO), chosen([other])], namedSides([GO, [other]]));
  assert.match(warnings[0] ?? "", /^Different tests: shop and json\./);
  assert.match(warnings[1] ?? "", /different loads/);
  const shared = warningsOf([chosen(GO), chosen(GO.slice(0, 1))], namedSides([GO, GO.slice(0, 1)]));
  assert.deepEqual(shared, ["go #1 and the baseline have runs in common: they are not independent."]);
  assert.deepEqual(warningsOf([chosen(GO), chosen(NODE)], namedSides([GO, NODE])), []);
});

test("what a side is stands beside its name", () => {
  assert.equal(sideAbout({ runs: GO, missing: [] }, "go"), "shop, 3 repeats");
  assert.equal(sideAbout({ runs: [OLD], missing: [] }, "go · shop"), "#4");
  assert.equal(sideAbout({ runs: [], missing: ["x"] }, ""), "1 run not in this store");
});

test("tags that differ are named", () => {
  assert.deepEqual(differingTags(namedSides([[OLD], NEW])), ["commit aaa (go aaa), bbb (go bbb)"]);
  assert.deepEqual(differingTags(namedSides([GO, NODE])), []);
});

test("CSV has the names of the command and exact numbers", () => {
  const [head, first] = changeCells([row({ change_percent: -10.123456789 })]);
  assert.equal(head?.join(), "run,part,measure,unit,a,b,change_percent,change_percent_low,change_percent_high,difference_low,difference_high,joint_percent_low,joint_percent_high,outcome,p,p_adjusted,noise");
  assert.deepEqual(first, ["node", "run", "throughput", "/s", 100, 90, -10.123456789, -12, -8, -12, -8, -14, -6, "worse", 0.001, 0.004, "repeats"]);
});

test("notes are sentences, and say how slow the changes of a run are that is too short", () => {
  const note = "unknown: the run is too short to estimate its noise. It needs 24 seconds, and more";
  assert.equal(noteText(note), "Can’t tell: the run is too short to estimate its noise. It needs 24 seconds, and more.");
  assert.equal(noteText("these runs: two of each?"), "These runs: two of each?");
  assert.match(tooShort([note], "hold", 53) ?? "", /^The shortest hold lasted 53 s: its slow changes take longer than 8 s\./);
  assert.deepEqual([tooShort([note], "run", 20), tooShort(["these runs: x"], "run", 90), tooShort([note], "run", Infinity)], [null, null, null]);
});

test("failures do not stretch the axis of the others", () => {
  const failures = row({ measure: "failures_percent", change_percent: -55, change_percent_low: -100, change_percent_high: 200, joint_percent: null });
  const other = row({ measure: "p95", change_percent: 5, change_percent_low: 1, change_percent_high: 9, joint_percent: [0.5, 10] });
  assert.ok(changeAxis([failures, other]).high <= 20);
  assert.ok(changeAxis([failures]).high >= 100);
});
