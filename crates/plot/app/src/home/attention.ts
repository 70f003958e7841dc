// What needs a look: changes of level, frameworks that fail, broken rules; each a line, the most harmful first.

import { FAILURE_LIMIT } from "../app";
import { failurePercent, listed, plural, rangeText, rate } from "../format";
import { link } from "../router";
import { amount, mainChanges, tied, verdictWord } from "../trend/alerts";
import { figureName, shortName, versionName } from "../trend/figures";
import type { RunRow, ShortChange, StandingRow, TestData, TestRow } from "../types";

export interface Line {
  sign: "worse" | "better" | "changed" | "fail";
  /** What it is about, bold. */
  subject: string;
  text: string;
  href: string;
  /** What the link leads to. */
  target: string;
}

/** A test with what the command computed of it. */
export interface LoadedTest {
  test: TestRow;
  data: TestData;
}

const share = (value: number): string => (value < 10 ? value.toFixed(1) : rate(value));

/** The newest change of each figure, since a level that has ended needs no look; the newest version's first. */
function standing(changes: readonly ShortChange[]): ShortChange[] {
  const newest = [...changes].sort((a, b) => a.age - b.age);
  return newest.filter((one, at) => newest.findIndex(({ figure }) => figure === one.figure) === at);
}

const VERBS: Record<string, string> = { Slower: "is slower", Worse: "is worse", "Worse in part": "is worse in part", Faster: "is faster", Better: "is better" };

interface ChangeLine extends Line {
  framework: string;
  t0: number;
  /** The name of the first version of the new level, and what changed with it. */
  since: string;
  changes: ShortChange[];
}

const sinceText = (changes: readonly ShortChange[], since: string): string => ` ${VERBS[verdictWord(changes)] ?? "has changed"} since ${versionName(shortName(since))}`;

/** The amounts of changes, a figure's of several tests as a range. */
function amounts(changes: readonly ShortChange[]): string {
  const figures = [...new Map(changes.map((one) => [one.figure, one])).values()];
  const { first, others } = mainChanges(figures);
  const texts = first.map((figure) => {
    const own = changes.filter((one) => one.figure === figure.figure).sort((a, b) => (a.percent ?? 0) - (b.percent ?? 0));
    const [low, high] = [...new Set([own[0] ?? figure, own.at(-1) ?? figure].map(amount))];
    return tied(`${figureName(figure.figure)} ${high === undefined ? (low ?? "") : `${low?.replace(/ %$/, "") ?? ""} to ${high}`}`);
  });
  return [...texts, ...(others > 0 ? [`${others} more`] : [])].join(", ");
}

/** Lines of the same version of a framework as one. */
function together(lines: readonly ChangeLine[]): ChangeLine[] {
  const groups = new Map<string, ChangeLine[]>();
  for (const line of lines) {
    const key = JSON.stringify([line.framework, line.since, line.sign]);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first || group.length === 1) return group;
    const changes = group.flatMap((line) => line.changes);
    return { ...first, changes, subject: first.framework, text: `${sinceText(changes, first.since)} in ${plural(group.length, "test")}: ${amounts(changes)}`, href: link("trend"), target: "Trends" };
  });
}

/** A line for each framework with changes: its newest version that made something worse, else its newest change. */
function changeLines({ test, data }: LoadedTest): ChangeLine[] {
  return [...new Set(data.changes.map(({ framework }) => framework))].flatMap((framework) => {
    const own = standing(data.changes.filter((one) => one.framework === framework));
    const first = own.find(({ direction }) => direction === "worse") ?? own[0];
    if (!first) return [];
    const changes = own.filter(({ age }) => age === first.age);
    return [
      {
        sign: first.direction === "worse" || first.direction === "better" ? first.direction : "changed",
        subject: `${framework} · ${test.name}`,
        text: `${sinceText(changes, first.since)}: ${amounts(changes)}`,
        href: link("trend", test.id, { framework }),
        target: "Trend",
        framework,
        t0: first.t0,
        since: first.since,
        changes,
      } satisfies ChangeLine,
    ];
  });
}

const failing = (row: StandingRow): row is StandingRow & { failuresPercent: number } =>
  row.failuresPercent !== null && row.failuresPercent > FAILURE_LIMIT;

function failureLines(tests: readonly LoadedTest[]): (Line & { most: number })[] {
  const lines: (Line & { most: number })[] = [];
  const byFramework = new Map<string, { test: TestRow; row: StandingRow & { failuresPercent: number } }[]>();
  for (const { test, data } of tests) {
    const failures = data.league.filter(failing);
    if (failures.length > 1 && failures.length === data.league.length) {
      const shares = failures.map((row) => row.failuresPercent);
      lines.push({
        sign: "fail",
        subject: test.name,
        text: `: in all ${failures.length} frameworks ${rangeText(shares, share)} % of the requests fail, so none is ranked`,
        href: link("home", null, { test: test.name, verdict: "failures" }),
        target: "Failures",
        most: Math.max(...shares),
      });
    } else for (const row of failures) byFramework.set(row.framework, [...(byFramework.get(row.framework) ?? []), { test, row }]);
  }
  for (const [framework, places] of byFramework) {
    const shares = places.map(({ row }) => row.failuresPercent);
    const [first] = places;
    if (!first) continue;
    const one = places.length === 1;
    const names = listed(places.map(({ test }) => test.name));
    lines.push({
      sign: "fail",
      subject: one ? `${framework} · ${first.test.name}` : framework,
      text: one
        ? `: ${share(first.row.failuresPercent)} % of the requests fail in ${plural(first.row.repeats, "repeat")}`
        : `: ${rangeText(shares, share)} % of the requests fail in ${names}`,
      href: one && first.row.runs[0] ? link("run", first.row.runs[0]) : link("home", null, { framework, verdict: "failures" }),
      target: one ? "Run" : "Failures",
      most: Math.max(...shares),
    });
  }
  return lines.sort((a, b) => b.most - a.most);
}

function ruleLine(runs: readonly RunRow[]): Line[] {
  const broken = runs.filter((run) => (run.verdict?.failed ?? 0) > 0);
  if (broken.length === 0) return [];
  const frameworks = [...new Set(broken.map((run) => run.framework))];
  const text = frameworks.length === 1 ? ` of ${frameworks[0] ?? ""}` : "";
  return [
    {
      sign: "fail",
      subject: plural(broken.length, "run"),
      text: `${text} break${broken.length === 1 ? "s" : ""} a rule`,
      href: link("home", null, { verdict: "failed" }),
      target: "Runs",
    },
  ];
}

/** Lines on changes, the newest first: those for the worse, and the others. */
function sortedChanges(tests: readonly LoadedTest[]): [worse: ChangeLine[], others: ChangeLine[]] {
  const changes = together(tests.flatMap(changeLines)).sort((a, b) => b.t0 - a.t0);
  return [changes.filter(({ sign }) => sign === "worse"), changes.filter(({ sign }) => sign !== "worse")];
}

/** All lines; how many of them are shown is the page's choice. */
export function attention(tests: readonly LoadedTest[], runs: readonly RunRow[]): Line[] {
  const [worse, others] = sortedChanges(tests);
  return [...worse, ...failureLines(tests), ...ruleLine(runs), ...others];
}

/** The lines of the page of a test: what changed from version to version. What fails stands in its league. */
export function testAttention(loaded: LoadedTest): Line[] {
  return sortedChanges([loaded]).flatMap((lines) => lines.map((line) => ({ ...line, subject: line.framework })));
}

/** How many frameworks of tests have a change of level, each counted once. */
export function changeCount(tests: readonly LoadedTest[]): number {
  return tests.flatMap(changeLines).length;
}

/** A share of failures for a cell: one decimal, since a cell is narrow. */
export function cellShare(percent: number): string {
  return percent < 0.1 ? failurePercent(percent) : share(percent);
}
