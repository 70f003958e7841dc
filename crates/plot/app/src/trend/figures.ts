// Names and texts of what a trend shows: figures, versions, dates.

import { failurePercent, grouped, ms, rate } from "../format";
import type { Direction, FrameworkTrend, TrendFigure } from "../types";

type Value = number | null | undefined;

/** What is seen without unfolding, in this order. */
const FIRST = ["throughput", "p50", "p95", "p99"];

const NAMES = new Map([
  ["cpu mean", "CPU"],
  ["cpu", "CPU"],
  ["elapsed mean", "mean time"],
  ["failures percent", "failures"],
]);

/** The name of a figure in sentences. */
export function figureName(figure: string): string {
  const words = figure.replaceAll("_", " ");
  return NAMES.get(words) ?? words;
}

/** The title of a figure's chart, its unit within. */
export function figureTitle({ figure, unit }: { figure: string; unit: string }): string {
  const name = figureName(figure);
  if (name === "throughput") return "Successes per second";
  const title = /^p\d/.test(name) ? name : name.charAt(0).toUpperCase() + name.slice(1);
  return unit ? `${title}, ${unit === "1/s" ? "/s" : unit}` : title;
}

/** Writes a value of a figure. Trends have one decimal more than single values. */
export function figureText(figure: string, unit: string): (value: Value) => string {
  if (figureName(figure) === "failures") return failurePercent;
  return unit === "ms" ? (value) => ms(value, 1) : (value) => rate(value, Math.abs(value ?? 0) < 1000 ? 1 : 0);
}

/** The unit behind a value: " ms", " /s", " %" or none. */
export function unitText(unit: string): string {
  return unit === "" ? "" : unit === "1/s" ? " /s" : ` ${unit}`;
}

/** Two values with as many decimals, so that what differs is seen: `40.1 → 43.3 ms`. */
export function fromTo(figure: string, unit: string, before: number, after: number): string {
  const text = figureText(figure, unit);
  const [one, other] = [text(before), text(after)];
  const decimals = Math.max(...[one, other].map((part) => part.split(".")[1]?.length ?? 0));
  const same = (value: number, part: string): string => (part === "0" || part.startsWith("<") ? part : grouped(value, Math.min(decimals, 4)));
  return `${same(before, one)} → ${same(after, other)}${unitText(unit)}`;
}

/** True if a figure changes its level or drifts. */
export const moves = ({ changes, drifts }: TrendFigure): boolean => changes.length > 0 || drifts.length > 0;

/** The figures with values: those whose charts are open, and those that are folded since nothing changes in them. */
export function sorted({ figures }: FrameworkTrend): { open: TrendFigure[]; folded: TrendFigure[] } {
  const known = figures.filter(({ values }) => values.some((value) => value !== null));
  const first = FIRST.flatMap((name) => known.find(({ figure }) => figure === name) ?? []);
  const others = known.filter((figure) => !first.includes(figure));
  return { open: [...first, ...others.filter(moves)], folded: others.filter((figure) => !moves(figure)) };
}

/** The most letters of a version's name that is no commit. */
const LONGEST = 14;

/** A version's name in tables: of a commit eight letters. */
export function tableName(name: string): string {
  return /^[0-9a-f]{9,64}$/i.test(name) && /\d/.test(name) ? name.slice(0, 8) : name;
}

/** A version's name where room is scarce. */
export function shortName(name: string): string {
  const text = tableName(name);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** A version within a sentence: "version 3f2a9c1", or the day alone. */
export function versionName(short: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(short) ? short : `version ${short}`;
}

/** What makes runs one version: "commit" of a tag, "day" or "run". */
export function wayName(by: string): string {
  return by.replace(/^tag:/, "");
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** A day in UTC, brief: 14 Nov. */
export function briefDay(t: number, withYear = false): string {
  const date = new Date(t);
  const text = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ""}`;
  return withYear ? `${text} ${date.getUTCFullYear()}` : text;
}

/** The sign of a direction beside its words. */
export const SIGNS: Record<Direction, string> = { worse: "↘", better: "↗", more: "→", less: "→" };

/** Directions by harm. */
export const HARM: Record<Direction, number> = { worse: 0, better: 1, more: 2, less: 2 };

/** The class that colours a direction. */
export function look(direction: Direction): string {
  return direction === "worse" || direction === "better" ? direction : "changed";
}
