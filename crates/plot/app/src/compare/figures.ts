// The rows of a comparison in words: names of figures, verdicts and their number, what an interval says.

import { change, failurePercent, grouped, MISSING, ms, rate, span } from "../format";
import type { ChangeRow } from "../types";

export type Verdict = "worse" | "better" | "more" | "less" | "not shown" | "unknown";

export interface Outcome {
  verdict: Verdict;
  /** True where the noise of a single run decides: other starts of the server may differ more. */
  theseRuns: boolean;
}

const VERDICTS: readonly string[] = ["worse", "better", "more", "less", "not shown", "unknown"];
const THESE_RUNS = " (these runs)";

/** Reads an outcome; what is none of them is unknown. */
export function outcomeOf({ outcome }: Pick<ChangeRow, "outcome">): Outcome {
  const theseRuns = outcome.endsWith(THESE_RUNS);
  const text = theseRuns ? outcome.slice(0, -THESE_RUNS.length) : outcome;
  return { verdict: VERDICTS.includes(text) ? (text as Verdict) : "unknown", theseRuns };
}

/** True where a change is shown. */
export function isShown(verdict: Verdict): boolean {
  return verdict !== "not shown" && verdict !== "unknown";
}

/** A verdict as it is written. */
export function verdictText(verdict: Verdict): string {
  return verdict === "unknown" ? "can’t tell" : verdict;
}

export interface FigureName {
  name: string;
  unit: string;
  text: (value: number | null) => string;
}

const whole = (value: number | null): string => (value === null ? MISSING : grouped(value, 0));

/** How a figure is named and written. */
export function figureOf({ measure, unit }: Pick<ChangeRow, "measure" | "unit">): FigureName {
  if (measure === "throughput") return { name: "Throughput", unit, text: (value) => rate(value) };
  if (measure === "failures_percent") return { name: "Failures", unit, text: failurePercent };
  if (measure === "elapsed_mean") return { name: "Mean", unit, text: (value) => ms(value, 1) };
  if (measure === "cpu_mean") return { name: "mean CPU", unit, text: whole };
  if (/^p\d/.test(measure)) return { name: measure, unit, text: (value) => ms(value) };
  return { name: measure.replace(/^series /, "").replace(/_/g, " "), unit, text: (value) => rate(value) };
}

const ORDER = ["throughput", "failures_percent", "elapsed_mean"];

function place(measure: string): number {
  const at = ORDER.indexOf(measure);
  if (at >= 0) return at;
  if (/^p\d/.test(measure)) return 10 + Number(measure.slice(1)) / 100;
  return measure === "cpu_mean" ? 20 : 30;
}

/** The figures of a part in the order of the table, each with a row for each side that has one. */
export function figuresOf(rows: readonly ChangeRow[], part: string): ChangeRow[][] {
  const byMeasure = new Map<string, ChangeRow[]>();
  for (const row of rows)
    if (row.part === part) byMeasure.set(row.measure, [...(byMeasure.get(row.measure) ?? []), row]);
  return [...byMeasure.values()].sort((a, b) => place(a[0]?.measure ?? "") - place(b[0]?.measure ?? ""));
}

/** True where no side has a value. */
export function isAbsent(rows: readonly ChangeRow[]): boolean {
  return rows.every(({ a, b }) => a === null && b === null);
}

/** The parts that can be chosen: "hold" first if there is one. */
export function partsOf(rows: readonly ChangeRow[]): string[] {
  return ["hold", "run"].filter((part) => rows.some((row) => row.part === part));
}

export interface Counted {
  text: string;
  verdict: Verdict;
  number: number;
}

/** How many figures have which verdict, those that count first. "Worse" and "better" are told even if there are none. */
export function countVerdicts(rows: readonly ChangeRow[]): Counted[] {
  const outcomes = rows.map(outcomeOf);
  const decided = outcomes.some(({ verdict }) => verdict !== "unknown");
  const order: Verdict[] = ["worse", "better", "more", "less", "not shown", "unknown"];
  return order.flatMap((verdict) => {
    const number = outcomes.filter((outcome) => outcome.verdict === verdict).length;
    const always = decided && (verdict === "worse" || verdict === "better");
    return number > 0 || always ? { verdict, number, text: `${number} ${verdictText(verdict)}` } : [];
  });
}

/** True if all changes that are shown are of these runs alone; null if some are. */
export function onlyTheseRuns(rows: readonly ChangeRow[]): boolean | null {
  const shown = rows.map(outcomeOf).filter(({ verdict }) => isShown(verdict));
  const these = shown.filter(({ theseRuns }) => theseRuns).length;
  return these === 0 ? false : these === shown.length ? true : null;
}

/** The verdicts of a side in one line: 1 worse, 1 better, 5 not shown. */
export function countSentence(rows: readonly ChangeRow[]): string {
  const text = countVerdicts(rows).map((counted) => counted.text).join(", ");
  return onlyTheseRuns(rows) === true ? `${text}${THESE_RUNS}` : text;
}

/** The unit of a difference: percent differ by points. */
const differenceUnit = (unit: string): string => (unit === "%" ? "points" : unit);

/** Differences with their signs, of as many decimals each: those of percent have two. */
export function signedAlike(values: readonly number[], unit: string): string[] {
  const most = Math.max(...values.map(Math.abs));
  const digits = unit === "%" || most < 9.995 ? 2 : most < 99.95 ? 1 : 0;
  return values.map((value) => {
    const text = grouped(Math.abs(value), digits);
    return Number(text.replace(/,/g, "")) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
  });
}

/** The interval that decides, or that of the figure by itself; null without both. */
function interval({ joint_percent, change_percent_low, change_percent_high }: ChangeRow): [number, number] | null {
  if (joint_percent) return joint_percent;
  return change_percent_low !== null && change_percent_high !== null ? [change_percent_low, change_percent_high] : null;
}

/** Where there is no interval in percent: the difference in the figure's own unit and its interval; null without any. */
export function differenceText(row: ChangeRow): [string, string] | null {
  const { a, b, difference_low: low, difference_high: high, unit } = row;
  if (interval(row) !== null || a === null || b === null || low === null || high === null) return null;
  const [by, from, to] = signedAlike([b - a, low, high], unit);
  return [`${by} ${differenceUnit(unit)},`, `99 % from ${from} to ${to}`];
}

/** An interval in words; its upper end may be infinite. */
function limits([low, high]: readonly [number, number]): string {
  if (Number.isFinite(high)) return `${change(low)} to ${change(high)} %`;
  return low <= -100 ? "any change" : `${change(low)} % or more`;
}

/** What could hide where no change is shown, from the ends of the interval. */
export function hidingText(row: ChangeRow): string {
  const ends = interval(row);
  if (ends) return `not shown, which does not mean equal: ${limits(ends)} could hide`;
  const { difference_low: low, difference_high: high, unit } = row;
  if (low !== null && high !== null)
    return `not shown, which does not mean equal: ${signedAlike([low, high], unit).join(" to ")} ${differenceUnit(unit)} could hide`;
  return "not shown, which does not mean equal";
}

/** Why nothing can be said of a figure. */
export function unknownText({ a, b }: ChangeRow, notes: readonly string[]): string {
  if (a === null && b === null) return "can’t tell: neither side has it";
  if (a === null) return "can’t tell: the baseline has none";
  if (b === null) return "can’t tell: this side has none";
  const note = notes.find((text) => text.startsWith("unknown: "))?.slice("unknown: ".length);
  return `can’t tell: ${note ?? "the runs are too short to estimate their noise"}`;
}

/** A note of the engine as a sentence of the page, which has its own word for what is unknown. */
export function noteText(note: string): string {
  const text = note.replace(/^unknown\b/, verdictText("unknown"));
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?:]$/.test(text) ? "" : "."}`;
}

/** So many times their slow changes runs have to last, for their noise to be known. */
const TIMES = 7;
/** The seconds that they need in any case. */
const LEAST = 24;

/** Says of the shortest run or hold, in seconds, how slow its changes must be if it is too short for them; null if it is not. */
export function tooShort(notes: readonly string[], part: string, shortest: number): string | null {
  if (!notes.some((note) => /^unknown: .*too short/.test(note)) || shortest < LEAST || !Number.isFinite(shortest)) return null;
  return `The shortest ${part} lasted ${span(shortest)}: its slow changes take longer than ${span(shortest / TIMES)}. Longer runs can tell, or repeats of each side.`;
}

/** A row in words, for those who don't see its interval: the change, both intervals, the verdict. */
export function rowText(row: ChangeRow, notes: readonly string[]): string {
  const { verdict, theseRuns } = outcomeOf(row);
  if (verdict === "unknown") return unknownText(row, notes);
  const parts = [
    row.change_percent === null ? null : `${change(row.change_percent)} %`,
    row.change_percent_low === null || row.change_percent_high === null
      ? (differenceText(row)?.join(" ") ?? null)
      : `99 % from ${change(row.change_percent_low)} to ${change(row.change_percent_high)}`,
    row.joint_percent ? `with all figures ${Number.isFinite(row.joint_percent[1]) ? `from ${change(row.joint_percent[0])} to ${change(row.joint_percent[1])}` : `together: ${limits(row.joint_percent)}`}` : null,
    verdict === "not shown" ? hidingText(row) : `${verdict}${theseRuns ? THESE_RUNS : ""}`,
  ];
  return parts.filter((part) => part !== null).join(", ");
}

const NOISES: Record<string, string> = {
  seconds: "the scatter of seconds within the runs",
  repeats: "the scatter of the repeats",
  pairs: "the scatter of pairs of repeats",
};
/** The signs of noises other than the usual one. */
const SIGNS = ["†", "‡", "§"];

/** What the noise of figures is taken from: the usual one first, each other one with its sign. */
export interface Noises {
  signs: ReadonlyMap<string, string>;
  text: string;
}

/** The noises of rows, and the sentence that explains their signs; null where nothing is known. */
export function noisesOf(rows: readonly ChangeRow[]): Noises | null {
  const counts = new Map<string, number>();
  for (const row of rows) if (outcomeOf(row).verdict !== "unknown") counts.set(row.noise, (counts.get(row.noise) ?? 0) + 1);
  const [usual, ...others] = [...counts].sort((a, b) => b[1] - a[1]).map(([noise]) => noise);
  if (usual === undefined) return null;
  const signs = new Map(others.map((noise, at) => [noise, SIGNS[at] ?? "*"]));
  const rest = [...signs].map(([noise, sign]) => `; ${sign} ${NOISES[noise] ?? noise}`);
  return { signs, text: `Noise: ${NOISES[usual] ?? usual}${rest.join("")}.` };
}

/** The noises of a figure that are not the usual one, with their signs. */
export function noiseSigns(rows: readonly ChangeRow[], noises: Noises | null): { sign: string; text: string }[] {
  const own = new Set(rows.filter((row) => outcomeOf(row).verdict !== "unknown").map(({ noise }) => noise));
  return [...(noises?.signs ?? [])].flatMap(([noise, sign]) => (own.has(noise) ? { sign, text: `noise: ${NOISES[noise] ?? noise}` } : []));
}

/** The names of the columns of a CSV file: those of the command, then the interval that decides. */
const COLUMNS = [
  ...["run", "part", "measure", "unit", "a", "b", "change_percent", "change_percent_low", "change_percent_high"],
  ...["difference_low", "difference_high"],
] as const;

const finite = (value: number | undefined): number | null => (value !== undefined && Number.isFinite(value) ? value : null);

/** The rows for a CSV file, exact. */
export function changeCells(rows: readonly ChangeRow[]): (string | number | null)[][] {
  const numbers = (row: ChangeRow): (string | number | null)[] => COLUMNS.map((name) => row[name as keyof ChangeRow] as string | number | null);
  return [
    [...COLUMNS, "joint_percent_low", "joint_percent_high", "outcome", "p", "p_adjusted", "noise"],
    ...rows.map((row) => [
      ...numbers(row),
      ...[row.joint_percent?.[0] ?? null, finite(row.joint_percent?.[1]), row.outcome, row.p, row.p_adjusted, row.noise],
    ]),
  ];
}
