// The one axis of changes that all intervals of a table share.

import { grouped } from "../format";
import { median } from "../measures";
import type { ChangeRow } from "../types";

export interface ChangeAxis {
  /** Its ends in percent. */
  low: number;
  high: number;
  /** None if there is nothing to draw. */
  ticks: { at: number; text: string }[];
}

/** Steps of the axis, times a power of 10. */
const STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 10];
/** The most steps: their labels have room in a narrow column. */
const MOST_STEPS = 4;
/** How far the axis reaches: so many times the middle row, or farther for changes up to so many times. What lies beyond gets arrows. */
const REACH = 2;
const FAR = 4;
/** The room at both ends of the axis, for arrows, in percent of its width. */
const EDGE = 5;
/** How far an end that is not zero stands from zero at least, in percent of the width: some 2 px. */
const OFF_ZERO = 1;

/** The ends of a row's intervals, its change last; none without an interval. */
function ends({ joint_percent, change_percent_low: low, change_percent_high: high, change_percent }: ChangeRow): number[] {
  const intervals = [...(joint_percent ?? []), low, high].filter((value) => value !== null).filter(Number.isFinite);
  return intervals.length > 0 && change_percent !== null ? [...intervals, change_percent] : [];
}

/** How often a step goes into a reach, rounded up. */
const stepsOf = (reach: number, step: number): number => Math.ceil(reach / step - 1e-9);

function stepFor(below: number, above: number): number {
  for (let power = 10 ** Math.floor(Math.log10((below + above) / MOST_STEPS)); ; power *= 10)
    for (const lead of STEPS) if (stepsOf(below, lead * power) + stepsOf(above, lead * power) <= MOST_STEPS) return lead * power;
}

function tickText(at: number, step: number): string {
  const digits = /\.(\d+)/.exec(String(Number(step.toPrecision(6))))?.[1]?.length ?? 0;
  return at === 0 ? "0" : (at < 0 ? "−" : "+") + grouped(Math.abs(at), digits);
}

/**
 * The axis of rows: zero is on it, and a few wide intervals do not press the others together. It ends at −100 %, since
 * nothing lies below.
 */
export function changeAxis(rows: readonly ChangeRow[]): ChangeAxis {
  // A change of a tiny share is a large one: what failures have beyond the others' axis gets arrows.
  const others = rows.filter(({ measure }) => measure !== "failures_percent");
  const values = (others.some((row) => ends(row).length > 0) ? others : rows).map(ends).filter((list) => list.length > 0);
  if (values.length === 0) return { low: -1, high: 1, ticks: [] };
  const middle = median(values.map((list) => Math.max(...list.map(Math.abs)))) ?? 0;
  const points = values.map((list) => Math.abs(list.at(-1) ?? 0)).filter((change) => change <= FAR * middle);
  const most = Math.max(REACH * middle, ...points, 0.1);
  const above = Math.min(Math.max(...values.flat(), 0), most);
  const below = Math.min(Math.max(...values.flat().map((value) => -value), 0), most);
  // All changes may be zero with intervals of no width: the axis has some length nevertheless.
  const step = stepFor(below, below + above > 0 ? above : most);
  const [from, to] = [-stepsOf(below, step), Math.max(stepsOf(above, step), below > 0 ? 0 : 1)];
  const ticks = Array.from({ length: to - from + 1 }, (_, at) => (from + at) * step).filter((at) => at >= -100 - 1e-9);
  return { low: Math.max(from * step, -100), high: to * step, ticks: ticks.map((at) => ({ at, text: tickText(at, step) })) };
}

/** Where a change stands, in percent of the width; beyond the axis at its end. */
export function placeOn({ low, high }: ChangeAxis, value: number): number {
  const part = (Math.min(Math.max(value, low), high) - low) / (high - low);
  return Math.round((EDGE + part * (100 - 2 * EDGE)) * 100) / 100;
}

/** An interval as far as the axis shows it, and the ends that lie beyond. */
export interface Stretch {
  from: number;
  to: number;
  beyondLow: boolean;
  beyondHigh: boolean;
}

/** Where an end of an interval stands: off zero unless it is zero, so that it is seen on which side it lies. */
function endOn(axis: ChangeAxis, value: number): number {
  const [place, zero] = [placeOn(axis, value), placeOn(axis, 0)];
  return value !== 0 && Math.abs(place - zero) < OFF_ZERO ? zero + Math.sign(value) * OFF_ZERO : place;
}

/** Places an interval on the axis. */
export function stretch(axis: ChangeAxis, [low, high]: readonly [number, number]): Stretch {
  return { from: endOn(axis, low), to: endOn(axis, high), beyondLow: low < axis.low, beyondHigh: high > axis.high };
}
