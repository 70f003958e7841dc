// Changes of level in sentences, each version's in one, and the links that compare before with after.

import { change, listed, plural } from "../format";
import { link } from "../router";
import type { Direction, FrameworkTrend, ShortChange, TrendFigure } from "../types";
import { briefDay, figureName, fromTo, HARM, shortName, versionName } from "./figures";

/** From so many versions on each side of a change, runs are compared. */
const SIDE = 5;

/** A change of a figure, by the number of its version. */
export interface FigureChange {
  figure: string;
  unit: string;
  before: number;
  after: number;
  percent: number | null;
  direction: Direction;
}

/** What changed with a version. */
export interface Alert {
  version: number;
  /** That of the most harmful change. */
  direction: Direction;
  /** What is said first, bold. */
  lead: string;
  text: string;
  /** The comparison of before with after. */
  href: string;
  /** The changes of which it tells, the most harmful first. */
  changes: FigureChange[];
}

/** Figures whose change for the worse is called slower. */
const SPEED = /^(throughput|mean time|p\d+(\.\d+)?)$/;

/** What a set of changes is called: "Slower", "Worse", "Better", "Changed". */
export function verdictWord(changes: readonly { figure: string; direction: Direction }[]): string {
  const of = (direction: Direction): boolean => changes.some((one) => one.direction === direction);
  const speed = changes.every(({ figure }) => SPEED.test(figureName(figure)));
  if (of("worse")) return of("better") ? "Worse in part" : speed ? "Slower" : "Worse";
  if (of("better")) return speed ? "Faster" : "Better";
  return "Changed";
}

/** How far a version is behind the newest one. */
export function versionsAgo(number: number): string {
  return number <= 0 ? "the newest version" : `${plural(number, "version")} ago`;
}

/** The amount of a change: "+8.0 %", or both values where there is no percentage. */
export function amount({ figure, unit, percent, before, after }: FigureChange): string {
  return percent === null ? fromTo(figure, unit, before, after) : `${change(percent)} %`;
}

/** The versions of the levels before and since a change: at most five on each side, and none beyond other changes. */
export function sidesOf({ versions, figures }: FrameworkTrend, version: number, names: readonly string[]): { a: string[]; b: string[] } {
  const others = figures.filter(({ figure }) => names.includes(figure)).flatMap(({ changes }) => changes.map((one) => one.version));
  const start = Math.max(0, version - SIDE, ...others.filter((other) => other < version));
  const end = Math.min(versions.length, version + SIDE, ...others.filter((other) => other > version));
  const runs = (from: number, to: number): string[] => versions.slice(from, to).flatMap((one) => one.runs);
  return { a: runs(start, version), b: runs(version, end) };
}

/** The link that compares runs of two sides. */
export function sidesLink(a: readonly string[], b: readonly string[]): string {
  return link("compare", null, { a: a.join(","), b: b.join(",") });
}

/** Keeps on one line what belongs together. */
export const tied = (text: string): string => text.replaceAll(" ", "\u00a0");

/** Up to so many figures are told in a row; of more, those that say most, and how many others there are. */
const MOST_TOLD = 3;
const FEW = 2;

/** The changes that are told, those that say most first, and how many others there are. */
export function mainChanges<T extends { figure: string; direction: Direction }>(changes: readonly T[]): { first: T[]; others: number } {
  if (changes.length <= MOST_TOLD) return { first: [...changes], others: 0 };
  const place = ({ figure }: T): number => (SAYS_MOST.indexOf(figureName(figure)) + SAYS_MOST.length + 1) % (SAYS_MOST.length + 1);
  const first = [...changes].sort((a, b) => HARM[a.direction] - HARM[b.direction] || place(a) - place(b)).slice(0, FEW);
  return { first, others: changes.length - FEW };
}

const SAYS_MOST = ["throughput", "p95", "failures", "p50"];

/** A sentence on what changed with a version; of several figures both values only where there is room for them. */
function sentence(changes: readonly FigureChange[], name: string, when: string, brief = false): { lead: string; text: string } {
  const values = (one: FigureChange): string => (one.percent === null ? "" : fromTo(one.figure, one.unit, one.before, one.after));
  const lead = (one: FigureChange): string => `${figureName(one.figure)} ${amount(one)}`;
  const [first] = changes;
  if (first && changes.length === 1) {
    const known = values(first);
    return { lead: tied(lead(first)), text: ` since ${versionName(name)} (${tied(when)})${known ? `: ${tied(known)}` : ""}` };
  }
  const { first: few, others } = mainChanges(changes);
  const parts = few.map((one) => {
    const known = brief ? "" : values(one);
    return `${tied(lead(one))}${known ? ` (${tied(known)})` : ""}`;
  });
  if (others > 0) parts.push(`${others} more`);
  return { lead: `${verdictWord(changes)} since ${versionName(name)}`, text: ` (${tied(when)}): ${parts.join(", ")}` };
}

/** The alerts of a framework: those for the worse first, among them the newest first. */
export function alerts(trend: FrameworkTrend): Alert[] {
  const { versions, figures } = trend;
  const byVersion = new Map<number, FigureChange[]>();
  for (const { figure, unit, changes } of figures)
    for (const { version, before, after, percent, direction } of changes)
      byVersion.set(version, [...(byVersion.get(version) ?? []), { figure, unit, before, after, percent, direction }]);
  const made = [...byVersion].flatMap(([version, found]): Alert[] => {
    const at = versions[version];
    const changes = [...found].sort((a, b) => HARM[a.direction] - HARM[b.direction]);
    const [first] = changes;
    if (!at || !first) return [];
    const when = `${briefDay(at.t0)}, ${versionsAgo(versions.length - 1 - version)}`;
    const { a, b } = sidesOf(trend, version, changes.map(({ figure }) => figure));
    return [{ version, direction: first.direction, ...sentence(changes, shortName(at.name), when), href: sidesLink(a, b), changes }];
  });
  return made.sort((a, b) => HARM[a.direction] - HARM[b.direction] || b.version - a.version);
}

/** A figure with the change of its level that counts. */
export interface ChangedFigure {
  figure: TrendFigure;
  change: TrendFigure["changes"][number];
}

/** The change that counts most: the newest for the worse, else the newest. A level that has ended does not count. */
export function standingChange({ figures }: FrameworkTrend): ChangedFigure | null {
  const standing = figures.flatMap((figure): ChangedFigure[] => {
    const change = figure.changes.at(-1);
    return change ? [{ figure, change }] : [];
  });
  const rank = ({ change }: ChangedFigure): number => Number(change.direction === "worse") * 1e9 + change.version;
  return standing.reduce<ChangedFigure | null>((best, one) => (best && rank(best) >= rank(one) ? best : one), null);
}

/** Changes of several frameworks and tests, each version of a framework in one sentence, the newest first. */
export interface ShortAlert {
  framework: string;
  direction: Direction;
  t0: number;
  lead: string;
  text: string;
}

/** The alerts of a test by what its file tells of changes. */
export function shortAlerts(changes: readonly ShortChange[]): ShortAlert[] {
  const groups = new Map<string, ShortChange[]>();
  for (const one of changes) {
    const key = JSON.stringify([one.framework, one.since, one.t0]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const made = [...groups.values()].flatMap((group): ShortAlert[] => {
    const found = [...group].sort((a, b) => HARM[a.direction] - HARM[b.direction]);
    const [first] = found;
    if (!first) return [];
    const when = `${briefDay(first.t0)}, ${versionsAgo(first.age - 1)}`;
    return [{ framework: first.framework, direction: first.direction, t0: first.t0, ...sentence(found, shortName(first.since), when, true) }];
  });
  return made.sort((a, b) => b.t0 - a.t0);
}

/** The framework that is shown unless another one is chosen: that of the newest change for the worse, else the first. */
export function shownFirst(frameworks: readonly FrameworkTrend[]): FrameworkTrend | undefined {
  let [best] = frameworks;
  let newest = -Infinity;
  for (const trend of frameworks)
    for (const { changes } of trend.figures)
      for (const { version, direction } of changes) {
        const t0 = trend.versions[version]?.t0 ?? -Infinity;
        if (direction === "worse" && t0 > newest) [best, newest] = [trend, t0];
      }
  return best;
}

/** What does not change, in words: "p50, p95 and failures: no change by more than chance". */
export function unchanged(figures: readonly { figure: string }[]): string {
  return listed(figures.map(({ figure }) => figureName(figure)));
}
