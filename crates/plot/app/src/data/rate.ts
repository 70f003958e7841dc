// Seconds by their number of requests.

import { median } from "../measures";
import type { RunData } from "../types";
import { drawnEnd } from "./part";

/** A second with its requests and its times, one for each percentile. */
export interface RatedSecond {
  rate: number;
  values: (number | null)[];
}

/** The seconds with `from` up to `to` requests, and the medians of their times. */
export interface RateStep {
  from: number;
  to: number;
  seconds: number;
  medians: (number | null)[];
}

/** A step has a median of so many seconds at least. */
const LEAST = 2;

/** Returns the seconds that have a time, with their number of requests and their times. A cut second is left out. */
export function ratedSeconds({ head, series }: RunData, from: number, to: number): RatedSecond[] {
  const found: RatedSecond[] = [];
  for (let second = Math.max(from, head.first); second < Math.min(to, drawnEnd(head)); second += 1) {
    const at = second - head.first;
    const values = series.elapsed.map((list) => list[at] ?? null);
    const rate = (series.successes[at] ?? 0) + (series.failures[at] ?? 0);
    if (values.some((value) => value !== null)) found.push({ rate, values });
  }
  return found;
}

/** Gathers seconds into steps of `width` requests, ascending, each with the medians of its times. Single seconds are left out. */
export function rateSteps(seconds: RatedSecond[], width: number): RateStep[] {
  const steps = new Map<number, RatedSecond[]>();
  for (const second of seconds) {
    const step = Math.floor(second.rate / width);
    const own = steps.get(step);
    if (own) own.push(second);
    else steps.set(step, [second]);
  }
  const ordered = [...steps].sort(([a], [b]) => a - b).filter(([, own]) => own.length >= LEAST);
  return ordered.map(([step, own]) => ({
    from: step * width,
    to: (step + 1) * width,
    seconds: own.length,
    medians: medians(own),
  }));
}

function medians(seconds: RatedSecond[]): (number | null)[] {
  return (seconds[0]?.values ?? []).map((_, at) => median(seconds.flatMap(({ values }) => values[at] ?? [])));
}
