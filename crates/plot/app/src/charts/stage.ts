// Charts over time that share an axis, a window and a cursor.

import { dayTime, stamp } from "../format";
import { type Tick, timeTicks } from "./scale";

/** Seconds, from the first up to the one after the last. */
export interface Window {
  from: number;
  to: number;
}

/** A chart on a stage. */
export interface Panel {
  /** Draws the window again. */
  draw: () => void;
  /** Moves the cursor and shows the values: those of a second, or of the window. */
  point: (second: number | null) => void;
}

/** The room of the axis of values at the left of the charts, and of the lists at their right, in pixels. */
const ROOM = { left: 46, right: 150, narrowLeft: 34, narrowRight: 6 };

/** Below this width of the page's content, lists stand above their charts. */
export const NARROW = 620;

/** From so many seconds on, all times of a run have hours. */
export const HOUR = 3600;

/** The shared time axis. */
export class Stage {
  /** The seconds that are shown. */
  view: Window;
  /** The pixels of the time axis. */
  width = 1;
  left = ROOM.left;
  narrow = false;
  cursor: number | null = null;
  pinned = false;
  /** Called after the reader has pinned the cursor, or let it go. */
  onPinned: (pinned: boolean) => void = () => {};
  private readonly panels: Panel[] = [];
  private readonly listeners: ((second: number | null) => void)[] = [];

  /**
   * `whole` are the seconds of the run that are drawn, `zoom` is called with the window that the reader chose. `clock` is
   * what the clock showed at second 0, in seconds since midnight, if the time axis shows it.
   */
  constructor(
    readonly whole: Window,
    readonly zoom: (window: Window) => void,
    private readonly clock: number | null = null,
  ) {
    this.view = whole;
  }

  /** Adds a chart. */
  add(...panels: Panel[]): void {
    this.panels.push(...panels);
  }

  /** Calls a function whenever the cursor moves. */
  watch(listener: (second: number | null) => void): void {
    this.listeners.push(listener);
  }

  /** Sets the width of the content; what is shown next is drawn into it. */
  fit(content: number): void {
    this.narrow = content < NARROW;
    this.left = this.narrow ? ROOM.narrowLeft : ROOM.left;
    this.width = Math.max(content - this.left - (this.narrow ? ROOM.narrowRight : ROOM.right), 60);
  }

  /** Shows other seconds. A cursor beyond them is put away. */
  show(view: Window): void {
    this.view = view;
    if (this.cursor !== null && (this.cursor < view.from || this.cursor >= view.to))
      [this.cursor, this.pinned] = [null, false];
    for (const panel of this.panels) panel.draw();
    this.showValues();
  }

  /** Returns where a second begins, in pixels from the left of the time axis. */
  x(second: number): number {
    return (this.width * (second - this.view.from)) / (this.view.to - this.view.from);
  }

  /** Returns where a second begins, not beyond the axis. */
  inside(second: number): number {
    return Math.min(Math.max(this.x(second), 0), this.width);
  }

  /** Returns a second as the time axis shows it. */
  stamp(second: number): string {
    return this.clock === null ? stamp(second, this.whole.to >= HOUR) : dayTime(this.clock + second);
  }

  /** Returns the ticks of the time axis. */
  ticks(): Tick[] {
    const { clock, width } = this;
    const { from, to } = this.view;
    if (clock === null) return timeTicks(from, to, width, this.whole.to >= HOUR);
    return timeTicks(clock + from, clock + to, width).map(({ at }) => ({ at: at - clock, text: dayTime(at) }));
  }

  /** Returns the second at a place, as a fraction. */
  secondAt(x: number): number {
    return this.view.from + ((this.view.to - this.view.from) * Math.min(Math.max(x, 0), this.width)) / this.width;
  }

  /** Moves the cursor to a second, or puts it away. */
  point(second: number | null): void {
    const next = second === null ? null : Math.min(Math.max(Math.floor(second), this.view.from), this.view.to - 1);
    if (next === this.cursor) return;
    this.cursor = next;
    this.showValues();
  }

  private showValues(): void {
    for (const panel of this.panels) panel.point(this.cursor);
    for (const listener of this.listeners) listener(this.cursor);
  }
}
