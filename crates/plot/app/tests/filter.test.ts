import assert from "node:assert/strict";
import { test } from "node:test";
import { dropOne, filterRuns, parseFilters, parseSort, printFilters, printSort, sortRuns, tagValues } from "../src/list/filter";
import { link, parseRoute } from "../src/router";
import { run } from "./support";

const RUNS = [
  run({ id: "1", framework: "go", test: "shop", t0: 1, tags: { version: "1.1", host: "x" }, throughput: 100 }),
  run({ id: "2", framework: "go", test: "json", t0: 2, tags: { version: "1.2", host: "x" }, throughput: null }),
  run({ id: "3", framework: "node", test: "shop", t0: 3, tags: { version: "1.2", host: "x" }, failures: 50, throughput: 80 }),
  run({ id: "4", framework: "node", test: "json", t0: 4, tags: { version: "1.2", host: "x" }, verdict: { passed: 2, failed: 1 } }),
];
const ids = (runs: readonly { id: string }[]): string => runs.map(({ id }) => id).join("");
const filters = (query: string): ReturnType<typeof parseFilters> => parseFilters(new URLSearchParams(query));

test("filters are all to hold", () => {
  assert.equal(ids(filterRuns(RUNS, filters(""))), "1234");
  assert.equal(ids(filterRuns(RUNS, filters("test=shop"))), "13");
  assert.equal(ids(filterRuns(RUNS, filters("framework=node&tag=version=1.2"))), "34");
  assert.equal(ids(filterRuns(RUNS, filters("tag=version=1.2&tag=host=y"))), "");
});

test("verdicts are of rules or of failures", () => {
  assert.equal(ids(filterRuns(RUNS, filters("verdict=failures"))), "3");
  assert.equal(ids(filterRuns(RUNS, filters("verdict=failed"))), "4");
  assert.equal(ids(filterRuns(RUNS, filters("verdict=passed"))), "");
  assert.equal(ids(filterRuns(RUNS, filters("verdict=nonsense"))), "1234");
});

test("filters are read as they were written", () => {
  const some = filters("test=shop&framework=go&verdict=failed&tag=version=1.2=x");
  assert.deepEqual(parseFilters(parseRoute(link("home", null, printFilters(some))).query), some);
});

test("where nothing is found, the filter to drop is named", () => {
  const choices = dropOne(RUNS, filters("test=shop&framework=go&tag=version=1.2"));
  assert.deepEqual(choices.map(({ name, count }) => [name, count]), [["test shop", 1], ["framework go", 1], ["version 1.2", 1]]);
});

test("runs are sorted, those without a value last", () => {
  assert.equal(ids(sortRuns(RUNS, parseSort(null))), "4321");
  assert.equal(ids(sortRuns(RUNS, parseSort("throughput"))), "3412");
  assert.equal(ids(sortRuns(RUNS, parseSort("-throughput"))), "4132");
  assert.equal(printSort(parseSort("-p95")), "-p95");
  assert.equal(printSort(parseSort("nonsense")), null);
});

test("tags of one value are told apart", () => {
  const { various, constant } = tagValues(RUNS);
  assert.deepEqual([...various], [["version", ["1.1", "1.2"]]]);
  assert.deepEqual([...constant], [["host", "x"]]);
});
