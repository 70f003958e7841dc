import assert from "node:assert/strict";
import { test } from "node:test";
import { attention, changeCount, type LoadedTest, testAttention } from "../src/home/attention";
import { matrix, tieNote } from "../src/home/matrix";
import { measureOf, median, rankText } from "../src/measures";
import type { Direction, ShortChange, StandingRow } from "../src/types";
import { run, standing } from "./support";

const loaded = (name: string, league: StandingRow[], changes: ShortChange[] = []): LoadedTest => ({
  test: { id: name, file: `tests/${name}.js`, name },
  data: { format: 1, name, league, notes: [], changes, trend: null },
});
const TESTS = [
  loaded("shop", [standing("go", [1, 2], { throughput: 200 }), standing("node", [1, 2], { throughput: 190 }), standing("bad", null, { throughput: 300 })]),
  loaded("json", [standing("node", [1, 1], { throughput: 400 }), standing("go", [2, 2], { throughput: 100 })]),
  loaded("solo", [standing("go", [1, 1])]),
];
const THROUGHPUT = measureOf(null);

test("ties are intervals of ranks, and all of their members lead", () => {
  const { columns } = matrix(TESTS, new Map(), THROUGHPUT);
  const shop = columns[0]?.cells;
  assert.deepEqual(["go", "node"].map((name) => rankText(shop?.get(name)?.ranks ?? null)), ["1–2", "1–2"]);
  assert.deepEqual(["go", "node", "bad"].map((name) => shop?.get(name)?.leads), [true, true, false]);
  assert.equal(tieNote(matrix(TESTS, new Map(), THROUGHPUT), THROUGHPUT), "“1–2”: a tie, the repeats can’t tell them apart");
});

test("frameworks that ran once are in the order of their figures, and neither tied nor best", () => {
  const once = (throughput: number) => ({ repeats: 1, throughput });
  const tests = [loaded("new", [standing("go", [1, 2], once(1583)), standing("node", [1, 2], once(591)), standing("bad", null, once(9))])];
  const table = matrix(tests, new Map(), THROUGHPUT);
  const cells = table.columns[0]?.cells;
  assert.deepEqual(["go", "node", "bad"].map((name) => rankText(cells?.get(name)?.ranks ?? null)), ["1", "2", "–"]);
  assert.deepEqual([...(cells?.values() ?? [])].map(({ leads }) => leads), [false, false, false]);
  assert.match(tieNote(table, THROUGHPUT), /^Each framework ran once: how much its runs vary is unknown, and so is its rank/);
  const alone = matrix([...tests, loaded("solo", [standing("go", [1, 1], once(5))])], new Map(), THROUGHPUT);
  assert.equal(tieNote(alone, THROUGHPUT), tieNote(table, THROUGHPUT));
  const mixed = tieNote(matrix([...tests, ...TESTS], new Map(), THROUGHPUT), THROUGHPUT);
  assert.match(mixed, /^“1–2”: a tie, .*; in new each framework ran once: its rank is unknown/);
});

test("a framework that fails is not ranked, and is last", () => {
  const { frameworks, columns } = matrix(TESTS, new Map(), THROUGHPUT);
  assert.equal(columns[0]?.cells.get("bad")?.failing, 3);
  assert.deepEqual(frameworks, ["node", "go", "bad"]);
});

test("what was not run has no cell, and who is alone has no rank", () => {
  const { columns } = matrix(TESTS, new Map(), THROUGHPUT);
  assert.equal(columns[1]?.cells.has("bad"), false);
  assert.deepEqual([columns[2]?.cells.get("go")?.ranks, columns[2]?.cells.get("go")?.leads], [null, false]);
});

test("bars are parts of the greatest value of the test", () => {
  const { columns } = matrix(TESTS, new Map(), THROUGHPUT);
  assert.equal(columns[1]?.cells.get("go")?.part, 0.25);
  assert.equal(columns[0]?.cells.get("bad")?.part, 1);
});

test("other measures have no ranks, since the command has none", () => {
  const cells = matrix(TESTS, new Map([["go_shop-1", run({ cpu: 50 })]]), measureOf("per-cpu")).columns[0]?.cells;
  assert.deepEqual([cells?.get("go")?.value, cells?.get("go")?.ranks, cells?.get("node")?.value], [200, null, null]);
});

test("the median of an even number lies between the middle ones", () => {
  assert.deepEqual([median([3, 1, 2]), median([4, 1, 2, 3]), median([])], [2, 2.5, null]);
});

test("what holds of several tests is said once", () => {
  const tests = [
    loaded("a", [standing("go", [1, 1]), standing("bad", null, { failuresPercent: 3.12 })]),
    loaded("b", [standing("go", [1, 1]), standing("bad", null, { failuresPercent: 9.15 })]),
    loaded("c", [standing("x", null, { failuresPercent: 2.4 }), standing("y", null, { failuresPercent: 2.6 })]),
  ];
  assert.deepEqual(
    attention(tests, []).map(({ subject, text }) => subject + text),
    ["bad: 3.1 to 9.2 % of the requests fail in a and b", "c: in all 2 frameworks 2.4 to 2.6 % of the requests fail, so none is ranked"],
  );
});

/** With plain spaces, since those within amounts hold them together. */
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

const shift = (figure: string, age: number, percent: number | null, direction: Direction): ShortChange => ({
  ...{ framework: "go", figure, unit: "ms", since: `1.${9 - age}`, t0: 9 - age, before: 10, after: 11, percent, direction, age },
});

test("changes stand first, those of a version of each framework together", () => {
  const tests = [loaded("n", [standing("go", [1, 1])], [shift("throughput", 1, -7.9, "worse"), shift("p95", 1, 13.3, "worse"), shift("p50", 2, -3, "better")])];
  assert.equal(changeCount(tests), 1);
  const [line] = attention(tests, [run({ verdict: { passed: 0, failed: 1 } })]);
  assert.equal(plain(`${line?.subject}${line?.text}`), "go · n is slower since version 1.8: throughput −7.9 %, p95 +13.3 %");
});

test("a level that has ended needs no look, and what is better now hides nothing that is worse", () => {
  const of = (...changes: ShortChange[]): string[] => attention([loaded("n", [], changes)], []).map(({ sign, text }) => sign + plain(text));
  assert.deepEqual(of(shift("p95", 2, -20, "better"), shift("p95", 5, 25, "worse")), ["better is faster since version 1.7: p95 −20.0 %"]);
  assert.deepEqual(of(shift("p50", 2, -20, "better"), shift("p95", 5, 25, "worse")), ["worse is slower since version 1.4: p95 +25.0 %"]);
  assert.deepEqual(of(shift("failures", 3, null, "worse")), ["worse is worse since version 1.6: failures 10.00 → 11.00 ms"]);
});

test("the page of a test tells its changes by framework, those for the worse first", () => {
  const changes = [{ ...shift("p95", 1, -20, "better"), framework: "node" }, shift("p95", 4, 25, "worse")];
  const lines = testAttention(loaded("n", [standing("bad", null, { failuresPercent: 5 })], changes));
  assert.deepEqual(lines.map(({ subject, sign, href }) => [subject, sign, href]), [["go", "worse", "#/trend/n?framework=go"], ["node", "better", "#/trend/n?framework=node"]]);
});

test("a framework's version that is slower in several tests is one line, with ranges", () => {
  const slow = (name: string, percent: number): LoadedTest => loaded(name, [], [shift("throughput", 1, -percent, "worse"), shift("p95", 1, 2 * percent, "worse")]);
  const [line, ...others] = attention([slow("a", 5), slow("b", 9), slow("c", 7)], []);
  assert.equal(others.length, 0);
  assert.equal(plain(`${line?.subject}${line?.text}`), "go is slower since version 1.8 in 3 tests: throughput −9.0 to −5.0 %, p95 +10.0 to +18.0 %");
  const many = ["throughput", "p25", "p50", "p95"].map((figure) => shift(figure, 1, 3, "worse"));
  assert.match(plain(attention([loaded("a", [], many)], [])[0]?.text ?? ""), /: throughput \+3\.0 %, p95 \+3\.0 %, 2 more$/);
});
