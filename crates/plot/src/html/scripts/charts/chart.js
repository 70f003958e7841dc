// What all charts have in common: a heading with a key, a frame with its grid and labels, and a group for the data.
// @ts-check

import { html, px, svg } from "../draw/elements.js";

/** @typedef {import("../types").Tick} Tick */
/** @typedef {{ name: string, color: string, swatch?: string, about?: string, hidden?: boolean, faint?: boolean, failing?: boolean }} Keyed */

/** The room around a chart's frame, in pixels. */
export const MARGIN = { left: 58, right: 18, top: 8, bottom: 22 };

/** The least width of a frame, in pixels. */
const LEAST_WIDTH = 200;

/** @template {Keyed} T */
export class Chart {
  /**
   * @param {HTMLElement} host
   * @param {{ heading: string, height: number, series: T[] }} options
   */
  constructor(host, { heading, height, series }) {
    this.heading = heading;
    this.height = height;
    this.series = series;
    this.width = 0;
    this.plot = svg("g");
    this.picture = svg("svg", { "aria-hidden": "true", height: height + MARGIN.top + MARGIN.bottom });
    this.note = html("span", { class: "note" });
    /** @type {Map<string, HTMLElement>} */
    this.places = new Map();
    this.box = html("div", { class: "chart" }, this.head(), this.picture);
    host.append(this.box);
  }

  head() {
    const key = html("div", { class: "key" }, ...this.series.filter((one) => !one.faint).map((one) => this.key(one)));
    return html("div", { class: "head" }, html("h4", {}, this.heading), this.note, key);
  }

  /**
   * Creates an entry of the key: a button that hides its series and shows it again, with the value at the cross-hair.
   * @param {T} series
   */
  key(series) {
    const swatch = html("i", { class: "swatch" });
    swatch.style.background = series.swatch ?? series.color;
    const value = html("span", { class: "value", "data-reading": series.name });
    this.places.set(series.name, value);
    const name = html("span", { class: "name" }, series.name + (series.about ?? ""));
    const button = html("button", { type: "button", "aria-pressed": "true" }, swatch, name);
    if (series.failing) button.append(html("span", { class: "failing" }, "✗ fails"));
    button.append(value);
    button.addEventListener("click", () => {
      const hidden = !series.hidden;
      for (const one of this.series.filter((one) => one.name === series.name)) one.hidden = hidden;
      button.setAttribute("aria-pressed", String(!hidden));
      this.redraw();
    });
    return button;
  }

  /** Draws the chart again. */
  redraw() {}

  shown() {
    return this.series.filter((series) => !series.hidden);
  }

  /** Empties the picture. */
  begin() {
    this.width = Math.max(LEAST_WIDTH, (this.box.clientWidth || 960) - MARGIN.left - MARGIN.right);
    const [width, height] = [this.width + MARGIN.left + MARGIN.right, this.height + MARGIN.top + MARGIN.bottom];
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.picture.setAttribute("width", String(width));
    this.picture.setAttribute("height", String(height));
    this.plot = svg("g", { transform: `translate(${MARGIN.left} ${MARGIN.top})` });
    this.picture.replaceChildren(this.plot);
  }

  /**
   * Draws the grid with its labels. Labels that would overlap the one before are left out.
   * @param {Tick[]} across
   * @param {(at: number) => number} x
   * @param {Tick[]} up
   * @param {(at: number) => number} y
   */
  axes(across, x, up, y) {
    for (const tick of up) {
      this.plot.append(svg("path", { class: "grid", d: `M0 ${px(y(tick.at))}h${this.width}` }));
      this.plot.append(svg("text", { class: "up", x: -8, y: px(y(tick.at)) }, tick.text));
    }
    let free = -Infinity;
    for (const tick of across) {
      const [at, half] = [x(tick.at), tick.text.length * 3.4];
      this.plot.append(svg("path", { class: "grid", d: `M${px(at)} 0v${this.height}` }));
      if (at - half < free) continue;
      free = at + half + 4;
      const place = Math.min(at, this.width + MARGIN.right - half);
      this.plot.append(svg("text", { class: "across", x: px(place), y: this.height + 15 }, tick.text));
    }
  }

  border() {
    this.plot.append(svg("rect", { class: "border", width: this.width, height: this.height }));
  }

  /**
   * Writes a remark in the middle of the frame.
   * @param {string} words
   */
  say(words) {
    this.plot.append(svg("text", { class: "words", x: this.width / 2, y: this.height / 2 }, words));
  }

  /**
   * Writes a short text within the frame.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {string} className
   */
  label(text, x, y, className) {
    this.plot.append(svg("text", { class: `inner ${className}`, x: px(x), y }, text));
  }
}
