// Requests per second: successes as bars shaded by load, failures in red on top of them, and in a strip of their own.
// @ts-check

import { columns, greatest } from "../data/bins.js";
import { measured } from "../data/format.js";
import { px, svg } from "../draw/elements.js";
import { shade } from "../draw/scale.js";
import { TimeChart } from "./timechart.js";

/** @typedef {import("../types").Column} Column */
/** @typedef {import("../types").Line} Line */
/** @typedef {import("../types").Values} Values */
/** @typedef {import("./timechart.js").TimeOptions} TimeOptions */

/** The height of the strip of failures, in pixels. */
const STRIP = 7;

export class RequestsChart extends TimeChart {
  /**
   * @param {HTMLElement} host
   * @param {TimeOptions & { measure?: Values, average?: number, scale?: string[] | null }} options `series` are successes and failures
   */
  constructor(host, options) {
    super(host, options);
    this.measure = options.measure;
    this.average = options.average ?? 0;
    this.scale = options.scale ?? null;
    this.most = greatest(options.measure?.list ?? []);
    this.floorKey = "";
    /** @type {Map<number, number>} */
    this.floor = new Map();
  }

  /** @param {number} bin */
  binning(bin) {
    return `each bar: ${bin} s, dark up to the mean, light up to the greatest second`;
  }

  data() {
    super.data();
    const [successes, failures] = this.series;
    if (failures && !failures.hidden) this.strip(successes, failures);
    if (this.average > 0 && this.average <= this.value.top) this.line();
  }

  /** Draws the average of the run, whatever part is looked at. */
  line() {
    const y = this.value.y(this.average);
    this.plot.append(svg("path", { class: "average", d: `M0 ${px(y)}h${this.width}` }));
    this.label(`average ${measured(this.average)}/s`, this.width - 6, y < 20 ? y + 14 : y - 5, "end");
  }

  /**
   * Draws the strip: red where requests fail, the stronger the larger their share.
   * @param {Line} successes
   * @param {Line} failures
   */
  strip(successes, failures) {
    const bin = Math.max(1, Math.ceil((this.view.to - this.view.from) / this.width));
    const all = new Map(this.columns(successes, bin).map((column) => [column.start, column.mean]));
    const group = svg("g", { class: "strip" });
    for (const { start, end, mean } of this.columns(failures, bin).filter((column) => column.mean > 0)) {
      const share = mean / (mean + (all.get(start) ?? 0));
      const [left, right] = [this.inside(start), this.inside(end)];
      const width = px(Math.max(right - left, 1.5));
      group.append(svg("rect", { x: px(left), y: -STRIP, width, height: STRIP, "fill-opacity": px(0.35 + 0.65 * Math.sqrt(share)) }));
    }
    this.plot.append(group);
  }

  /**
   * Bars are stacked, so the axis must reach up to their sum.
   * @param {Line} series
   * @param {Column} column
   */
  reach(series, column) {
    const [below] = this.series;
    if (series === below || below.hidden) return column.max;
    return column.max + (this.below(column.end - column.start).get(column.start) ?? 0);
  }

  /**
   * Returns the mean of the successes in each column.
   * @param {number} bin
   * @returns {Map<number, number>}
   */
  below(bin) {
    const key = `${bin} ${this.view.from} ${this.view.to}`;
    if (this.floorKey !== key) {
      this.floorKey = key;
      this.floor = new Map(this.columns(this.series[0], bin).map((column) => [column.start, column.mean]));
    }
    return this.floor;
  }

  /**
   * @param {Line} series
   * @param {Column[]} columns
   * @param {number} bin
   */
  one(series, columns, bin) {
    const [below] = this.series;
    const floor = series === below || below.hidden ? new Map() : this.below(bin);
    const group = svg("g", { class: "series bars", "data-series": series.name });
    const add = (/** @type {(column: Column) => number} */ value, /** @type {Record<string, number>} */ look) => {
      for (const [color, path] of this.paths(series, columns, floor, value)) {
        group.append(svg("path", { ...look, d: path, fill: color }));
      }
    };
    if (bin > 1) add((column) => column.max, { "fill-opacity": 0.35 });
    add((column) => column.mean, {});
    this.plot.append(group);
  }

  /**
   * Returns one path for each colour.
   * @param {Line} series
   * @param {Column[]} drawn
   * @param {Map<number, number>} floor
   * @param {(column: Column) => number} value
   */
  paths(series, drawn, floor, value) {
    /** @type {Map<string, string>} */
    const paths = new Map();
    for (const column of drawn.filter((column) => column.max > 0)) {
      const [left, right] = [this.inside(column.start), this.inside(column.end)];
      const bottom = floor.get(column.start) ?? 0;
      const low = this.value.y(bottom);
      const high = Math.min(this.value.y(bottom + value(column)), low - 0.6);
      const color = series === this.series[0] ? this.colorOf(series, column) : series.color;
      const bar = `M${px(left)} ${px(low)}V${px(high)}H${px(right)}V${px(low)}z`;
      paths.set(color, (paths.get(color) ?? "") + bar);
    }
    return paths;
  }

  /**
   * @param {Line} series
   * @param {Column} column
   */
  colorOf(series, { start, end }) {
    if (!this.measure) return series.color;
    const [spread] = this.most > 0 ? columns(this.measure, start, end, end - start) : [];
    return spread ? shade(spread.mean / this.most, this.scale) : "var(--neutral)";
  }
}
