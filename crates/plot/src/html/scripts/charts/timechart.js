// Charts over time: lines with the cross-hair and the selection above them.
// @ts-check

import { columns, binWidth, greatest } from "../data/bins.js";
import { counted, measured } from "../data/format.js";
import { px, svg } from "../draw/elements.js";
import { bandPath, linePath, lonely } from "../draw/paths.js";
import { timeAxis, valueAxis } from "../draw/scale.js";
import { Chart } from "./chart.js";

/** @typedef {import("../types").Axis} Axis */
/** @typedef {import("../types").Column} Column */
/** @typedef {import("../types").Line} Line */
/** @typedef {import("../types").Values} Values */
/** @typedef {import("../types").Part} Part */
/** @typedef {{ from: number, to: number, cursor: number | null }} Seen */
/**
 * @typedef {object} TimeOptions
 * @property {string} heading
 * @property {number} height
 * @property {Line[]} series
 * @property {number} first
 * @property {number} end
 * @property {number | null} [top] the end of the value axis
 * @property {number} [most] the greatest end that the axis may have
 * @property {boolean} [whole] true for ticks at whole numbers
 * @property {Part[]} [phases] parts that are marked
 * @property {boolean} [named] true if the names of the phases are written
 * @property {number} [clock] what the clock showed at second 0, in seconds since midnight, for axes of the time of day
 */

/** Seconds with less than this share of the usual number of requests do not stretch the axis. */
const FEW = 0.1;

/** @extends {Chart<Line>} */
export class TimeChart extends Chart {
  /**
   * @param {HTMLElement} host
   * @param {TimeOptions} options
   */
  constructor(host, options) {
    super(host, options);
    this.options = options;
    this.first = options.first;
    this.end = options.end;
    /** @type {Seen} */
    this.view = { from: options.first, to: options.end, cursor: null };
    this.picture.classList.add("time");
    this.hair = svg("path", { class: "hair" });
    this.selection = svg("rect", { class: "selection", y: 0 });
    this.time = timeAxis(this.first, this.end, 1);
    /** @type {Axis} */
    this.value = valueAxis(1, 1);
  }

  /** @param {Seen} view */
  draw(view) {
    this.view = view;
    this.begin();
    this.time = timeAxis(view.from, view.to, this.width, this.options.clock);
    this.keepRoom();
    this.shade();
    this.data();
    this.border();
    this.selection.setAttribute("height", String(this.height));
    this.selection.setAttribute("width", "0");
    this.plot.append(this.selection, this.hair);
    this.point(view.cursor);
  }

  redraw() {
    this.draw(this.view);
  }

  /** Keeps room in the key for the longest value, so that no chart moves when values appear. */
  keepRoom() {
    for (const { name, faint, values, show, unit } of this.series) {
      const place = faint ? null : this.places.get(name);
      if (!place || place.style.minWidth) continue;
      const most = (show ?? measured)(greatest(values.list)).length;
      // Smaller values may have two decimals.
      place.style.minWidth = `${Math.max(most, show === counted ? 1 : 4) + (unit ?? "").length}ch`;
    }
  }

  /** Shades the ramp and the tail, so that the hold stands out, and names the phases. */
  shade() {
    for (const { name, from, to } of this.options.phases ?? []) {
      const [left, right] = [this.inside(from), this.inside(to)];
      if (right <= left) continue;
      if (name !== "hold") {
        const box = { class: "phase", x: px(left), width: px(right - left), height: this.height };
        this.plot.append(svg("rect", box));
      }
      if (this.options.named && right - left > 36) this.label(name, (left + right) / 2, 11, "named");
    }
  }

  /** @param {number} second */
  inside(second) {
    return Math.min(Math.max(this.time.x(second), 0), this.width);
  }

  data() {
    const bin = binWidth(this.view.from, this.view.to, this.width);
    const drawn = this.shown().map((series) => ({ series, columns: this.columns(series, bin) }));
    const tops = drawn.flatMap(({ series, columns }) => {
      const usual = this.usual(series, bin);
      return columns.map((column) => (usual(column) ? this.reach(series, column) : 0));
    });
    const max = greatest(tops);
    const { top, most, whole } = this.options;
    this.value = valueAxis(max, this.height, { end: top && Math.max(top, max), most, whole });
    this.axes(this.time.ticks, this.time.x, this.value.ticks, this.value.y);
    if (!drawn.some(({ columns }) => columns.length)) this.say("nothing to draw");
    // The first is drawn last, above the others, and faint ones below all.
    const order = [...drawn].reverse().sort((a, b) => Number(!a.series.faint) - Number(!b.series.faint));
    for (const { series, columns } of order) this.one(series, columns, bin);
    this.beyond(drawn.map(({ columns }) => columns));
    const width = Math.max(bin, ...this.series.map((one) => one.values.width));
    this.note.textContent = width > 1 ? this.binning(width) : "";
  }

  /**
   * Returns whether a column has enough requests to stretch the axis.
   * @param {Line} series
   * @param {number} bin
   * @returns {(column: Column) => boolean}
   */
  usual({ weights }, bin) {
    if (!weights) return () => true;
    const means = new Map(columns(weights, this.view.from, this.view.to, bin).map((c) => [c.start, c.mean]));
    const sorted = [...means.values()].filter((mean) => mean > 0).sort((a, b) => a - b);
    const least = (sorted[Math.floor(sorted.length / 2)] ?? 0) * FEW;
    return (column) => (means.get(column.start) ?? Infinity) >= least;
  }

  /**
   * Marks columns whose value lies beyond the axis.
   * @param {Column[][]} drawn
   */
  beyond(drawn) {
    const { top } = this.value;
    const seen = drawn.flat().filter((column) => column.mean > top * (1 + 1e-9));
    for (const column of seen) {
      const x = this.time.x((column.start + column.end) / 2);
      this.plot.append(svg("path", { class: "beyond", d: `M${px(x - 4)} 8L${px(x)} 1L${px(x + 4)} 8z` }));
    }
    if (!seen.length) return;
    const most = measured(greatest(seen.map((column) => column.mean)));
    this.label(`▲ few requests, up to ${most}`, this.width - 6, 21, "end");
  }

  /**
   * Returns the note on points of more than one second.
   * @param {number} bin
   */
  binning(bin) {
    return `each point: ${bin} s, line at the mean, band from the least to the greatest second`;
  }

  /**
   * @param {Line} series
   * @param {number} bin
   */
  columns({ values }, bin) {
    return columns(values, this.view.from, Math.min(this.view.to, this.end), bin);
  }

  /**
   * Returns the height of a column, in units of the data.
   * @param {Line} _series
   * @param {Column} column
   */
  reach(_series, column) {
    return column.max;
  }

  /**
   * Draws a series.
   * @param {Line} series
   * @param {Column[]} columns
   * @param {number} bin
   */
  one(series, columns, bin) {
    const middle = (/** @type {Column} */ column) => px(this.time.x((column.start + column.end) / 2));
    const up = (/** @type {number} */ value) => px(this.value.y(value));
    const group = svg("g", { class: `series${series.faint ? " faint" : ""}${series.failing ? " fails" : ""}`, "data-series": series.name });
    group.style.color = series.color;
    if (bin > 1 && !series.faint) group.append(svg("path", { class: "band", d: bandPath(columns, middle, up) }));
    group.append(svg("path", { class: "line", d: linePath(columns, middle, up) }));
    for (const column of lonely(columns)) {
      group.append(svg("circle", { class: "dot", cx: middle(column), cy: up(column.mean), r: 1.5 }));
    }
    this.plot.append(group);
  }

  /**
   * Puts the cross-hair on a second, and tells the values there.
   * @param {number | null} second
   */
  point(second) {
    const seen = second !== null && second >= this.view.from && second < this.view.to;
    this.hair.setAttribute("d", seen ? `M${px(this.time.x(second + 0.5))} 0v${this.height}` : "");
    for (const series of this.series) {
      const place = series.faint ? null : this.places.get(series.name);
      if (!place) continue;
      const value = second === null ? null : valueAt(series.counts ?? series.values, second);
      place.textContent = second === null ? "" : value === null ? "–" : (series.show ?? measured)(value) + (series.unit ?? "");
      // The tooltip has all digits.
      place.title = value === null ? "" : String(value);
    }
  }

  /** Returns what the cross-hair tells, in words. */
  words() {
    return [...this.places].map(([name, place]) => `${name} ${place.textContent}`);
  }

  /**
   * Marks the seconds that are being selected.
   * @param {number} from
   * @param {number} to
   */
  select(from, to) {
    const [left, right] = [this.inside(from), this.inside(to)];
    this.selection.setAttribute("x", String(px(left)));
    this.selection.setAttribute("width", String(px(right - left)));
  }
}

/**
 * Returns the value at a second, null if it is absent.
 * @param {Values} values
 * @param {number} second
 */
export function valueAt(values, second) {
  return values.list[Math.floor((second - values.first) / values.width)] ?? null;
}
