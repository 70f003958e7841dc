// Values by load or by rate: a line through the steps, with the spread of each.

import { greatest } from "../data/bins";
import { s } from "../dom";
import { rate } from "../format";
import { spaced } from "./leaders";
import { linePath, type Point, px } from "./paths";
import { type Place, PlainChart } from "./plain";
import { loadText } from "./requests";
import { roundStep, ticksUpTo, valueAxis } from "./scale";

/** A line through steps. */
export interface StepLine {
  name: string;
  look: string;
  values: (number | null)[];
  /** The standard deviation of each value. */
  spread?: (number | null)[];
}

/** What is drawn: the places on the horizontal axis, the lines, and a place that is marked with a text. */
export interface Steps {
  at: number[];
  /** What stands on the horizontal axis, such as "threads". */
  unit: string;
  lines: StepLine[];
  mark: { at: number; text: string } | null;
}

/** The room between names at the ends of lines in pixels. */
const NAMES = 12;

/** The chart of values by step. */
export class StepsChart extends PlainChart {
  private steps: Steps = { at: [], unit: "", lines: [], mark: null };

  /** Sets what is drawn. */
  set(steps: Steps): void {
    this.steps = steps;
  }

  protected content(): Place[] {
    const { at, unit, lines, mark } = this.steps;
    const reach = lines.flatMap(({ values, spread }) =>
      values.map((value, step) => (value === null ? null : value + (spread?.[step] ?? 0))),
    );
    const axis = valueAxis(greatest(reach), this.height);
    const most = greatest(at) || 1;
    const x = (place: number): number => (this.width * place) / (most * 1.04);
    this.values(axis);
    const ticks = ticksUpTo(most, roundStep(most, Math.max(Math.floor(this.width / 70), 2)));
    ticks.forEach(({ at, text }, tick) => this.below(x(at), tick === ticks.length - 1 ? `${text} ${unit}` : text));
    if (mark) {
      const place = px(x(mark.at));
      const right = place < this.width / 2;
      this.plot.append(
        s("path", { class: "phase", d: `M${place} 0V${this.height}` }),
        s(
          "text",
          { class: "remark", x: place + (right ? 5 : -5), y: this.height - 7, "text-anchor": right ? "start" : "end" },
          mark.text,
        ),
      );
    }
    const ends: { name: string; y: number }[] = [];
    for (const { name, look, values, spread } of lines) {
      let spreads = "";
      const points = values.map((value, step): Point => {
        if (value === null) return null;
        const [place, y, sd] = [x(at[step] ?? 0), axis.y(value), spread?.[step] ?? 0];
        if (sd > 0) spreads += `M${px(place)} ${px(axis.y(Math.max(value - sd, 0)))}V${px(axis.y(value + sd))}`;
        return [place, y];
      });
      this.plot.append(s("path", { class: "spread", d: spreads }), s("path", { class: look, d: linePath(points) }));
      for (const point of points)
        if (point) this.plot.append(s("circle", { class: `dot ${look}`, cx: px(point[0]), cy: px(point[1]), r: 2.5 }));
      ends.push({ name, y: points.findLast((point) => point !== null)?.[1] ?? this.height });
    }
    if (lines.length > 1) {
      const placed = spaced(
        ends.map(({ y }) => y),
        NAMES,
        0,
        this.height,
      );
      ends.forEach(({ name }, line) =>
        this.plot.append(s("text", { class: "tick", x: px(x(most) + 8), y: px((placed[line] ?? 0) + 4) }, name)),
      );
    }
    const words = (step: number): string => lines.map(({ name, values }) => `${name} ${rate(values[step])}`).join(", ");
    this.figure.describe(at.map((place, step) => `${loadText(place)} ${unit}: ${words(step)}`).join("; "));
    return at.map((place, step) => ({ x: x(place), words: `${loadText(place)} ${unit}: ${words(step)}` }));
  }
}
