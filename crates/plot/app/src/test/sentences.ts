// What the test page says in sentences: ties, differing conditions, and findings of all runs at once.

import { FAILURE_LIMIT } from "../app";
import { clock, count, days, listed, plural, rangeText, span, threadsText } from "../format";
import { RAN_ONCE, ranOnce } from "../measures";
import type { RunRow, StandingRow } from "../types";

/** Conditions that differ by less than this part are taken as equal. */
const TOLERANCE = 0.1;

/** Rows of the league that share places: neighbours whose intervals of ranks overlap. */
export function tieGroups(league: readonly StandingRow[]): number[][] {
  const groups: number[][] = [];
  if (ranOnce(league)) return groups;
  let reach = 0;
  league.forEach(({ ranks }, at) => {
    const last = groups.at(-1);
    if (ranks && last && ranks[0] <= reach) last.push(at);
    else groups.push([at]);
    reach = ranks ? Math.max(reach, ranks[1]) : 0;
  });
  return groups.filter((group) => group.length > 1);
}

/** One sentence on which places are sure. */
export function tieSentence(league: readonly StandingRow[]): string {
  const ranked = league.filter(({ ranks }) => ranks !== null);
  if (league.length === 0) return "";
  if (ranked.length === 0) return `Nobody is ranked: more than ${FAILURE_LIMIT} % of the requests fail in all.`;
  if (ranked.length === 1) return "One framework is ranked: there is nobody to compare with.";
  if (ranOnce(league)) return RAN_ONCE;
  const groups = tieGroups(league);
  if (groups.length === 0) return "All places are clear (5 % error rate).";
  const repeats = Math.max(...ranked.map((row) => row.repeats));
  const tied = groups.map((group) => {
    const rows = group.flatMap((at) => league[at] ?? []);
    const all = rows.every(({ ranks }) => ranks?.[0] === rows[0]?.ranks?.[0] && ranks?.[1] === rows[0]?.ranks?.[1]);
    return `${listed(rows.map(({ framework }) => framework))} are ${all ? "tied" : "partly tied"}`;
  });
  const rest = groups.flat().length < ranked.length ? " The other places are clear (5 % error rate)." : "";
  return `${tied.join("; ")}: ${plural(repeats, "repeat")} can’t tell which is faster.${rest}`;
}

/** What keeps frameworks from being compared fairly: other loads or lengths. */
export function conditions(runs: readonly RunRow[]): string[] {
  const spread = (of: (run: RunRow) => number | null): [number, number] | null => {
    const values = runs.flatMap((run) => of(run) ?? []);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return values.length > 1 && high - low > TOLERANCE * high ? [low, high] : null;
  };
  const load = spread((run) => run.load);
  const length = spread((run) => run.duration);
  return [
    ...(load ? [`The runs have different loads: at most ${count(load[0])} to ${count(load[1])} threads.`] : []),
    ...(length ? [`The runs have different lengths: ${span(length[0])} to ${span(length[1])}.`] : []),
  ];
}

const NUMBER = /\d+(?:,\d{3})*(?:\.\d+)?/g;

/** Sentences that differ in their numbers only as one, with ranges; null if they differ in more. */
export function merged(texts: readonly string[]): string | null {
  const skeleton = (text: string): string => text.replace(NUMBER, "#");
  const [first] = texts;
  if (first === undefined || texts.some((text) => skeleton(text) !== skeleton(first))) return null;
  const numbers = texts.map((text) => text.match(NUMBER) ?? []);
  let at = -1;
  return first.replace(NUMBER, () => {
    at += 1;
    const values = numbers.map((list) => list[at] ?? "").sort((a, b) => Number(a.replace(/,/g, "")) - Number(b.replace(/,/g, "")));
    const [low, high] = [values[0] ?? "", values.at(-1) ?? ""];
    return low === high ? low : `${low} to ${high}`;
  });
}

export interface GroupedFinding {
  /** Whose finding it is: "In all 18 runs", or frameworks. */
  subject: string;
  text: string;
  all: boolean;
}

/** Findings of a test by kind, each in one sentence; those of all runs first. */
export function groupedFindings(runs: readonly RunRow[]): GroupedFinding[] {
  const kinds = new Map<string, { run: RunRow; what: string }[]>();
  for (const run of runs)
    for (const { kind, what } of run.findings) kinds.set(kind, [...(kinds.get(kind) ?? []), { run, what }]);
  const groups = [...kinds.values()].map((found) => {
    const number = new Set(found.map(({ run }) => run.id)).size;
    const all = number === runs.length && runs.length > 1;
    const frameworks = [...new Set(found.map(({ run }) => run.framework))];
    const text = merged(found.map(({ what }) => what)) ?? found[0]?.what ?? "";
    const others = runs.filter((run) => frameworks.includes(run.framework)).length;
    const part = others === 1 ? "the run" : number === others ? `all ${number} runs` : `${number} of ${others} runs`;
    return { all, text, subject: all ? `In all ${number} runs` : `In ${part} of ${listed(frameworks)}` };
  });
  return groups.sort((a, b) => Number(b.all) - Number(a.all));
}

/** The line of facts below the title. */
export function testFacts(league: readonly StandingRow[], runs: readonly RunRow[]): string {
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return "No runs";
  const repeats = new Set(league.map((row) => row.repeats));
  const [most] = repeats;
  const each = repeats.size === 1 && most !== undefined ? `${plural(most, "repeat")}${league.length > 1 ? " each" : ""}` : plural(runs.length, "run");
  const sameDay = days(first.t0, last.t0) === days(first.t0, first.t0);
  const time = sameDay ? `, ${clock(first.t0)} to ${clock(last.t0 + last.duration * 1000)} UTC` : "";
  const loads = runs.flatMap((run) => run.load ?? []);
  const load = loads.length > 0 ? `, ${threadsText(loads)}` : "";
  const failed = runs.some((run) => run.failures > 0) ? "" : " No failures.";
  const length = rangeText(runs.map((run) => run.duration), span);
  return `${plural(league.length, "framework")}, ${each}, ${days(first.t0, last.t0)}${time}, ${length} a run${load}.${failed}`;
}
