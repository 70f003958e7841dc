// The heat map: the number of requests by elapsed time, over time.
// @ts-check

import { heatEdge } from "../data/counts.js";
import { counted } from "../data/format.js";
import { px, svg } from "../draw/elements.js";
import { logAxis } from "../draw/scale.js";
import { TimeChart } from "./timechart.js";

/** @typedef {import("../data/counts.js").Counts} Counts */
/** @typedef {import("./timechart.js").TimeOptions} TimeOptions */

/** The number of shades for numbers of requests. */
const HEAT_SHADES = 12;

/** The lower edge of the first row, which would be 0, on the logarithmic axis. */
const LOWEST = 0.5;

export class HeatChart extends TimeChart {
  /**
   * @param {HTMLElement} host
   * @param {TimeOptions & { counts: Counts }} options
   */
  constructor(host, options) {
    super(host, options);
    this.seconds = options.counts.width;
    this.scale = options.counts.scale;
    this.columnsOfRows = options.counts.heat();
    [this.lowest, this.highest, this.most] = [Infinity, -Infinity, 0];
    for (const [row, count] of this.columnsOfRows.flatMap((column) => [...column])) {
      this.lowest = Math.min(this.lowest, row);
      this.highest = Math.max(this.highest, row);
      this.most = Math.max(this.most, count);
    }
  }

  data() {
    if (!Number.isFinite(this.lowest)) return this.say("nothing to draw");
    const edge = (/** @type {number} */ row) => (heatEdge(row) || LOWEST) / this.scale;
    this.value = logAxis(edge(this.lowest), edge(this.highest + 1), this.height);
    this.note.textContent = `the darker the more requests, from 1 to ${counted(this.most)} in ${this.seconds} s`;
    const paths = new Array(HEAT_SHADES).fill("");
    this.columnsOfRows.forEach((column, at) => this.column(column, at, edge, paths));
    const group = svg("g", { class: "series heat", "data-series": "requests" });
    paths.forEach((d, shade) => {
      if (d) group.append(svg("path", { d, "fill-opacity": px(0.1 + (0.9 * shade) / (HEAT_SHADES - 1)) }));
    });
    this.plot.append(group);
    this.axes(this.time.ticks, this.time.x, this.value.ticks, this.value.y);
  }

  /**
   * Adds a column's cells to the paths of their shades.
   * @param {Map<number, number>} rows
   * @param {number} at
   * @param {(row: number) => number} edge
   * @param {string[]} paths
   */
  column(rows, at, edge, paths) {
    const start = this.first + at * this.seconds;
    const end = Math.min(start + this.seconds, this.end);
    if (end <= this.view.from || start >= this.view.to) return;
    const [left, right] = [px(this.inside(start)), px(this.inside(end))];
    for (const [row, count] of rows) {
      const [low, high] = [edge(row), edge(row + 1)].map((ms) => px(this.value.y(ms)));
      paths[this.shadeOf(count)] += `M${left} ${low}V${high}H${right}V${low}z`;
    }
  }

  /**
   * Returns the shade of a count. It is logarithmic, so that one slow request is visible beside thousands of fast ones.
   * @param {number} count
   */
  shadeOf(count) {
    return this.most > 1 ? Math.round((Math.log(count) / Math.log(this.most)) * (HEAT_SHADES - 1)) : HEAT_SHADES - 1;
  }
}
