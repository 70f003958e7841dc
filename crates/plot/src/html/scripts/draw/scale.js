// Axes: the mapping from data to pixels, and the ticks.
// @ts-check

import { grouped, shortTime, stamp, timeOfDay } from "../data/format.js";

/** @typedef {import("../types").Axis} Axis */
/** @typedef {import("../types").Tick} Tick */

/** The share of an axis that stays free above the greatest value. */
const HEAD_ROOM = 0.02;

/**
 * Returns the round step that divides a span into about `parts` parts.
 * @param {number} span
 * @param {number} parts
 * @param {boolean} [whole] true for a step of whole numbers
 */
export function roundStep(span, parts, whole) {
  const raw = Math.max(span / Math.max(parts, 1), whole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(raw));
  const leads = whole && power < 10 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  return (leads.find((lead) => lead * power >= raw * (1 - 1e-9)) ?? 10) * power;
}

/**
 * Returns an axis from 0 to a round value above `max`, or exactly to `end` if that is given.
 * @param {number} max
 * @param {number} height in pixels
 * @param {{ end?: number | null, most?: number, whole?: boolean }} [options] `most` is the greatest end
 * @returns {Axis}
 */
export function valueAxis(max, height, { end, most = Infinity, whole } = {}) {
  const wanted = end || Math.min((max || 1) * (1 + HEAD_ROOM), most);
  const step = roundStep(wanted, Math.max(2, Math.floor(height / 34)), whole);
  const top = end || Math.ceil(wanted / step - 1e-9) * step;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9) + (String(step).includes("25") ? 1 : 0));
  /** @type {Tick[]} */
  const ticks = [];
  for (let n = 0; n * step <= top * (1 + 1e-9); n += 1) {
    ticks.push({ at: n * step, text: grouped(n * step, Math.min(digits, 6)) });
  }
  return { top, ticks, y: (value) => height * (1 - Math.min(value / top, 1)) };
}

/**
 * Returns a logarithmic axis of elapsed times from `low` to `high` ms.
 * @param {number} low
 * @param {number} high
 * @param {number} height in pixels
 * @returns {Axis}
 */
export function logAxis(low, high, height) {
  const top = Math.max(high, low * 2);
  const [from, to] = [Math.log(low), Math.log(top)];
  const y = (/** @type {number} */ value) => height * (1 - (Math.log(Math.max(value, low)) - from) / (to - from));
  const leads = (to - from) / Math.LN10 > height / 60 ? [1] : [1, 2, 5];
  /** @type {Tick[]} */
  const ticks = [];
  for (let power = 1; power <= top; power *= 10) {
    for (const at of leads.map((lead) => lead * power)) {
      if (at >= low && at <= top) ticks.push({ at, text: shortTime(at) });
    }
  }
  return { top, ticks, y };
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** The least distance between two labels of the time axis, in pixels. */
const LABELS = 80;

/**
 * Returns the axis of the seconds from `from` up to `to`, `width` pixels wide.
 * @param {number} from
 * @param {number} to
 * @param {number} width
 * @param {number} [clock] what the clock showed at second 0, in seconds since midnight, for an axis of the time of day
 */
export function timeAxis(from, to, width, clock) {
  const least = ((to - from) * LABELS) / width;
  const step = TIME_STEPS.find((step) => step >= least) ?? Math.ceil(least / 86400) * 86400;
  /** @type {Tick[]} */
  const ticks = [];
  const shift = clock ?? 0;
  for (let at = Math.ceil((from + shift) / step) * step - shift; at <= to; at += step) {
    ticks.push({ at, text: clock !== undefined ? timeOfDay(at + clock) : to > 60 ? stamp(at) : String(at) });
  }
  return { ticks, x: (/** @type {number} */ second) => (width * (second - from)) / (to - from) };
}

/** The number of colours of a measure. */
export const SHADES = 16;

/**
 * Returns the colour of a share of the measure, from 0 to 1.
 * @param {number} share
 * @param {string[] | null} scale
 */
export function shade(share, scale) {
  const steps = scale ? scale.length : SHADES;
  const step = Math.max(0, Math.min(Math.floor(share * steps), steps - 1));
  if (scale) return scale[step];
  return `color-mix(in oklab, var(--load-low), var(--load-high) ${Math.round((100 * step) / (steps - 1))}%)`;
}

/**
 * Returns the colour of the line of a percentile; lower ones are paler.
 * @param {number} index
 * @param {number} count
 */
export function quantileColor(index, count) {
  const share = count < 2 ? 60 : (100 * index) / (count - 1);
  return `color-mix(in srgb, var(--quantile-low), var(--quantile-high) ${Math.round(share)}%)`;
}
