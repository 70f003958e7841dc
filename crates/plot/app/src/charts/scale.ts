// Axes: from values to pixels, and the ticks.

import { grouped, stamp } from "../format";

/** A place on an axis with its text. */
export interface Tick {
  at: number;
  text: string;
}

/** An axis of values. `y` is 0 at the top. */
export interface Axis {
  top: number;
  ticks: Tick[];
  y: (value: number) => number;
}

const LEADS = [1, 2, 2.5, 5, 10];
const TIME_STEPS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** Returns the least step of 1, 2, 2.5 or 5 (times a power of 10) that divides a span into at most `parts` parts. */
export function roundStep(span: number, parts: number): number {
  const raw = span / parts;
  const power = 10 ** Math.floor(Math.log10(raw) + 1e-9);
  return (LEADS.find((lead) => lead * power >= raw * (1 - 1e-9)) ?? 10) * power;
}

/** Returns ticks from 0 up to `top`, a `step` apart, with as many decimals as the step has. */
export function ticksUpTo(top: number, step: number): Tick[] {
  const digits = Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9) + (/2\.?5/.test(String(step)) ? 1 : 0)), 6);
  const ticks: Tick[] = [];
  for (let n = 0; n * step <= top * (1 + 1e-9); n += 1)
    ticks.push({ at: n * step, text: grouped(n * step, step >= 1 && Number.isInteger(step) ? 0 : digits) });
  return ticks;
}

/** Returns an axis from 0 to the tick at or above `max`; with `loose`, to just above `max`. It has three to five ticks. */
export function valueAxis(max: number, height: number, loose = false): Axis {
  const most = max > 0 ? max : 1;
  const parts = height < 70 ? 3 : 4;
  // Of the steps with few enough ticks, the one whose axis ends first: 0, 250, 500 rather than 0, 200, 400, 600 up to 440.
  const power = 10 ** Math.floor(Math.log10(most / parts) + 1e-9);
  const steps = LEADS.map((lead) => lead * power).filter(
    (step) => most / step <= parts * (1 + 1e-9) && most / step > 1 + 1e-9,
  );
  const end = (step: number): number => Math.ceil(most / step - 1e-9) * step;
  const step = loose
    ? roundStep(most, parts)
    : steps.reduce((best, one) => (end(one) < end(best) * (1 - 1e-9) ? one : best), roundStep(most, parts));
  const top = loose ? most * 1.02 : end(step);
  return { top, ticks: ticksUpTo(top, step), y: (value) => height * (1 - Math.min(value / top, 1)) };
}

/** Returns a logarithmic axis from `low` to `high`, with ticks of 1, 3 and 10, or of 10 alone. */
export function logAxis(low: number, high: number, height: number): Axis {
  const least = Math.max(low, 1e-3);
  const top = Math.max(high, least * 2);
  const [from, to] = [Math.log(least), Math.log(top)];
  const y = (value: number): number => height * (1 - (Math.log(Math.max(value, least)) - from) / (to - from));
  const decades = (to - from) / Math.LN10;
  const leads =
    decades < 0.8 ? [1, 1.5, 2, 3, 4, 5, 7] : decades < 1.5 ? [1, 2, 5] : height / decades > 44 ? [1, 3] : [1];
  const ticks: Tick[] = [];
  for (let power = 10 ** Math.floor(Math.log10(least)); power <= top; power *= 10) {
    for (const at of leads.map((lead) => lead * power)) {
      if (at >= least * (1 - 1e-9) && at <= top)
        ticks.push({ at, text: grouped(at, Math.max(0, -Math.floor(Math.log10(at) + 1e-9))) });
    }
  }
  return { top, ticks, y };
}

/** Returns the ticks of a time axis `width` pixels wide: m:ss; with hours h:mm, or h:mm:ss where that is no whole minute or could be m:ss. */
export function timeTicks(from: number, to: number, width: number, withHours = to >= 3600): Tick[] {
  const least = ((to - from) * 76) / Math.max(width, 1);
  const step = TIME_STEPS.find((step) => step >= least) ?? Math.ceil(least / 86400) * 86400;
  const ticks: Tick[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    ticks.push({ at, text: to >= 3600 && step % 60 === 0 ? hours(at) : stamp(at, withHours) });
  }
  return ticks;
}

function hours(second: number): string {
  return `${Math.floor(second / 3600)}:${String(Math.floor(second / 60) % 60).padStart(2, "0")}`;
}

/** Returns the share of a percentile axis on which each nine takes the same room, up to 99.99 %. */
export function nines(percent: number): number {
  return Math.min(-Math.log10(1 - Math.min(percent, 99.99) / 100) / 4, 1);
}

/** Returns where the time axis of a run that grows ends, in seconds: at the next 1, 2 or 5 of its unit. */
export function axisEnd(seconds: number): number {
  const unit = seconds <= 60 ? 1 : seconds <= 3600 ? 60 : 3600;
  let step = unit;
  for (let at = 0; step < seconds; at += 1) step = unit * ([1, 2, 5][at % 3] as number) * 10 ** Math.floor(at / 3);
  return Math.min(Math.max(step, 10), unit < 3600 ? unit * 60 : step);
}
