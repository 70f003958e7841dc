import assert from "node:assert/strict";
import { test } from "node:test";
import { alerts, shortAlerts, shownFirst, sidesOf, standingChange, verdictWord } from "../src/trend/alerts";
import { bandWidth, dayTicks, flagPlaces, labelRanks, placed, thinned, trendAxis, trendRange } from "../src/trend/axis";
import { briefDay, figureName, figureText, figureTitle, fromTo, shortName, sorted } from "../src/trend/figures";
import { tooFew } from "../src/trend/charts";
import { ticked } from "../src/trend/table";
import type { Direction, FrameworkTrend, TrendFigure } from "../src/types";

const DAY = 864e5;
const T0 = Date.UTC(2026, 10, 1);

/** A figure of ten versions that changes its level at some of them. */
function figure(name: string, levels: [from: number, level: number][], direction: Direction = "worse", unit = "ms"): TrendFigure {
  const level = (at: number): number => levels.findLast(([from]) => from <= at)?.[1] ?? 0;
  const values = Array.from({ length: 10 }, (_, at) => level(at));
  return {
    ...{ figure: name, unit, moreIsBetter: false, values, intervals: values.map(() => null), runs: values.map((value) => [value, value]), drifts: [] },
    levels: levels.map(([from, value], at) => ({ from, to: (levels[at + 1]?.[0] ?? 10) - 1, level: value, band: [value - 1, value + 1] })),
    changes: levels.slice(1).map(([version, after], at) => {
      const before = levels[at]?.[1] ?? 0;
      return { version, before, after, percent: before === 0 ? null : 100 * (after / before - 1), p: 0.001, direction };
    }),
  };
}

const trend = (...figures: TrendFigure[]): FrameworkTrend => ({
  framework: "go",
  versions: Array.from({ length: 10 }, (_, at) => ({ name: `3f2a9c1${at}`, t0: T0 + at * DAY, runs: [`r${at}a`, `r${at}b`] })),
  figures,
  drifts: [],
});

/** With plain spaces, since those within amounts hold them together. */
const plain = (text: string): string => text.replaceAll("\u00a0", " ");

test("a change is one sentence, with when it came and how much it is", () => {
  const [alert] = alerts(trend(figure("p95", [[0, 40.1], [6, 43.3]])));
  assert.equal(plain(`${alert?.lead}${alert?.text}`), "p95 +8.0 % since version 3f2a9c16 (7 Nov, 3 versions ago): 40.1 → 43.3 ms");
});

test("figures that change with one version are one alert, those for the worse first", () => {
  const found = alerts(trend(figure("p50", [[0, 20], [8, 18]], "better"), figure("p95", [[0, 40], [6, 44]]), figure("throughput", [[0, 400], [6, 360]], "worse", "1/s")));
  assert.deepEqual(found.map(({ version, direction }) => [version, direction]), [[6, "worse"], [8, "better"]]);
  assert.equal(plain(found[0]?.lead + (found[0]?.text ?? "")), "Slower since version 3f2a9c16 (7 Nov, 3 versions ago): p95 +10.0 % (40.0 → 44.0 ms), throughput −10.0 % (400.0 → 360.0 /s)");
});

test("a change of the newest version, and one from zero", () => {
  const [alert] = alerts(trend(figure("failures", [[0, 0], [9, 1.5]], "worse", "%")));
  assert.equal(plain(`${alert?.lead}${alert?.text}`), "failures 0 → 1.50 % since version 3f2a9c19 (10 Nov, the newest version)");
});

test("the link compares at most five versions on each side, none beyond other changes", () => {
  const one = trend(figure("p95", [[0, 40], [6, 44]]));
  const { a, b } = sidesOf(one, 6, ["p95"]);
  assert.deepEqual([a.length, a[0], b.length, b[0], b.at(-1)], [10, "r1a", 8, "r6a", "r9b"]);
  const several = trend(figure("p95", [[0, 40], [4, 42], [6, 44], [8, 50]]));
  assert.deepEqual(sidesOf(several, 6, ["p95"]), { a: ["r4a", "r4b", "r5a", "r5b"], b: ["r6a", "r6b", "r7a", "r7b"] });
  assert.equal(alerts(several)[1]?.href, "#/compare?a=r4a,r4b,r5a,r5b&b=r6a,r6b,r7a,r7b");
});

test("words for what changed", () => {
  const word = (...changes: [string, Direction][]): string => verdictWord(changes.map(([figure, direction]) => ({ figure, direction })));
  assert.deepEqual(
    [word(["p95", "worse"]), word(["failures", "worse"]), word(["p95", "worse"], ["p50", "better"]), word(["throughput", "better"]), word(["cpu mean", "less"])],
    ["Slower", "Worse", "Worse in part", "Faster", "Changed"],
  );
});

test("over all tests the newest change is first, and each version of a framework is one", () => {
  const change = (figure: string, t0: number, age: number) => ({
    ...{ framework: "go", figure, unit: "ms", since: `v${t0}`, t0, before: 10, after: 11, percent: 10, direction: "worse" as const, age },
  });
  const found = shortAlerts([change("p50", 1, 5), change("p95", 2, 1), change("p99", 2, 1)]);
  assert.deepEqual(found.map(({ t0, lead }) => [t0, plain(lead)]), [[2, "Slower since version v2"], [1, "p50 +10.0 %"]]);
  assert.equal(plain(found[1]?.text ?? ""), " since version v1 (1 Jan, 4 versions ago): 10.0 → 11.0 ms");
});

test("the framework with the newest change for the worse is shown first, else the first", () => {
  const of = (framework: string, one: TrendFigure): FrameworkTrend => ({ ...trend(one), framework });
  const all = [of("a", figure("p95", [[0, 1]])), of("b", figure("p95", [[0, 40], [5, 50]])), of("c", figure("p95", [[0, 40], [7, 50]])), of("d", figure("p95", [[0, 40], [9, 30]], "better"))];
  assert.equal(shownFirst(all)?.framework, "c");
  assert.equal(shownFirst(all.slice(0, 1))?.framework, "a");
  assert.equal(shownFirst([]), undefined);
});

test("the change that counts is the newest for the worse, unless its level has ended", () => {
  const of = (...figures: TrendFigure[]): unknown[] => {
    const found = standingChange(trend(...figures));
    return [found?.figure.figure, found?.change.version];
  };
  assert.deepEqual(of(figure("throughput", [[0, 9], [8, 10]], "better"), figure("p95", [[0, 40], [5, 50]]), figure("p50", [[0, 4], [5, 5]])), ["p95", 5]);
  assert.deepEqual(of(figure("throughput", [[0, 9], [3, 10]], "better"), figure("p50", [[0, 9], [4, 8]], "better")), ["p50", 4]);
  const recovered = figure("p95", [[0, 40], [5, 50], [7, 40]]);
  recovered.changes[1]!.direction = "better";
  assert.deepEqual(of(recovered, figure("p50", [[0, 9], [8, 8]], "better")), ["p50", 8]);
  assert.equal(standingChange(trend(figure("p95", [[0, 40]]))), null);
});

test("an axis starts at zero where the noise band can be seen", () => {
  assert.deepEqual(trendRange(40, 100, 15, 100), { from: 0, to: 100 });
  assert.deepEqual(trendRange(40, 100, 0, 100), { from: 0, to: 100 });
});

test("an axis starts higher where the band would be under 12 px, and the band takes a third at most", () => {
  for (const [low, high, band] of [[98, 102, 4], [80, 102, 4], [399, 401, 1]] as const) {
    const { from, to } = trendRange(low, high, band, 104);
    assert.ok(from > 0 && from <= low && to >= high, `${low}`);
    assert.ok(band / (to - from) <= 1 / 3 + 1e-9, `${band} of ${to - from}`);
  }
});

test("an axis that would start near zero starts there, and so does one of a great change", () => {
  assert.equal(trendRange(10, 100, 1, 100).from, 0);
  assert.equal(trendRange(45, 92, 2.8, 104).from, 0);
  assert.ok(trendRange(78, 92, 2.8, 104).from > 0);
});

test("ticks of an axis that starts higher are round, within, and as many as can be read", () => {
  const axis = trendAxis(figure("p95", [[0, 400], [6, 372]]), 104);
  assert.ok(axis.from > 300);
  assert.ok(axis.ticks.length >= 2 && axis.ticks.length <= 6, axis.ticks.map(({ text }) => text).join());
  assert.ok(axis.ticks.every(({ at }) => at >= axis.from && at <= axis.top && at % 5 === 0));
  assert.ok(axis.y(400) < axis.y(372) && axis.y(372) <= 104);
});

test("failures that are all zero have an axis from zero, and a drift is judged by its intervals", () => {
  assert.equal(trendAxis({ ...figure("failures", [[0, 0]]), levels: [] }, 104).from, 0);
  assert.equal(bandWidth({ levels: [], intervals: [[1, 2], null, [1, 4], [1, 3]] }), 2);
});

test("texts on the axis never cover each other, and those of changes come first", () => {
  const number = 300;
  const { xs, step } = placed(Array.from({ length: number }, (_, at) => at), 800, false);
  const ranks = labelRanks(number, new Set([80, 81, 190]), step, 60);
  const wishes = xs.flatMap((x, at) => (ranks[at] === Infinity ? [] : { x, width: 52, rank: ranks[at] ?? 0, at }));
  const centres = thinned(wishes, 800, 8, 40);
  const shown = centres.flatMap((centre, at) => (centre === null ? [] : { centre, at: wishes[at]?.at }));
  const sortedCentres = shown.map(({ centre }) => centre).sort((a, b) => a - b);
  assert.ok(sortedCentres.every((centre, at) => at === 0 || centre - (sortedCentres[at - 1] ?? 0) >= 60 - 1e-9));
  assert.ok(shown.some(({ at }) => at === 80) && shown.some(({ at }) => at === 190) && !shown.some(({ at }) => at === 81));
  assert.ok(shown.length > 6 && sortedCentres.every((centre) => centre + 26 <= 800));
});

test("few versions all have their names", () => assert.ok(labelRanks(5, new Set(), 100, 60).every((rank) => rank < Infinity)));

test("by date, distances are those of time", () => {
  const { xs, borders } = placed([0, 1, 2, 12].map((at) => at * DAY), 1000, true);
  assert.ok(Math.abs(((xs[3] ?? 0) - (xs[2] ?? 0)) / ((xs[1] ?? 0) - (xs[0] ?? 0)) - 10) < 1e-9);
  assert.deepEqual([borders[0], borders[4], borders.length], [0, 1000, 5]);
  assert.deepEqual(placed([5, 5], 100, true).xs, [25, 75]);
});

test("days, Mondays, months or years are ticks of the axis of dates", () => {
  const texts = (days: number, width = 600): string[] => dayTicks(T0, T0 + days * DAY, width).map(({ text }) => text);
  assert.deepEqual(texts(4), ["1 Nov", "2 Nov", "3 Nov", "4 Nov", "5 Nov"]);
  assert.deepEqual(texts(30, 400), ["2 Nov", "9 Nov", "16 Nov", "23 Nov", "30 Nov"]);
  assert.deepEqual(texts(120, 400), ["Nov", "Dec", "Jan 2027", "Feb", "Mar"]);
  assert.ok(texts(4000).length < 12);
});

test("texts of changes that are close stand in rows, none crossed by a line", () => {
  const flags = [100, 118, 130, 390].map((x) => ({ x, width: 80 }));
  const places = flagPlaces(flags, 400);
  const boxes = places.map(({ x, row, anchor }) => ({ row, start: anchor === "end" ? x - 80 : x, end: anchor === "end" ? x : x + 80 }));
  boxes.forEach((box, at) => {
    assert.ok(box.start >= 0 && box.end <= 400);
    boxes.slice(0, at).forEach((other) => assert.ok(other.row !== box.row || other.end <= box.start || box.end <= other.start));
    flags.forEach(({ x }, line) => assert.ok(line === at || (boxes[line]?.row ?? 0) < box.row || x <= box.start || x >= box.end));
  });
  assert.deepEqual(places[3], { x: 385, row: 0, anchor: "end" });
});

test("names of versions: eight letters of a commit, others whole or cut", () => {
  assert.equal(shortName("3f2a9c1bb0e59f6a81d7c4e2f0a9b8c7d6e5f4a3"), "3f2a9c1b");
  assert.deepEqual([shortName("2026-11-14"), shortName("3.9.0"), shortName("3f2a9c1"), shortName("deadbeefface")], ["2026-11-14", "3.9.0", "3f2a9c1", "deadbeefface"]);
  assert.equal(shortName("release/2026-11-14-rc1"), "release/2026-…");
});

test("names, units and values of figures", () => {
  assert.deepEqual(["failures_percent", "cpu mean", "p95", "series memory"].map(figureName), ["failures", "CPU", "p95", "series memory"]);
  assert.deepEqual(
    [figureTitle({ figure: "throughput", unit: "1/s" }), figureTitle({ figure: "p95", unit: "ms" }), figureTitle({ figure: "cpu mean", unit: "%" })],
    ["Successes per second", "p95, ms", "CPU, %"],
  );
  assert.deepEqual([figureText("p95", "ms")(43.26), figureText("throughput", "1/s")(428.44), figureText("failures", "%")(0)], ["43.3", "428.4", "0"]);
  assert.equal(fromTo("p95", "ms", 9.5, 10.2), "9.500 → 10.200 ms");
  assert.equal(briefDay(T0, true), "1 Nov 2026");
});

test("what does not change is folded, unless it is throughput or a percentile", () => {
  const none = { ...figure("p99", [[0, 1]]), values: Array(10).fill(null) };
  const { open, folded } = sorted(trend(figure("cpu mean", [[0, 1]]), figure("failures", [[0, 1], [4, 2]]), figure("p95", [[0, 1]]), figure("throughput", [[0, 1]]), none));
  assert.deepEqual([open.map((one) => one.figure), folded.map((one) => one.figure)], [["throughput", "p95", "failures"], ["cpu mean"]]);
});

test("two versions are ticked at most", () => {
  assert.deepEqual(ticked([], 3, true), [3]);
  assert.deepEqual(ticked([3, 5], 9, true), [5, 9]);
  assert.deepEqual(ticked([3, 5], 3, false), [5]);
});

test("too few versions are counted", () => assert.equal(tooFew(2, 4), "4 versions are needed, 2 more."));
