// The axes of a trend: which values, which versions, and which of their names have room.

import { grouped } from "../format";
import { type Axis, roundStep, type Tick, valueAxis } from "../charts/scale";
import type { TrendFigure } from "../types";
import { briefDay } from "./figures";

/** A noise band below this height can't be read: then the axis starts higher than at zero. In pixels. */
const LEAST_BAND = 12;
/** The band takes this part of the height at most, so that a change within noise looks flat. */
const BAND_PART = 1 / 3;

/** An axis of values that starts at `from`. */
export interface TrendAxis extends Axis {
  from: number;
}

/** The height of the widest band of a figure; without levels, as in a drift, that of the middle one of the intervals. */
export function bandWidth({ levels, intervals }: Pick<TrendFigure, "levels" | "intervals">): number {
  const bands = levels.flatMap(({ band }) => (band ? band[1] - band[0] : []));
  if (bands.length > 0) return Math.max(...bands);
  const widths = intervals.flatMap((interval) => (interval ? interval[1] - interval[0] : [])).sort((a, b) => a - b);
  return widths[widths.length >> 1] ?? 0;
}

/** All that is drawn of a figure, as numbers. */
function drawnValues({ values, runs, intervals, levels, drifts }: TrendFigure): number[] {
  const numbers = [
    ...values,
    ...runs.flat(),
    ...intervals.flatMap((interval) => interval ?? []),
    ...levels.flatMap(({ level, band }) => [level, ...(band ?? [])]),
    ...drifts.flatMap(({ before, after }) => [before, after]),
  ];
  return numbers.filter((value) => value !== null);
}

/** The range of an axis: from zero unless the noise band would be too low to be seen. */
export function trendRange(low: number, high: number, band: number, height: number): { from: number; to: number } {
  if (band <= 0 || high <= 0 || (band * height) / high >= LEAST_BAND) return { from: 0, to: high };
  const span = Math.max((high - low) * 1.1, band / BAND_PART);
  const middle = (high + low) / 2;
  const from = middle - span / 2;
  // What is nearly zero is zero; and a change so great that the band can't be seen either way is shown in proportion.
  const unseen = (band * height) / span < LEAST_BAND && from < high / 2;
  return unseen || from <= 0.12 * high ? { from: 0, to: high } : { from, to: from + span };
}

function ticksBetween(from: number, to: number, step: number): Tick[] {
  const digits = Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9) + (/^0?\.?25|2\.5/.test(String(step / 10 ** Math.floor(Math.log10(step)))) ? 1 : 0)), 6);
  const whole = Number.isInteger(step) ? 0 : digits;
  const ticks: Tick[] = [];
  for (let n = Math.ceil(from / step - 1e-9); n * step <= to * (1 + 1e-12); n += 1) ticks.push({ at: n * step, text: grouped(n * step, whole) });
  return ticks;
}

/** Returns the axis of a figure, drawn into a height. */
export function trendAxis(figure: TrendFigure, height: number): TrendAxis {
  const numbers = drawnValues(figure);
  const [low, high] = [Math.max(0, Math.min(...numbers)), Math.max(...numbers)];
  const range = trendRange(low, high, bandWidth(figure), height);
  if (range.from === 0) return { ...valueAxis(high, height), from: 0 };
  const step = roundStep(range.to - range.from, 4);
  // Both ends are at fifths of the step: round enough for the note, without empty room.
  const fine = step / 5;
  const from = Math.floor(range.from / fine + 1e-9) * fine;
  const to = Math.ceil(range.to / fine - 1e-9) * fine;
  const y = (value: number): number => height * (1 - Math.min(Math.max((value - from) / (to - from), 0), 1));
  return { from, top: to, ticks: ticksBetween(from + 0.04 * (to - from), to, step), y };
}

/** How the beginning of an axis is said. */
export function startText(from: number): string {
  return grouped(from, from >= 20 ? (Number.isInteger(Number(from.toFixed(6))) ? 0 : 1) : from >= 1 ? 1 : 3);
}

/** Where the versions stand: their places in pixels, and the borders between them. */
export interface Places {
  xs: number[];
  /** Of each version the left border; after them the right border of the last. */
  borders: number[];
  /** The least distance of two neighbours. */
  step: number;
}

/** Places versions at equal distances, or by their dates. */
export function placed(times: readonly number[], width: number, byDate: boolean): Places {
  const number = times.length;
  const half = width / Math.max(1, number) / 2;
  const pad = Math.min(half, 24);
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const xs = times.map((time, at) =>
    byDate && last > first ? pad + ((width - 2 * pad) * (time - first)) / (last - first) : (at + 0.5) * 2 * half,
  );
  const borders = [...xs.map((x, at) => (at === 0 ? 0 : ((xs[at - 1] ?? 0) + x) / 2)), width];
  const steps = xs.slice(1).map((x, at) => x - (xs[at] ?? 0));
  return { xs, borders, step: Math.min(width, ...steps) };
}

/** A text that wants a place on the axis. */
export interface Wish {
  x: number;
  width: number;
  /** Those of lower rank are placed first; of one rank the earlier ones. */
  rank: number;
}

/** Which of several texts have room: none covers another one, and none ends beyond the axis. Returns their centres. */
export function thinned(wishes: readonly Wish[], width: number, gap: number, left = 0): (number | null)[] {
  const taken: [number, number][] = [];
  const centres: (number | null)[] = wishes.map(() => null);
  const order = wishes.map((_, at) => at).sort((a, b) => (wishes[a]?.rank ?? 0) - (wishes[b]?.rank ?? 0) || a - b);
  for (const at of order) {
    const wish = wishes[at];
    if (!wish) continue;
    const centre = Math.max(Math.min(wish.x, width - wish.width / 2), wish.width / 2 - left);
    const [start, end] = [centre - wish.width / 2 - gap / 2, centre + wish.width / 2 + gap / 2];
    if (taken.some(([from, to]) => start < to && end > from)) continue;
    taken.push([start, end]);
    centres[at] = centre;
  }
  return centres;
}

const STRIDES = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000];

/** The ranks of versions' names: changes first, then the ends, then each second, fifth, tenth … as room allows. */
export function labelRanks(number: number, marked: ReadonlySet<number>, step: number, width: number): number[] {
  const stride = STRIDES.find((one) => one * step >= width) ?? number;
  return Array.from({ length: number }, (_, at) => {
    if (marked.has(at)) return 0;
    if (at === number - 1) return 1;
    if (at === 0) return 2;
    return at % stride === 0 ? 3 : Infinity;
  });
}

/** A text above a plot at the vertical line of a change. */
export interface Flag {
  x: number;
  width: number;
}

/** How many rows of texts are tried before texts may cover lines. */
const MOST_ROWS = 6;

/**
 * Where the texts of changes stand, given from left to right: beside their lines, left if there is room. Row 0 is next to
 * the plot; a line reaches up to its text, so that a text is never crossed by the line of another change.
 */
export function flagPlaces(flags: readonly Flag[], width: number): { x: number; row: number; anchor: "start" | "end" }[] {
  const GAP = 5;
  const placed: { x: number; row: number; start: number; end: number }[] = [];
  return flags.map(({ x, width: wide }, at) => {
    for (let row = 0; ; row += 1) {
      for (const anchor of ["end", "start"] as const) {
        const [start, end] = anchor === "end" ? [x - GAP - wide, x - GAP] : [x + GAP, x + GAP + wide];
        const covers = (place: number): boolean => place > start - 4 && place < end + 4;
        const free =
          start >= 0 &&
          end <= width &&
          !flags.slice(at + 1).some((other) => covers(other.x)) &&
          !placed.some((one) => (one.row >= row && covers(one.x)) || (one.row === row && start < one.end + GAP && end > one.start - GAP));
        if (!free && row < MOST_ROWS) continue;
        placed.push({ x, row, start, end });
        return { x: anchor === "end" ? x - GAP : x + GAP, row, anchor };
      }
    }
  });
}

const DAY = 864e5;
const DAY_STEPS = [1, 2, 7, 14];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60];

/** Ticks of an axis of days, between two times. */
export function dayTicks(from: number, to: number, width: number): Tick[] {
  const least = ((to - from) * 64) / Math.max(width, 1);
  const days = DAY_STEPS.find((step) => step * DAY >= least);
  const years = new Date(from).getUTCFullYear() !== new Date(to).getUTCFullYear();
  const ticks: Tick[] = [];
  if (days !== undefined) {
    // Weeks begin on Monday: the first day of 1970 was a Thursday.
    const offset = days % 7 === 0 ? 4 : 0;
    for (let at = Math.ceil((from / DAY - offset) / days) * days + offset; at * DAY <= to; at += days)
      ticks.push({ at: at * DAY, text: briefDay(at * DAY) });
    return ticks;
  }
  const months = MONTH_STEPS.find((step) => step * 30 * DAY >= least) ?? 120;
  const start = new Date(from);
  for (let month = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months; ; month += months) {
    const at = Date.UTC(Math.floor(month / 12), month % 12, 1);
    if (at > to) return ticks;
    if (at >= from) ticks.push({ at, text: briefDay(at, years && month % 12 === 0).replace(/^1 /, "") });
  }
}
