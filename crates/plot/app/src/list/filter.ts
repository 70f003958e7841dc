// Which runs a list shows, and in which order: from the query of the link and back.

import { FAILURE_LIMIT, failuresOf } from "../app";
import type { RunRow } from "../types";

export type Verdict = "passed" | "failed" | "failures";

export interface Filters {
  test: string | null;
  framework: string | null;
  verdict: Verdict | null;
  /** Values by tag. */
  tags: ReadonlyMap<string, string>;
}

const VERDICTS: readonly string[] = ["passed", "failed", "failures"];

/** The filters of a query: `test=shop&tag=version=1.2`. */
export function parseFilters(query: URLSearchParams): Filters {
  const verdict = query.get("verdict");
  const tags = query.getAll("tag").map((pair) => {
    const at = pair.indexOf("=");
    return (at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)]) as [string, string];
  });
  return {
    test: query.get("test"),
    framework: query.get("framework"),
    verdict: verdict !== null && VERDICTS.includes(verdict) ? (verdict as Verdict) : null,
    tags: new Map(tags),
  };
}

/** The filters as values of a query. */
export function printFilters({ test, framework, verdict, tags }: Filters): Record<string, string | null | string[]> {
  return { test, framework, verdict, tag: [...tags].map(([tag, value]) => `${tag}=${value}`) };
}

function verdictIs(run: RunRow, verdict: Verdict): boolean {
  if (verdict === "failures") return (failuresOf(run) ?? 0) > FAILURE_LIMIT;
  return run.verdict !== null && (verdict === "failed") === run.verdict.failed > 0;
}

/** The runs that pass all filters. */
export function filterRuns(runs: readonly RunRow[], { test, framework, verdict, tags }: Filters): RunRow[] {
  return runs.filter(
    (run) =>
      (test === null || run.test === test) &&
      (framework === null || run.framework === framework) &&
      (verdict === null || verdictIs(run, verdict)) &&
      [...tags].every(([tag, value]) => run.tags[tag] === value),
  );
}

/** What each filter alone takes away: its parts, and how many runs would be found without it, most first. */
export function dropOne(runs: readonly RunRow[], filters: Filters): { name: string; without: Filters; count: number }[] {
  const choices: { name: string; without: Filters }[] = [];
  if (filters.test !== null) choices.push({ name: `test ${filters.test}`, without: { ...filters, test: null } });
  if (filters.framework !== null)
    choices.push({ name: `framework ${filters.framework}`, without: { ...filters, framework: null } });
  if (filters.verdict !== null) choices.push({ name: "verdict", without: { ...filters, verdict: null } });
  for (const [tag, value] of filters.tags) {
    const tags = new Map(filters.tags);
    tags.delete(tag);
    choices.push({ name: `${tag} ${value}`, without: { ...filters, tags } });
  }
  return choices
    .map((choice) => ({ ...choice, count: filterRuns(runs, choice.without).length }))
    .sort((a, b) => b.count - a.count);
}

export const SORTS = ["time", "requests", "throughput", "p95", "failures"] as const;
export type SortName = (typeof SORTS)[number];

export interface Sort {
  by: SortName;
  descending: boolean;
}

/** The order of a query: `sort=p95`, or `sort=-p95` for descending. The newest first without one. */
export function parseSort(text: string | null): Sort {
  const by = SORTS.find((name) => name === text?.replace(/^-/, ""));
  return by && text ? { by, descending: text.startsWith("-") } : { by: "time", descending: true };
}

/** An order as text; null for the usual one. */
export function printSort({ by, descending }: Sort): string | null {
  return by === "time" && descending ? null : (descending ? "-" : "") + by;
}

const VALUES: Record<SortName, (run: RunRow) => number | null> = {
  time: (run) => run.t0,
  requests: (run) => run.requests,
  throughput: (run) => run.throughput,
  p95: (run) => run.p95,
  failures: failuresOf,
};

/** Runs in an order, those without a value last. */
export function sortRuns(runs: readonly RunRow[], { by, descending }: Sort): RunRow[] {
  const sign = descending ? -1 : 1;
  return [...runs].sort((a, b) => {
    const [one, other] = [VALUES[by](a), VALUES[by](b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return sign * (one - other) || b.t0 - a.t0;
  });
}

/** Tags with their values, in the order of appearance; those with one value for all runs apart. */
export function tagValues(runs: readonly RunRow[]): { various: Map<string, string[]>; constant: Map<string, string> } {
  const values = new Map<string, Set<string>>();
  const holders = new Map<string, number>();
  for (const run of runs)
    for (const [tag, value] of Object.entries(run.tags)) {
      values.set(tag, (values.get(tag) ?? new Set()).add(value));
      holders.set(tag, (holders.get(tag) ?? 0) + 1);
    }
  const various = new Map<string, string[]>();
  const constant = new Map<string, string>();
  for (const [tag, set] of values) {
    const list = [...set];
    if (list.length === 1 && holders.get(tag) === runs.length) constant.set(tag, list[0] ?? "");
    else various.set(tag, list);
  }
  return { various, constant };
}
