// The versions that all charts of a trend share: their places, the cursor, and how far the charts are scrolled.

import type { FrameworkTrend } from "../types";
import { type Places, placed } from "./axis";
import { shortName } from "./figures";

/** The room at the left for the axis of values, and at the right for the lists, in pixels. */
const LEFT = 46;
const LIST = 164;
/** The width of a letter in the lists, and the room beside a name: margin and value. */
const LETTER = 6.3;
const BESIDE_NAME = 64;
const NARROW_LEFT = 40;
const NARROW_RIGHT = 8;

/** Below this width of the content, lists stand above their charts. */
const NARROW = 620;
/** On phones charts are at least so wide, and a version takes so much room: the rest is scrolled. */
const LEAST_WIDTH = 300;
const LEAST_STEP = 12;
/** From so many versions on, a version on a phone takes less room. */
const MANY = 60;
const MANY_STEP = 6;

/** A chart on the stage. */
export interface Panel {
  draw: () => void;
  /** Moves the cursor to a version, or puts it away. */
  point: (version: number | null) => void;
  /** Shows the charts from a place on. */
  scroll: (left: number) => void;
}

export class TrendStage {
  width = 1;
  left = LEFT;
  narrow = false;
  /** The width in which the charts are seen; less than they have where they scroll. */
  seen = 1;
  places: Places = { xs: [], borders: [], step: 1 };
  cursor: number | null = null;
  pinned = false;
  scrolled = 0;
  private drawn = false;
  readonly panels: Panel[] = [];
  private readonly listeners: ((version: number | null) => void)[] = [];

  constructor(
    readonly trend: FrameworkTrend,
    readonly byDate: boolean,
    /** Called with a version that the reader opens. */
    readonly open: (version: number) => void,
    /** Called with the version that is pinned, or null. */
    readonly pin: (version: number | null) => void,
  ) {}

  /** The width of the lists, by their longest names. */
  get list(): number {
    const longest = Math.max(0, ...this.trend.versions.map(({ name }) => `level since ${shortName(name)}`.length));
    return Math.max(LIST, BESIDE_NAME + longest * LETTER);
  }

  get times(): number[] {
    return this.trend.versions.map(({ t0 }) => t0);
  }

  /** Calls a function whenever the cursor moves. */
  watch(listener: (version: number | null) => void): void {
    this.listeners.push(listener);
  }

  /** Draws all charts into a width. On paper nothing scrolls. */
  fit(content: number, paper = false): void {
    const number = this.trend.versions.length;
    // The newest versions are seen first; after that what was seen stays.
    const beyond = Math.max(0, this.whole - this.seen) - this.scrolled;
    this.narrow = content < NARROW && !paper;
    this.left = this.narrow ? NARROW_LEFT : LEFT;
    const room = content - this.left - (this.narrow ? NARROW_RIGHT : this.list);
    this.seen = Math.max(room + this.left + (this.narrow ? NARROW_RIGHT : 0), 60);
    const step = number > MANY ? MANY_STEP : LEAST_STEP;
    this.width = this.narrow ? Math.max(LEAST_WIDTH - this.left - NARROW_RIGHT, room, number * step) : Math.max(room, 120);
    this.places = placed(this.times, this.width, this.byDate);
    for (const panel of this.panels) panel.draw();
    this.scroll(this.whole - this.seen - (this.drawn ? beyond : 0));
    this.drawn = true;
    this.reveal();
    this.showValues();
  }

  /** The width of a drawing, the room of its axis with it. */
  get whole(): number {
    return this.left + this.width + (this.narrow ? NARROW_RIGHT : 0);
  }

  /** Scrolls all charts to a place. */
  scroll(left: number): void {
    const most = Math.max(0, this.whole - this.seen);
    this.scrolled = Math.min(Math.max(left, 0), most);
    for (const panel of this.panels) panel.scroll(this.scrolled);
  }

  /** The version nearest to a place of the plots. */
  nearest(x: number): number | null {
    const { xs } = this.places;
    if (xs.length === 0) return null;
    return xs.reduce((best, place, at) => (Math.abs(place - x) < Math.abs((xs[best] ?? 0) - x) ? at : best), 0);
  }

  /** Moves the cursor to a version, or puts it away. */
  point(version: number | null): void {
    if (version === this.cursor) return;
    this.cursor = version;
    this.showValues();
  }

  /** Moves the cursor by versions, and keeps it there. */
  step(by: number): void {
    const last = this.trend.versions.length - 1;
    const now = this.cursor ?? (by > 0 ? -1 : last + 1);
    this.keep(Math.min(last, Math.max(0, now + by)));
  }

  /** Pins the cursor to a version; null lets it go. */
  keep(version: number | null): void {
    this.pinned = version !== null;
    this.point(version);
    this.reveal();
    this.pin(version);
  }

  /** Scrolls so that the cursor is seen. */
  private reveal(): void {
    const x = this.cursor === null ? null : this.places.xs[this.cursor];
    if (x === null || x === undefined) return;
    const EDGE = 24;
    if (x < this.scrolled + EDGE || this.left + x > this.scrolled + this.seen - EDGE) this.scroll(x - (this.seen - this.left) / 2);
  }

  private showValues(): void {
    for (const panel of this.panels) panel.point(this.cursor);
    for (const listener of this.listeners) listener(this.cursor);
  }
}
