// The distribution of elapsed times: a bar for each bin, and one for all that lies beyond.
// @ts-check

import { greatest } from "../data/bins.js";
import { counted, measured, percent } from "../data/format.js";
import { px, svg } from "../draw/elements.js";
import { roundStep, valueAxis } from "../draw/scale.js";
import { PointedChart } from "./pointed.js";

/** @typedef {import("../types").Distribution} Distribution */
/** @typedef {import("./chart.js").Keyed} Keyed */

/** The room for the bar of what lies beyond, and its width, in pixels. */
const BEYOND = { room: 56, width: 18 };

/** The least distance between two labels of the axis, in pixels. */
const LABEL_ROOM = 70;

/** @extends {PointedChart<Keyed>} */
export class HistogramChart extends PointedChart {
  /**
   * @param {HTMLElement} host
   * @param {{ heading: string, height: number, series: Keyed[], found: Distribution }} options
   */
  constructor(host, options) {
    super(host, options);
    const { first, width, counts, beyond } = options.found;
    this.found = options.found;
    this.upper = first + width * counts.length;
    this.all = beyond > 0 ? [...counts, beyond] : counts;
    this.total = this.all.reduce((sum, count) => sum + count, 0);
    this.points = this.all.map((_, at) => first + width * (at + 0.5));
    this.value = valueAxis(1, 1);
  }

  draw() {
    this.begin();
    const { width, beyond, max } = this.found;
    this.value = valueAxis(greatest(this.all), this.height, { whole: true });
    this.axes(this.ticks(), (ms) => this.edge(ms), this.value.ticks, this.value.y);
    this.shown().forEach((series) => this.one(series));
    const rest = beyond > 0 ? `; ${counted(beyond)} beyond ${this.inMs(this.upper)} ms, up to ${this.inMs(max)} ms` : "";
    this.note.textContent = `each bar: ${this.inMs(width)} ms${rest}`;
    if (beyond > 0) {
      const text = svg("text", { class: "across", x: this.width - BEYOND.room / 2, y: this.height + 15 }, "beyond");
      this.plot.append(text);
    }
    this.finish();
  }

  /**
   * Returns a time, given in its unit, in ms.
   * @param {number | null} time
   */
  inMs(time) {
    const { scale } = this.found;
    return scale && time !== null ? measured(time / scale) : counted(time);
  }

  /** Returns the ticks of the axis of times. */
  ticks() {
    const { first } = this.found;
    const step = roundStep(this.upper - first, this.inner() / LABEL_ROOM, true);
    const ticks = [];
    for (let at = Math.ceil(first / step) * step; at <= this.upper; at += step) ticks.push({ at, text: this.inMs(at) });
    return ticks;
  }

  /** Returns the width of the bins together, in pixels. */
  inner() {
    return this.width - (this.found.beyond > 0 ? BEYOND.room : 0);
  }

  /** @param {number} ms */
  edge(ms) {
    const { first } = this.found;
    return (this.inner() * (ms - first)) / (this.upper - first);
  }

  /** @param {number} ms */
  x(ms) {
    return ms > this.upper ? this.width - BEYOND.room / 2 : this.edge(ms);
  }

  /** @param {Keyed} series */
  one(series) {
    const group = svg("g", { class: "series bars", "data-series": series.name });
    const half = (this.edge(this.points[0]) - this.edge(this.found.first)) || 1;
    const gap = half > 3 ? 0.5 : 0;
    const bar = (/** @type {number} */ count, /** @type {number} */ at) => {
      if (!count) return "";
      const reach = this.points[at] > this.upper ? BEYOND.width / 2 : half - gap;
      const [left, right] = [this.x(this.points[at]) - reach, this.x(this.points[at]) + reach];
      // What is there is seen, be it one of thousands.
      const top = Math.min(this.value.y(count), this.height - 1);
      return `M${px(left)} ${this.height}V${px(top)}H${px(right)}V${this.height}z`;
    };
    group.append(svg("path", { d: this.all.map(bar).join(""), fill: series.color }));
    this.plot.append(group);
  }

  /** @param {number} at */
  words(at) {
    const { first, width, counts, max } = this.found;
    const low = first + width * at;
    const times = at >= counts.length ? `${this.inMs(this.upper)} to ${this.inMs(max)}` : width > 1 ? `${this.inMs(low)} to ${this.inMs(low + width - 1)}` : this.inMs(low);
    return `${times} ms: ${counted(this.all[at])} requests, ${percent(this.all[at] / this.total)}`;
  }
}
