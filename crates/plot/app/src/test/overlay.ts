// A chart with a line for each framework, named at its end.

import { greatest, least } from "../data/bins";
import { s } from "../dom";
import type { DataTable } from "../charts/export";
import { linePath, type Point, px } from "../charts/paths";
import { type Place, PlainChart, ROOM } from "../charts/plain";
import { type Axis, logAxis, nines, roundStep, ticksUpTo, timeTicks, valueAxis } from "../charts/scale";
import { stamp } from "../format";
import { type Look, lookOf, markerPath } from "../slots";

/** What the horizontal axis shows. */
export type Across = "time" | "percentile" | "load";

export interface OverlayLine {
  framework: string;
  /** Its name and look, if they are not those of the framework. */
  name?: string | undefined;
  look?: Look | undefined;
  /** Ascending; an absent value is a gap. */
  points: [x: number, value: number | null][];
  /** The framework's other repeats. */
  others: [x: number, value: number | null][][];
}

export interface OverlayOptions {
  file: string;
  title: string;
  note?: string;
  across: Across;
  text: (value: number | null) => string;
}

const nameOf = ({ name, framework }: OverlayLine): string => name ?? framework;
const lookOfLine = ({ look, framework }: OverlayLine): Look => look ?? lookOf(framework);

const HEIGHT = 176;
/** The least distance of two names. */
const NAME_STEP = 15;
/** The height of a row of the list beside a chart. */
const ROW = 18;
/** The width of a letter of a name, and the room beside the longest: margin, marker and value. */
const LETTER = 6.6;
const BESIDE_NAME = 80;
/** How far leaders reach beyond the plot. */
const LEADER = 36;
/** A line that ends so many pixels before the longest one is shorter. */
const SHORT = 12;
const PERCENTILES = [50, 90, 99, 99.9];
/** The percentile axis ends a little beyond the last mark, where nearly all runs still have requests. */
const LAST_NINES = nines(99.9) * 1.02;

/** Moves names apart that would cover each other: places of the same order, at least a step apart, within a height. */
export function spreadOut(wanted: readonly number[], step: number, height: number): number[] {
  const order = wanted.map((_, at) => at).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const places = [...wanted];
  let least = 0;
  for (const at of order) {
    places[at] = Math.max(places[at] ?? 0, least);
    least = (places[at] ?? 0) + step;
  }
  let most = height;
  for (const at of order.reverse()) {
    places[at] = Math.min(places[at] ?? 0, most);
    most = (places[at] ?? 0) - step;
  }
  return places;
}

/** The values by x, a framework a column. */
function table(lines: readonly OverlayLine[], name: string): DataTable {
  const rows = new Map<number, (number | null)[]>();
  lines.forEach(({ points }, at) => {
    for (const [x, value] of points) {
      const row = rows.get(x) ?? lines.map(() => null);
      row[at] = value;
      rows.set(x, row);
    }
  });
  const sorted = [...rows].sort(([a], [b]) => a - b);
  return { columns: [name, ...lines.map(nameOf)], rows: sorted.map(([x, values]) => [x, ...values]) };
}

const NAMES: Record<Across, string> = { time: "second", percentile: "percentile", load: "load" };

/** The chart of several frameworks. */
export class OverlayChart extends PlainChart {
  private lines: OverlayLine[] = [];
  private phase: number | null = null;

  constructor(private readonly overlay: OverlayOptions) {
    super({ ...overlay, height: HEIGHT, exact: () => table(this.lines, NAMES[overlay.across]) });
    const { svg } = this.figure;
    svg.addEventListener("pointermove", (event) => {
      const plot = this.plot.getBoundingClientRect();
      this.showValues(this.lines.length > 0 ? event.clientX - plot.left : null);
    });
    svg.addEventListener("pointerleave", () => this.showValues(null));
  }

  /** Sets what is drawn, and the second at which the load is held. */
  set(lines: OverlayLine[], phase: number | null = null): void {
    this.lines = lines;
    this.phase = phase;
  }

  /** The width of the longest name with its value, in pixels. */
  listWidth(): number {
    return BESIDE_NAME + LETTER * Math.max(0, ...this.lines.map((line) => nameOf(line).length));
  }

  private most(): number {
    return Math.max(...this.lines.flatMap(({ points }) => points.at(-1)?.[0] ?? 0), 1e-9);
  }

  private x(value: number): number {
    if (this.overlay.across === "percentile") return (this.width * nines(value)) / LAST_NINES;
    return (this.width * value) / (this.overlay.across === "load" ? this.most() * 1.05 : this.most());
  }

  private axis(): Axis {
    const values = this.lines.flatMap(({ points }) => points.flatMap(([x, value]) => (this.x(x) <= this.width + 1 ? (value ?? []) : [])));
    if (this.overlay.across !== "percentile") return valueAxis(greatest(values), this.height);
    return logAxis(least(values.filter((value) => value > 0)) * 0.9, greatest(values) * 1.1, this.height);
  }

  private across(): void {
    const { across } = this.overlay;
    if (across === "percentile") {
      for (const percent of PERCENTILES) {
        this.plot.append(s("path", { class: "hairline", d: `M${px(this.x(percent))} 0V${this.height}` }));
        this.below(this.x(percent), String(percent), percent === 99.9 ? "end" : "middle");
      }
      return;
    }
    const most = this.most();
    const step = roundStep(most, Math.max(2, Math.floor(this.width / 60)));
    const ticks = across === "time" ? timeTicks(0, most, this.width) : ticksUpTo(most, step);
    for (const { at, text } of ticks) this.below(this.x(at), text);
  }

  protected content(): Place[] {
    const drawn = this.lines.filter(({ points }) => points.some(([, value]) => value !== null));
    if (drawn.length === 0) {
      this.figure.describe("No values.");
      return [];
    }
    const axis = this.axis();
    this.values(axis);
    if (this.overlay.across === "percentile") this.plot.append(s("path", { class: "base", d: `M0 ${this.height}H${this.width}` }));
    this.across();
    if (this.phase !== null) this.plot.append(s("path", { class: "phase", d: `M${px(this.x(this.phase))} 0V${this.height}` }));
    const path = (points: OverlayLine["points"]): Point[] =>
      points.filter(([x]) => this.x(x) <= this.width + 1).map(([x, value]) => (value === null ? null : [this.x(x), axis.y(value)]));
    for (const line of drawn)
      for (const other of line.others)
        this.plot.append(s("path", { class: "overlay-thin", d: linePath(path(other)), style: { stroke: lookOfLine(line).color } }));
    // The first of the league is drawn last, above the others.
    const ends = [...drawn].reverse().map((line) => this.line(line, path(line.points)));
    this.names(drawn, ends.reverse());
    const last = drawn.map((line) => `${nameOf(line)} ${this.overlay.text(line.points.findLast(([, value]) => value !== null)?.[1] ?? null)}`);
    this.figure.describe(`At the end: ${last.join(", ")}.`);
    this.showValues(null);
    const longest = drawn.reduce((one, other) => (other.points.length > one.points.length ? other : one));
    return longest.points.filter(([x]) => this.x(x) <= this.width + 1).map(([x]) => ({ x: this.x(x), words: this.words(x) }));
  }

  /** Draws a line with its markers, and returns its end. */
  private line(line: OverlayLine, points: Point[]): [number, number] {
    const look = lookOfLine(line);
    const dash = look.dash || "none";
    const style = { stroke: look.color, "--dash": dash, ...(look.dashed ? { "stroke-dasharray": dash } : {}) };
    this.plot.append(s("path", { class: "overlay-line", d: linePath(points), style }));
    for (const point of this.marked(line, points))
      if (point) this.plot.append(markerPath(look, { class: "overlay-mark", transform: `translate(${px(point[0])} ${px(point[1])}) scale(0.8)` }));
    return points.findLast((point) => point !== null) ?? [0, 0];
  }

  /** The points that bear markers: all of few, those of ticks, or each fifth of the line, offset by the framework. */
  private marked(line: OverlayLine, points: Point[]): Point[] {
    const { across } = this.overlay;
    if (across === "load") return points;
    if (across === "percentile")
      return PERCENTILES.map((percent) => points.find((point) => point !== null && point[0] >= this.x(percent) - 0.5) ?? null);
    const offset = (this.lines.indexOf(line) + 0.5) / this.lines.length;
    return Array.from({ length: 5 }, (_, at) => points[Math.floor(((at + offset) * points.length) / 5)] ?? null);
  }

  /** Places the names at the ends of their lines. */
  private names(drawn: readonly OverlayLine[], ends: readonly [number, number][]): void {
    const places = spreadOut(ends.map(([, y]) => y), NAME_STEP, this.height);
    const last = Math.max(...ends.map(([x]) => x));
    drawn.forEach((line, at) => {
      const [x, y] = ends[at] ?? [0, 0];
      const place = px(places[at] ?? 0);
      const name = nameOf(line);
      // A line that ends early has its end and its name there: a leader across the plot would look like values.
      if (x < last - SHORT)
        this.plot.append(
          s("path", { class: "overlay-end", d: `M${px(x)} ${px(y - 5)}v10`, style: { stroke: lookOfLine(line).color } }),
          x + LETTER * name.length + 8 > this.width
            ? s("text", { class: "mark-name", x: px(x), y: px(y - 8), "text-anchor": "end" }, name)
            : s("text", { class: "mark-name", x: px(x + 5), y: px(y + 4) }, name),
        );
      else this.plot.append(s("path", { class: "leader overlay-leader", d: `M${px(x + 3)} ${px(y)}L${this.width + LEADER - 8} ${place}H${this.width + LEADER}` }));
    });
    const key = (line: OverlayLine): SVGSVGElement =>
      s("svg", { class: "key", width: 11, height: 11, viewBox: "-6 -6 12 12", "aria-hidden": "true" }, markerPath(lookOfLine(line)));
    this.figure.name(drawn.map((line, at) => ({ name: nameOf(line), key: key(line), top: Math.round(ROOM.above + (places[at] ?? 0) - ROW / 2) })));
  }

  private words(x: number): string {
    const { across } = this.overlay;
    return across === "time" ? `at ${stamp(x)}` : across === "percentile" ? `p${Number(x.toFixed(2))}` : `at ${x} threads`;
  }

  /** Tells each framework's value at a place; without one, none. */
  private showValues(place: number | null): void {
    const drawn = this.lines.filter(({ points }) => points.some(([, value]) => value !== null));
    const value = ({ points }: OverlayLine): string => {
      if (place === null) return "";
      const near = points.reduce((one, other) => (Math.abs(this.x(other[0]) - place) < Math.abs(this.x(one[0]) - place) ? other : one));
      return this.overlay.text(near[1]);
    };
    this.figure.showValues(drawn.map(value));
  }
}
