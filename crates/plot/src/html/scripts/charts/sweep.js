// Values by load, one point for each load step, with the knee if there is one.
// @ts-check

import { greatest } from "../data/bins.js";
import { measured } from "../data/format.js";
import { px, svg } from "../draw/elements.js";
import { valueAxis } from "../draw/scale.js";
import { PointedChart } from "./pointed.js";

/** @typedef {import("./chart.js").Keyed & { values: (number | null)[], spread?: (number | null)[], unit: string }} StepSeries */
/**
 * @typedef {object} SweepOptions
 * @property {string} heading
 * @property {number} height
 * @property {StepSeries[]} series
 * @property {number[]} loads
 * @property {number | null} knee
 * @property {boolean} beyond true if the sweep begins beyond the knee
 * @property {number | null} [bound] the capacity, if it is to be drawn
 * @property {number | null} [top]
 */

/** @extends {PointedChart<StepSeries>} */
export class SweepChart extends PointedChart {
  /**
   * @param {HTMLElement} host
   * @param {SweepOptions} options
   */
  constructor(host, options) {
    super(host, options);
    this.options = options;
    this.points = options.loads;
    this.load = valueAxis(1, 1);
    this.value = valueAxis(1, 1);
  }

  draw() {
    this.begin();
    const { bound, top: end, knee } = this.options;
    const top = greatest([bound ?? 0, ...this.shown().flatMap(reach)]);
    this.value = valueAxis(top, this.height, { end: end && Math.max(end, top) });
    this.load = valueAxis(greatest(this.points), this.width / 2, { whole: true });
    this.axes(this.load.ticks, (load) => this.x(load), this.value.ticks, this.value.y);
    if (knee !== null) this.mark(knee);
    for (const series of this.shown()) this.one(series);
    if (!(top > 0)) this.say("nothing to draw");
    this.finish();
  }

  /** @param {number} load */
  x(load) {
    return (this.width * load) / this.load.top;
  }

  /**
   * Draws the knee and the two bounds that meet there, with their names. The bound N / R is left out if the sweep begins
   * beyond the knee.
   * @param {number} knee
   */
  mark(knee) {
    const { bound, beyond } = this.options;
    const x = px(this.x(knee));
    if (bound) {
      const y = px(this.value.y(bound));
      const rise = beyond ? "M" : `M0 ${this.height}L`;
      this.plot.append(svg("path", { class: "bounds", d: `${rise}${x} ${y}H${this.width}` }));
      this.label("capacity X", this.width - 6, y - 4, "end");
      if (!beyond && x > 90) this.label("bound N / R", x / 2 - 6, this.value.y(bound / 2) - 4, "end");
    }
    this.plot.append(svg("path", { class: "knee", d: `M${x} 0v${this.height}` }));
    const text = `knee ${beyond ? "at or below" : "at about"} ${measured(knee)} threads`;
    const right = x < this.width / 2;
    this.label(text, x + (right ? 5 : -5), this.height - 7, right ? "knee-name" : "knee-name end");
  }

  /** @param {StepSeries} series */
  one(series) {
    const group = svg("g", { class: "series", "data-series": series.name });
    group.style.color = series.color;
    let path = "";
    series.values.forEach((value, step) => {
      if (value === null) return;
      const [x, y] = [px(this.x(this.points[step])), px(this.value.y(value))];
      const sd = series.spread?.[step];
      const [low, high] = [Math.max(value - (sd ?? 0), 0), value + (sd ?? 0)];
      if (sd) group.append(svg("path", { class: "line thin", d: `M${x} ${px(this.value.y(low))}V${px(this.value.y(high))}` }));
      path += `${step > 0 && series.values[step - 1] !== null ? "L" : "M"}${x} ${y}`;
      group.append(svg("circle", { class: "dot", cx: x, cy: y, r: 2.5 }));
    });
    group.append(svg("path", { class: "line", d: path }));
    this.plot.append(group);
  }

  /** @param {number} at */
  words(at) {
    const told = this.shown().map(({ name, values, unit }) => `${name} ${measured(values[at])}${unit}`);
    return `${measured(this.points[at])} threads: ${told.join(", ")}`;
  }
}

/**
 * Returns how far up each step of a series reaches, its spread included.
 * @param {StepSeries} series
 */
function reach({ values, spread }) {
  return values.map((value, step) => (value ?? 0) + (spread?.[step] ?? 0));
}
