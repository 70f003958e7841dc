// Other values over time, each a line: CPU, the server's series, waits, traffic.

import { columns, columnWidth, greatest, spread, type Values } from "../data/bins";
import { s } from "../dom";
import { rate } from "../format";
import type { DataTable } from "./export";
import { lineKey } from "./keys";
import { linePath, type Point, px } from "./paths";
import { valueAxis } from "./scale";
import type { Stage } from "./stage";
import { TimeChart, type TimeOptions } from "./timechart";

/** A line of a chart. */
export interface Line {
  name: string;
  values: Values;
  /** The class that gives its colour. */
  look: string;
}

/** What the chart draws. */
export interface LinesOptions extends TimeOptions {
  lines: Line[];
  /** A level to be compared with, such as one core. It is drawn if the axis reaches it. */
  level?: { name: string; value: number };
  /** Writes a value; as a rate if absent. */
  text?: (value: number | null) => string;
  /** The values of the window; the means of its seconds if absent. Null if they are not known: the chart says that it shows such means. */
  figures?: () => (number | null)[] | null;
}

/** The least width of a column in pixels. */
const STEP = 2.5;

/** A chart of lines. */
export class LinesChart extends TimeChart {
  private axis = valueAxis(1, 1);

  constructor(
    stage: Stage,
    protected override readonly options: LinesOptions,
  ) {
    super(stage, options);
    this.figure.name([
      ...options.lines.map(({ name, look }) => ({ name, key: lineKey(look) })),
      ...(options.level ? [{ name: options.level.name, key: lineKey("level"), quiet: true }] : []),
    ]);
  }

  protected bin(): number {
    const { from, to } = this.stage.view;
    return columnWidth(from, to, this.stage.width / STEP);
  }

  /** Says where the values of the window are means of its seconds, and not those of its requests. */
  private name(): void {
    const note = [this.options.note, this.options.figures?.() === null ? "means of the seconds" : ""].filter(Boolean).join("; ");
    this.figure.retitle(this.options.title, note);
  }

  protected content(): void {
    this.name();
    const { from, to } = this.stage.view;
    const drawn = this.options.lines.map((line) => ({ line, found: columns(line.values, from, to, this.bin()) }));
    this.axis = valueAxis(greatest(drawn.flatMap(({ found }) => found.map(({ max }) => max))), this.height);
    this.values(this.axis);
    const { level } = this.options;
    if (level && level.value <= this.axis.top)
      this.plot.append(s("path", { class: "level", d: `M0 ${px(this.axis.y(level.value))}H${this.stage.width}` }));
    for (const { line, found } of drawn) {
      const points: Point[] = [];
      let risers = "";
      found.forEach(({ start, end, mean, min, max }, at) => {
        if (at > 0 && found[at - 1]?.end !== start) points.push(null);
        const x = (this.stage.inside(start) + this.stage.inside(end)) / 2;
        points.push([x, this.axis.y(mean)]);
        if (max > min) risers += `M${px(x)} ${px(this.axis.y(min))}V${px(this.axis.y(max))}`;
      });
      this.plot.append(
        s("path", { class: "extreme", d: risers }),
        s("path", { class: line.look, d: linePath(points) }),
      );
    }
    const [first] = drawn;
    if (!first?.found.length) return this.figure.describe("No values.");
    const [least, most] = [
      first.found.reduce((a, b) => (b.min < a.min ? b : a)),
      first.found.reduce((a, b) => (b.max > a.max ? b : a)),
    ];
    this.figure.describe(
      `${first.line.name}: least ${rate(least.min)} at ${this.stage.stamp(least.start)}, greatest ${rate(most.max)} at ${this.stage.stamp(most.start)}.`,
    );
  }

  private at(second: number): (number | null)[] {
    return this.options.lines.map(
      ({ values }) => values.list[Math.floor((second - values.first) / values.width)] ?? null,
    );
  }

  protected valuesAt(second: number | null): string[] {
    const values = second === null ? (this.options.figures?.() ?? this.means()) : this.at(second);
    const text = this.options.text ?? ((value: number | null) => rate(value));
    return [...values.map(text), ...(this.options.level ? [rate(this.options.level.value)] : [])];
  }

  private means(): (number | null)[] {
    const { from, to } = this.stage.view;
    return this.options.lines.map(
      ({ values: { first, width, list } }) =>
        spread(list, Math.floor((from - first) / width), Math.ceil((to - first) / width))?.mean ?? null,
    );
  }

  protected override dots(second: number): { y: number; look: string }[] {
    return this.at(second).flatMap((value, at) =>
      value === null ? [] : { y: this.axis.y(value), look: `dot ${this.options.lines[at]?.look ?? ""}` },
    );
  }

  protected table(bin: number): DataTable {
    const { from, to } = this.stage.view;
    const found = this.options.lines.map(
      ({ values }) => new Map(columns(values, from, to, bin).map(({ start, mean }) => [start, mean])),
    );
    const starts = [...new Set(found.flatMap((column) => [...column.keys()]))].sort((a, b) => a - b);
    return {
      columns: ["second", ...this.options.lines.map(({ name }) => name)],
      rows: starts.map((start) => [
        bin === 1 ? start : this.stage.stamp(start),
        ...found.map((column) => column.get(start) ?? null),
      ]),
    };
  }
}
