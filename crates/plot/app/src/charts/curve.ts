// Response time by percentile, on an axis where each nine takes the same room.

import { greatest, least } from "../data/bins";
import { s } from "../dom";
import { ms } from "../format";
import { linePath, type Point, px } from "./paths";
import { type Place, PlainChart } from "./plain";
import { logAxis, nines } from "./scale";

/** Percentiles on the axis, and those that are marked with their times. */
const SHOWN = [50, 90, 95, 99, 99.9, 99.99];
const MARKED = [50, 95, 99, 99.9];

/** Times in ms by percentile, ascending. */
export type Curve = [percent: number, time: number][];

/** The chart of times by percentile. */
export class CurveChart extends PlainChart {
  private curve: Curve = [];

  /** Sets what is drawn. */
  set(curve: Curve): void {
    this.curve = curve;
  }

  protected content(): Place[] {
    const times = this.curve.map(([, time]) => time);
    if (!times.length) {
      this.figure.describe("No successes.");
      return [];
    }
    const axis = logAxis(least(times.filter((time) => time > 0)) * 0.9, greatest(times) * 1.15, this.height);
    const x = (percent: number): number => nines(percent) * this.width;
    this.values(axis);
    this.plot.append(s("path", { class: "base", d: `M0 ${this.height}H${this.width}` }));
    for (const percent of SHOWN) {
      this.plot.append(s("path", { class: "hairline", d: `M${px(x(percent))} 0V${this.height}` }));
      this.below(x(percent), String(percent), percent === 99.99 ? "end" : "middle");
    }
    this.plot.append(
      s("path", { class: "p50", d: linePath(this.curve.map(([percent, time]): Point => [x(percent), axis.y(time)])) }),
    );
    for (const percent of MARKED) {
      const time = this.timeAt(percent);
      if (time === null) continue;
      this.plot.append(
        s("circle", { class: "dot p50", cx: px(x(percent)), cy: px(axis.y(time)), r: 3 }),
        s("text", { class: "mark", x: px(x(percent) - 6), y: px(axis.y(time) - 6), "text-anchor": "end" }, ms(time)),
      );
    }
    this.figure.describe(MARKED.map((percent) => `p${percent} ${ms(this.timeAt(percent))}`).join(", ") + " ms.");
    return this.curve
      .filter(([percent]) => percent <= 99.99)
      .map(([percent, time]) => ({ x: x(percent), words: `p${Number(percent.toFixed(2))}: ${ms(time)} ms` }));
  }

  private timeAt(percent: number): number | null {
    return this.curve.find(([other]) => Math.abs(other - percent) < 1e-6)?.[1] ?? null;
  }
}
