// A run as its page needs it: its seconds, its windows, and the figures of each.

import type { Values } from "../data/bins";
import { greatest } from "../data/bins";
import { Counts } from "../data/counts";
import { drawnEnd, type PartFigures, partFigures } from "../data/part";
import { HOUR, type Window } from "../charts/stage";
import { stamp } from "../format";
import { TimesBySecond } from "../charts/times";
import type { RunData, RunRow } from "../types";

/** The window that a fragment names; without seconds, the whole run. */
export interface RunState {
  from?: number;
  to?: number;
}

/** A part of the run with a name of its own. */
export interface Phase extends Window {
  name: string;
}

/** A run, its counts unpacked. */
export class Run {
  readonly counts: Counts;
  readonly times: TimesBySecond;
  /** The seconds that are drawn: a cut one at the end is left out. */
  readonly drawn: Window;
  /** The phases of at least a second. */
  readonly phases: Phase[];
  readonly whole: PartFigures;
  /** The greatest load of a second; null if none is known. */
  readonly mostLoad: number | null;
  readonly hasCpu: boolean;

  constructor(
    readonly row: RunRow,
    readonly data: RunData,
  ) {
    const { head, series, detail } = data;
    this.counts = new Counts(detail.heat, head.first);
    this.times = new TimesBySecond(this.counts);
    this.drawn = { from: head.first, to: drawnEnd(head) };
    this.phases = head.parts.filter(({ name, duration }) => name !== "whole" && duration >= 1);
    this.whole = this.figures(null);
    const most = greatest(series.load.slice(0, this.drawn.to - head.first));
    this.mostLoad = most > 0 ? most : null;
    this.hasCpu = series.cpu.some((value) => value !== null);
  }

  /** Returns a second as text: in a run of hours, all have hours. */
  stamp(second: number): string {
    return stamp(second, this.drawn.to >= HOUR);
  }

  /** Returns values by second. */
  bySecond(list: (number | null)[]): Values {
    return { first: this.data.head.first, width: 1, list };
  }

  /**
   * Returns the window of a state, limited to the run; null for the whole run. Unless it is a phase, it is widened to
   * the columns of the counts, so that all its figures are of the same seconds.
   */
  windowOf({ from, to }: RunState): Window | null {
    if (from === undefined && to === undefined) return null;
    const { first, seconds } = this.data.head;
    const end = first + seconds;
    const begin = Math.min(Math.max(Math.floor(from ?? first), first), this.drawn.to - 1);
    const stop = Math.min(Math.max(Math.ceil(to ?? end), begin + 1), end);
    if (begin === first && stop >= this.drawn.to) return null;
    if (this.phaseOf({ from: begin, to: stop })) return { from: begin, to: stop };
    const unit = this.counts.width;
    const low = first + Math.floor((begin - first) / unit) * unit;
    const high = Math.min(first + Math.ceil((stop - first) / unit) * unit, end);
    return low === first && high >= this.drawn.to ? null : { from: low, to: high };
  }

  /** Returns the phase that a window is. */
  phaseOf(window: Window | null): Phase | null {
    return this.phases.find(({ from, to }) => from === window?.from && to === window.to) ?? null;
  }

  /** Returns the seconds of a window that are drawn. */
  drawnOf(window: Window | null): Window {
    if (!window) return this.drawn;
    return { from: window.from, to: Math.max(Math.min(window.to, this.drawn.to), window.from + 1) };
  }

  /** Returns the figures of a window; of the whole run without one. */
  figures(window: Window | null): PartFigures {
    const { first, seconds } = this.data.head;
    const found = partFigures(this.row, this.data, this.counts, window?.from ?? first, window?.to ?? first + seconds);
    if (!found) throw new RangeError("a run has a second at least");
    return found;
  }
}
