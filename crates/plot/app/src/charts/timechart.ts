// What all charts over time have in common: axes, phases, the cursor.

import { replace, s } from "../dom";
import type { DataTable } from "./export";
import { Figure } from "./figure";
import { gestures } from "./gestures";
import { px } from "./paths";
import type { Axis } from "./scale";
import type { Panel, Stage } from "./stage";

/** What each chart over time draws. */
export interface TimeOptions {
  file: string;
  title: string;
  note?: string;
  /** The height of the plot in pixels, and the room above and below it. */
  height: number;
  above: number;
  below: number;
  /** True for the chart that has the time axis. */
  axis: boolean;
  /** The first seconds of phases. */
  phases: number[];
}

/** The room of the time axis below a plot, in pixels. */
export const AXIS_ROOM = 22;

/** A chart over time. */
export abstract class TimeChart implements Panel {
  readonly figure: Figure;
  /** Where the content is drawn: its origin is the upper left corner of the plot. */
  protected readonly plot = s("g");
  protected readonly cursor = s("g", { class: "cursor", "data-cursor": true });
  protected readonly height: number;

  constructor(
    protected readonly stage: Stage,
    protected readonly options: TimeOptions,
  ) {
    this.height = options.height;
    const whole = options.above + options.height + options.below + (options.axis ? AXIS_ROOM : 0);
    this.figure = new Figure({
      ...options,
      height: whole,
      alone: () => {
        if (options.axis) return () => {};
        this.figure.svg.setAttribute("height", String(whole + AXIS_ROOM));
        this.timeAxis();
        return () => {
          this.figure.svg.setAttribute("height", String(whole));
          this.draw();
        };
      },
      exact: () => this.table(1),
      drawn: () => this.table(this.bin()),
    });
    this.figure.svg.append(this.plot, this.cursor);
    gestures(this.figure.svg, stage, options.above, options.height);
  }

  /** Draws the content of the plot. */
  protected abstract content(): void;

  /** Returns the values of a second, or of the window, for the list. */
  protected abstract valuesAt(second: number | null): string[];

  /** Returns the values in columns of `bin` seconds. */
  protected abstract table(bin: number): DataTable;

  /** Returns the seconds in a column as drawn. */
  protected abstract bin(): number;

  /** Returns where the cursor marks values, in pixels from the top of the plot. */
  protected dots(_second: number): { y: number; look: string }[] {
    return [];
  }

  draw(): void {
    const { svg } = this.figure;
    svg.setAttribute("width", String(this.stage.left + this.stage.width));
    const at = `translate(${this.stage.left} ${this.options.above})`;
    this.plot.setAttribute("transform", at);
    this.cursor.setAttribute("transform", at);
    replace(this.plot);
    this.content();
    for (const phase of this.options.phases) {
      const x = px(this.stage.x(phase));
      if (x > 0 && x < this.stage.width)
        this.plot.append(s("path", { class: "phase", d: `M${x} ${-Math.min(this.options.above, 4)}V${this.height}` }));
    }
    if (this.options.axis) this.timeAxis();
    this.figure.refresh();
  }

  point(second: number | null): void {
    this.figure.showValues(this.valuesAt(second));
    replace(this.cursor);
    if (second === null) return;
    const x = px(this.stage.x(second + 0.5));
    const bottom = this.height + this.options.below;
    this.cursor.append(s("path", { class: "cursor-line", d: `M${x} ${-Math.min(this.options.above, 6)}V${bottom}` }));
    for (const { y, look } of this.dots(second))
      this.cursor.append(s("circle", { class: look, cx: x, cy: px(y), r: 3 }));
    if (!this.options.axis) return;
    const text = this.stage.stamp(second);
    const width = text.length * 7 + 10;
    const left = Math.min(Math.max(x - width / 2, -this.stage.left), this.stage.width - width + 4);
    this.cursor.append(
      s("rect", { class: "cursor-tag", x: px(left), y: bottom + 2, width, height: 16, rx: 3 }),
      s("text", { class: "cursor-time", x: px(left + width / 2), y: bottom + 14, "text-anchor": "middle" }, text),
    );
  }

  /** Draws the axis of values with its hairlines. */
  protected values(axis: Axis): void {
    for (const { at, text } of axis.ticks) {
      const y = px(axis.y(at));
      this.plot.append(s("path", { class: at === 0 ? "base" : "hairline", d: `M0 ${y}H${this.stage.width}` }));
      this.plot.append(s("text", { class: "tick", x: -7, y: y + 4, "text-anchor": "end" }, text));
    }
  }

  private timeAxis(): void {
    const bottom = this.height + this.options.below;
    for (const { at, text } of this.stage.ticks()) {
      const x = px(this.stage.x(at));
      // A text at the end of the axis ends there.
      const last = x > this.stage.width - 16;
      this.plot.append(s("path", { class: "tick-mark", d: `M${x} ${bottom}v4` }));
      this.plot.append(
        s(
          "text",
          { class: "tick", x: last ? this.stage.width : x, y: bottom + 15, "text-anchor": last ? "end" : "middle" },
          text,
        ),
      );
    }
  }
}
