// The measures by which frameworks are set side by side, and places in a test.

import { ms, rate } from "./format";
import type { RunRow, StandingRow } from "./types";

export type MeasureName = "throughput" | "p95" | "per-cpu";

export interface Measure {
  id: MeasureName;
  name: string;
  /** What it is, for the line above a table. */
  about: string;
  moreIsBetter: boolean;
  /** The value of a framework in a league. */
  ofLeague: (row: StandingRow, runs: ReadonlyMap<string, RunRow>) => number | null;
  text: (value: number | null) => string;
}

/** Successes a second of CPU time, in which 100 % is one core. */
function perCpuSecond(run: RunRow): number | null {
  return run.throughput !== null && run.cpu !== null && run.cpu > 0 ? run.throughput / (run.cpu / 100) : null;
}

/** The median of a framework's repeats of successes a second of CPU time. */
export function perCpuSecondOf(row: StandingRow, runs: ReadonlyMap<string, RunRow>): number | null {
  return median(
    row.runs.flatMap((id) => {
      const run = runs.get(id);
      return (run && perCpuSecond(run)) ?? [];
    }),
  );
}

/** The measures, that of the league first. */
export const MEASURES: readonly Measure[] = [
  {
    id: "throughput",
    name: "Throughput",
    about: "successes per second",
    moreIsBetter: true,
    ofLeague: (row) => row.throughput,
    text: (value) => rate(value),
  },
  {
    id: "p95",
    name: "p95",
    about: "95th percentile of response times, ms",
    moreIsBetter: false,
    ofLeague: (row) => row.p95,
    text: (value) => ms(value),
  },
  {
    id: "per-cpu",
    name: "per CPU-s",
    about: "successes per second of CPU time",
    moreIsBetter: true,
    ofLeague: perCpuSecondOf,
    text: (value) => rate(value),
  },
];

/** The measure of a name; throughput for any other. */
export function measureOf(name: string | null): Measure {
  return MEASURES.find(({ id }) => id === name) ?? (MEASURES[0] as Measure);
}

/** The median; null of nothing. */
export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

/** What is said where each framework ran once; the command says the same. */
export const RAN_ONCE =
  "Each framework ran once: how much its runs vary is unknown, and so is its rank. The order is that of the throughputs.";

/** True if each of several ranked frameworks ran once, so that nothing tells them apart and nothing ties them. */
export function ranOnce(league: readonly StandingRow[]): boolean {
  const ranked = league.filter(({ ranks }) => ranks !== null);
  return ranked.length > 1 && ranked.every(({ repeats }) => repeats < 2);
}

/** The ranks that are shown of a league: where each framework ran once, its place by throughput. */
export function shownRanks(league: readonly StandingRow[]): ([number, number] | null)[] {
  if (!ranOnce(league)) return league.map(({ ranks }) => ranks);
  const faster = (one: StandingRow): number =>
    league.filter(({ ranks, throughput }) => ranks !== null && (throughput ?? 0) > (one.throughput ?? 0)).length;
  return league.map((row) => (row.ranks === null ? null : [1 + faster(row), 1 + faster(row)]));
}

/** A framework's place in a test by a measure. */
export interface Place {
  framework: string;
  value: number | null;
  /** Both inclusive; null where it is not ranked or can't be. */
  ranks: [number, number] | null;
  /** True if the rank is unknown, and `ranks` are those of the figures. */
  unsure: boolean;
  /** The share of failures in percent where it is too great for a rank. */
  failing: number | null;
  repeats: number;
  /** The id of the median run. */
  run: string | null;
}

/** The places of a test by a measure, in the order of the league. The command ranks by throughput alone. */
export function places(
  league: readonly StandingRow[],
  runs: ReadonlyMap<string, RunRow>,
  measure: Measure,
): Place[] {
  const [ranks, unsure] = [shownRanks(league), ranOnce(league)];
  return league.map((row, at) => ({
    framework: row.framework,
    value: measure.ofLeague(row, runs),
    ranks: measure.id === "throughput" ? (ranks[at] ?? null) : null,
    unsure,
    failing: row.ranks === null ? row.failuresPercent : null,
    repeats: row.repeats,
    run: row.runs[0] ?? null,
  }));
}

/** Ranks as text: `1–2` is a tie. */
export function rankText(ranks: readonly [number, number] | null): string {
  if (ranks === null) return "–";
  return ranks[0] === ranks[1] ? String(ranks[0]) : `${ranks[0]}–${ranks[1]}`;
}
