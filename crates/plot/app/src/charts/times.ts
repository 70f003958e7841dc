// Response times over time: p50, p95 and p99 of each column, exact from the counts, the area between p50 and p95.

import { columns, columnWidth, greatest, type Values } from "../data/bins";
import type { Counts } from "../data/counts";
import { PERCENTS } from "../data/part";
import { s } from "../dom";
import { ms, span } from "../format";
import type { DataTable } from "./export";
import { lineKey } from "./keys";
import { spaced } from "./leaders";
import { areaPath, linePath, type Point, px } from "./paths";
import { valueAxis } from "./scale";
import type { Stage } from "./stage";
import { TimeChart, type TimeOptions } from "./timechart";

/** The classes of the lines of p50, p95 and p99. */
const LOOKS = ["p50", "p95", "p99"] as const;

/** The least width of a column in pixels. */
const STEP = 2.5;

/** The axis ends before the greatest values if they exceed what nine of ten columns have by this factor. */
const BEYOND = 2.2;

/** The percentiles of a column of seconds. */
export interface TimesColumn {
  start: number;
  end: number;
  values: (number | null)[];
}

/** Percentiles by column, each computed once. */
export class TimesBySecond {
  private readonly known = new Map<string, TimesColumn[]>();

  constructor(private readonly counts: Counts) {}

  /** The seconds of the counts' columns: no percentiles are known of fewer. */
  get unit(): number {
    return this.counts.width;
  }

  /** Returns the percentiles of columns of `bin` seconds. */
  columns(from: number, to: number, bin: number): TimesColumn[] {
    const key = `${from} ${to} ${bin}`;
    let found = this.known.get(key);
    if (!found) {
      found = [];
      const { first } = this.counts;
      for (let start = first + Math.floor((from - first) / bin) * bin; start < to; start += bin) {
        const [low, high] = [Math.max(start, from), Math.min(start + bin, to)];
        found.push({
          start: low,
          end: high,
          values: this.counts.percentiles(low, high, PERCENTS).map(({ value }) => value),
        });
      }
      // Pages draw a window again and again, but seldom more than the last few.
      if (this.known.size > 8) this.known.clear();
      this.known.set(key, found);
    }
    return found;
  }
}

/** Another line, such as a label's p95. */
export interface TimesOverlay {
  name: string;
  /** The value of the whole run. */
  whole: number | null;
  dash: string;
  values: Values;
}

/** What the chart draws of a run. */
export interface TimesOptions extends TimeOptions {
  times: TimesBySecond;
  /** The percentiles of the window. */
  figures: () => (number | null)[];
}

/** The chart of response times. */
export class TimesChart extends TimeChart {
  private axis = valueAxis(1, 1);
  private overlays: TimesOverlay[] = [];

  constructor(
    stage: Stage,
    protected override readonly options: TimesOptions,
  ) {
    super(stage, options);
    this.names();
  }

  /** Lays other lines over the chart. */
  overlay(lines: TimesOverlay[]): void {
    this.overlays = lines;
    this.names();
    this.draw();
    this.point(this.stage.cursor);
  }

  private names(): void {
    this.figure.name([
      ...[...LOOKS].reverse().map((look) => ({ name: look, key: lineKey(look) })),
      ...this.overlays.map(({ name, dash }) => ({ name: `${name} p95`, key: lineKey("label-line", dash) })),
    ]);
  }

  protected bin(): number {
    const { from, to } = this.stage.view;
    return columnWidth(from, to, this.stage.width / STEP, this.options.times.unit);
  }

  protected content(): void {
    const { from, to } = this.stage.view;
    const bin = this.bin();
    const found = this.options.times.columns(from, to, bin);
    const extremes = this.extremes(found, bin);
    const others = this.overlays.map(({ values }) => columns(values, from, to, bin));
    this.axis = valueAxis(
      Math.max(reach(found, extremes), greatest(others.flatMap((line) => line.map(({ mean }) => mean)))),
      this.height,
    );
    if (!found.some(({ values }) => values[0] !== null)) {
      this.plot.append(
        s("path", { class: "base", d: `M0 ${this.height}H${this.stage.width}` }),
        s(
          "text",
          { class: "remark", x: this.stage.width / 2, y: this.height / 2, "text-anchor": "middle" },
          "No request succeeded.",
        ),
      );
      return this.figure.describe("No request succeeded.");
    }
    this.values(this.axis);
    const lines = LOOKS.map((_, line) =>
      found.map(({ start, end, values }): Point => {
        const value = values[line];
        return value === null || value === undefined
          ? null
          : [(this.stage.inside(start) + this.stage.inside(end)) / 2, this.axis.y(value)];
      }),
    ) as [Point[], Point[], Point[]];
    this.plot.append(s("path", { class: "between", d: areaPath(lines[1], lines[0]) }));
    if (bin > this.options.times.unit)
      this.plot.append(s("path", { class: "extreme", d: this.risers(lines[2], extremes) }));
    for (const line of [2, 1, 0]) this.plot.append(s("path", { class: LOOKS[line], d: linePath(lines[line] ?? []) }));
    const overlaid = others.map((line) =>
      line.map(({ start, end, mean }): Point => [(this.stage.inside(start) + this.stage.inside(end)) / 2, this.axis.y(mean)]),
    );
    overlaid.forEach((points, at) =>
      this.plot.append(s("path", { class: "label-line", "stroke-dasharray": this.overlays[at]?.dash ?? null, d: linePath(points) })),
    );
    const ends = overlaid.map((points): [number, number] => points.at(-1) ?? [0, 0]);
    spaced(ends.map(([, y]) => y - 4), 12, 8, this.height).forEach((y, at) =>
      this.plot.append(s("text", { class: "mark-name", x: px(ends[at]?.[0] ?? 0), y: px(y), "text-anchor": "end" }, this.overlays[at]?.name)),
    );
    this.beyond(found, extremes);
    this.figure.retitle(
      this.options.title,
      [
        this.options.note,
        bin > 1 ? `each ${span(bin)}${bin > this.options.times.unit ? ", thin up to its greatest p99" : ""}` : "",
      ]
        .filter(Boolean)
        .join("; "),
    );
    this.say(found);
  }

  /** Returns the greatest p99 of the seconds in each column. */
  private extremes(found: TimesColumn[], bin: number): (number | null)[] {
    const { times } = this.options;
    const { from, to } = this.stage.view;
    if (bin <= times.unit) return found.map(({ values }) => values[2] ?? null);
    const most = new Map<number, number>();
    const first = found[0]?.end ?? from;
    for (const { start, values } of times.columns(from, to, times.unit)) {
      const column = start < first ? 0 : 1 + Math.floor((start - first) / bin);
      most.set(column, Math.max(most.get(column) ?? 0, values[2] ?? 0));
    }
    return found.map((_, at) => most.get(at) || null);
  }

  private risers(line: Point[], extremes: (number | null)[]): string {
    return line
      .map((point, at) =>
        point && extremes[at] ? `M${px(point[0])} ${px(point[1])}V${px(this.axis.y(extremes[at] ?? 0))}` : "",
      )
      .join("");
  }

  /** Marks the columns whose values are beyond the axis, and says how many and how far. */
  private beyond(found: TimesColumn[], extremes: (number | null)[]): void {
    const over = found.filter((_, at) => (extremes[at] ?? 0) > this.axis.top * (1 + 1e-9));
    if (!over.length) return;
    const middle = ({ start, end }: TimesColumn): number => (this.stage.x(start) + this.stage.x(end)) / 2;
    let [marks, last] = ["", -Infinity];
    for (const column of over) {
      const x = middle(column);
      if (x - last < 7) continue;
      marks += `M${px(x - 3)} 1l3 -5l3 5z`;
      last = x;
    }
    const most = greatest(extremes);
    const spanned = over.reduce((sum, { start, end }) => sum + end - start, 0);
    const text = `▲ beyond the axis: p99 to ${ms(most)} ms in ${span(spanned)}`;
    const half = text.length * 3;
    const x = Math.min(Math.max(middle(over[0] as TimesColumn), half), this.stage.width - half);
    this.plot.append(
      s("path", { class: "beyond", d: marks }),
      s("text", { class: "remark", x: px(x), y: -7, "text-anchor": "middle" }, text),
    );
  }

  private say(found: TimesColumn[]): void {
    const known = found.filter(({ values }) => typeof values[1] === "number");
    const of = ({ values }: TimesColumn): number => values[1] ?? 0;
    const [least, most] = [
      known.reduce((a, b) => (of(b) < of(a) ? b : a)),
      known.reduce((a, b) => (of(b) > of(a) ? b : a)),
    ];
    this.figure.describe(
      `p95 in ms: least ${ms(of(least))} at ${this.stage.stamp(least.start)}, greatest ${ms(of(most))} at ${this.stage.stamp(most.start)}.`,
    );
  }

  private at(second: number): (number | null)[] {
    const { from, to } = this.stage.view;
    return (
      this.options.times.columns(from, to, this.bin()).find(({ start, end }) => start <= second && second < end)
        ?.values ?? []
    );
  }

  protected valuesAt(second: number | null): string[] {
    const values = second === null ? this.options.figures() : this.at(second);
    const { view, whole } = this.stage;
    const all = view.from === whole.from && view.to === whole.to;
    const others = this.overlays.map(({ whole, values: { first, width, list } }) =>
      second !== null ? (list[Math.floor((second - first) / width)] ?? null) : all ? whole : null,
    );
    return [...LOOKS.map((_, at) => ms(values[at])).reverse(), ...others.map((value) => ms(value))];
  }

  protected override dots(second: number): { y: number; look: string }[] {
    return this.at(second).flatMap((value, at) =>
      value === null ? [] : { y: this.axis.y(value), look: `dot ${LOOKS[at] ?? ""}` },
    );
  }

  protected table(bin: number): DataTable {
    const { from, to } = this.stage.view;
    const width = Math.max(bin, this.options.times.unit);
    const rows = this.options.times
      .columns(from, to, width)
      .map(({ start, values }) => [width === 1 ? start : this.stage.stamp(start), ...values]);
    return { columns: ["second", "p50 ms", "p95 ms", "p99 ms"], rows };
  }
}

/** Returns how far up the axis has to reach: not to a few extremes, which would flatten all others. */
function reach(found: TimesColumn[], extremes: (number | null)[]): number {
  const sorted = extremes.filter((value) => value !== null).sort((a, b) => a - b);
  const [most, usual] = [sorted.at(-1) ?? 0, sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 0];
  const medians = found.reduce((top, { values }) => Math.max(top, values[0] ?? 0), 0);
  return most > BEYOND * usual ? Math.min(Math.max(usual * 1.15, Math.min(medians, usual * BEYOND)), most) : most;
}
