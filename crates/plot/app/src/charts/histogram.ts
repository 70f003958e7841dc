// The distribution of response times: bars of equal width, and one for all that lie beyond.

import { greatest } from "../data/bins";
import type { Bars } from "../data/cells";
import { s } from "../dom";
import { count, failurePercent, ms } from "../format";
import { barPath, px } from "./paths";
import { type Place, PlainChart } from "./plain";
import { roundStep, ticksUpTo, valueAxis } from "./scale";

/** The room for the bar of what lies beyond, and its width, in pixels. */
const BEYOND = { room: 64, width: 20 };

/** A percentile that is marked. */
export interface Mark {
  name: string;
  value: number | null;
}

/** The chart of the distribution. */
export class HistogramChart extends PlainChart {
  /** The class that gives the bars their colour. */
  look = "load-4";
  private bars: Bars = { width: 1, counts: [], beyond: 0 };
  private marks: Mark[] = [];

  /** Sets what is drawn. */
  set(bars: Bars, marks: Mark[]): void {
    [this.bars, this.marks] = [bars, marks];
  }

  protected content(): Place[] {
    const { width, counts, beyond } = this.bars;
    const upper = width * counts.length;
    if (!counts.length) {
      this.figure.describe("No requests.");
      return [];
    }
    const inner = this.width - (beyond > 0 ? BEYOND.room : 0);
    const x = (time: number): number => (inner * time) / upper;
    const axis = valueAxis(greatest([...counts, beyond]), this.height, true);
    this.values(axis);
    const gap = x(width) > 5 ? 0.5 : 0;
    // What is there is seen, be it one of thousands.
    const top = (number: number): number => Math.min(axis.y(number), this.height - 1);
    this.plot.append(
      s("path", {
        class: this.look,
        d: counts
          .map((number, at) =>
            number > 0 ? barPath(x(at * width) + gap, x((at + 1) * width) - gap, top(number), this.height) : "",
          )
          .join(""),
      }),
    );
    for (const { at, text } of ticksUpTo(upper, roundStep(upper, 4))) {
      if (beyond > 0 && x(at) > inner - 8) continue;
      this.below(x(at), text);
    }
    const right = this.width - BEYOND.width / 2 - 6;
    if (beyond > 0) {
      this.plot.append(
        s("path", {
          class: "load-2",
          d: barPath(right - BEYOND.width / 2, right + BEYOND.width / 2, top(beyond), this.height),
        }),
        s("text", { class: "tick", x: this.width, y: px(top(beyond) - 5), "text-anchor": "end" }, count(beyond)),
      );
      this.below(this.width, `over ${ms(upper)}`, "end");
    }
    this.marks.forEach(({ name, value }, at) => {
      if (value === null || value > upper) return;
      // The first name stands left of its line, so that names do not meet.
      const left = at === 0 && x(value) > 38;
      this.plot.append(
        s("path", { class: "mark-line", d: `M${px(x(value))} -14V${this.height}` }),
        s(
          "text",
          { class: "mark-name", x: px(x(value) + (left ? -4 : 4)), y: -5, "text-anchor": left ? "end" : "start" },
          `${name} ${ms(value)}`,
        ),
      );
    });
    const all = counts.reduce((sum, number) => sum + number, beyond);
    const share = (number: number): string => `${count(number)} requests, ${failurePercent((100 * number) / all)} %`;
    this.figure.describe(
      `${count(all)} requests; most take about ${ms((counts.indexOf(greatest(counts)) + 0.5) * width)} ms.`,
    );
    const places = counts.map((number, at) => ({
      x: x((at + 0.5) * width),
      words: `${ms(at * width)} to ${ms((at + 1) * width)} ms: ${share(number)}`,
    }));
    return beyond > 0 ? [...places, { x: right, words: `over ${ms(upper)} ms: ${share(beyond)}` }] : places;
  }
}
