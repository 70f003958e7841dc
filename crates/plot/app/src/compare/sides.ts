// The sides of a comparison: runs taken together, the baseline first; from the link and back, their names and looks.

import { plural } from "../format";
import { median } from "../measures";
import { type Look, lookOf, variant } from "../slots";
import type { RunRow } from "../types";

/** The most sides. */
export const MOST_SIDES = 8;
/** The tags that tell versions apart. */
const VERSION_TAGS = ["version", "commit"];

/** A side as a link names it. */
export interface Chosen {
  runs: RunRow[];
  /** Ids that the store does not have, or no longer. */
  missing: string[];
}

/** A side with its name, which no other side has, and its look. */
export interface NamedSide {
  name: string;
  runs: readonly RunRow[];
  look: Look;
}

/** Reads the sides of a query: `a=ID,ID&b=ID`, each `b` a side of its own. Sides beyond the most are left out. */
export function parseSides(query: URLSearchParams, runs: ReadonlyMap<string, RunRow>): Chosen[] {
  const texts = [...query.getAll("a"), ...query.getAll("b")];
  const sides = texts.map((text) => {
    const ids = [...new Set(text.split(",").filter(Boolean))];
    return { runs: ids.flatMap((id) => runs.get(id) ?? []), missing: ids.filter((id) => !runs.has(id)) };
  });
  return sides.filter((side) => side.runs.length + side.missing.length > 0).slice(0, MOST_SIDES);
}

/** Writes sides as values of a query; those of a side that are not in the store stay in the link. */
export function printSides(sides: readonly (readonly string[])[]): { a: string | null; b: string[] } {
  const [a, ...b] = sides.filter((ids) => ids.length > 0).map((ids) => ids.join(","));
  return { a: a ?? null, b };
}

/** The ids of a side, as a link names them. */
export function idsOf({ runs, missing }: Chosen): string[] {
  return [...runs.map(({ id }) => id), ...missing];
}

/** What a run is a version of, such as "1.2" or "1.2 a1b2c3d"; null where no tag says so. */
export function versionOf({ tags }: RunRow): string | null {
  return VERSION_TAGS.flatMap((tag) => tags[tag] ?? []).join(" ") || null;
}

/** What repeats have in common. */
export function kindOf(run: RunRow): string {
  return JSON.stringify([run.test, run.framework, versionOf(run)]);
}

/**
 * The sides of ticked runs, in the order in which they were ticked: repeats are one side. If all are repeats of each
 * other, each is a side, since there would be nothing to compare.
 */
export function sidesOfTicked(ids: readonly string[], runs: ReadonlyMap<string, RunRow>): string[][] {
  const groups = new Map<string, string[]>();
  for (const id of ids) {
    const run = runs.get(id);
    const kind = run ? kindOf(run) : id;
    groups.set(kind, [...(groups.get(kind) ?? []), id]);
  }
  return groups.size > 1 ? [...groups.values()] : ids.map((id) => [id]);
}

function unique(values: Iterable<string>): string[] {
  return [...new Set(values)];
}

/** Which repeats: "#2", "#1 to #3", "#1, #4" or their number. */
export function repeatsText(runs: readonly RunRow[]): string {
  const numbers = runs.map(({ repeat }) => repeat).sort((a, b) => a - b);
  const [first = 0, last = 0] = [numbers[0], numbers.at(-1)];
  if (numbers.length === 1) return `#${first}`;
  if (new Set(numbers).size === numbers.length && last - first === numbers.length - 1 && numbers.length > 2) return `#${first} to #${last}`;
  return numbers.length <= 3 ? numbers.map((number) => `#${number}`).join(", ") : plural(numbers.length, "repeat");
}

function versionText(runs: readonly RunRow[]): string {
  const versions = unique(runs.map((run) => versionOf(run) ?? ""));
  return versions.length > 1 ? plural(versions.length, "version") : (versions[0] ?? "");
}

const FURTHER: ((runs: readonly RunRow[]) => string)[] = [versionText, repeatsText];

/** The shortest names that tell sides apart: framework, test where it differs, then version and repeats. */
export function sideNames(sides: readonly (readonly RunRow[])[]): string[] {
  const tests = unique(sides.flat().map(({ test }) => test));
  let names = sides.map((runs) => {
    const framework = unique(runs.map((run) => run.framework)).join(" + ");
    return tests.length > 1 ? `${framework} · ${unique(runs.map(({ test }) => test)).join(" + ")}` : framework;
  });
  for (const further of FURTHER) {
    const before = names;
    names = before.map((name, at) => {
      const same = sides.filter((_, other) => before[other] === name);
      const parts = same.map(further);
      return unique(parts).length > 1 ? `${name} ${further(sides[at] ?? [])}`.trim() : name;
    });
  }
  return names.map((name, at) => {
    const before = names.slice(0, at).filter((other) => other === name).length;
    return before > 0 ? `${name} (${before + 1})` : name;
  });
}

/** Names and looks of sides that have runs. A framework's second side has its colour, but another marker and dash. */
export function namedSides(sides: readonly (readonly RunRow[])[]): NamedSide[] {
  const names = sideNames(sides);
  const seen = new Map<string, number>();
  return sides.map((runs, at) => {
    const framework = runs[0]?.framework ?? "";
    const nth = seen.get(framework) ?? 0;
    seen.set(framework, nth + 1);
    return { name: names[at] ?? "", runs, look: variant(lookOf(framework), nth) };
  });
}

/** The runs of a side, the median one by throughput first. */
export function medianFirst(runs: readonly RunRow[]): RunRow[] {
  const middle = median(runs.flatMap(({ throughput }) => throughput ?? [])) ?? 0;
  const distance = ({ throughput }: RunRow): number => (throughput === null ? Infinity : Math.abs(throughput - middle));
  return [...runs].sort((a, b) => distance(a) - distance(b));
}

/** True if two sides have the same runs. */
export function sameRuns(one: readonly RunRow[], other: readonly RunRow[]): boolean {
  const ids = new Set(one.map(({ id }) => id));
  return one.length === other.length && other.every(({ id }) => ids.has(id));
}
