// Charts whose points are read one by one, with the pointer, a tap, or the arrow keys if the chart has the focus.
// @ts-check

import { html, px, svg } from "../draw/elements.js";
import { Chart, MARGIN } from "./chart.js";

/**
 * @template {import("./chart.js").Keyed} T
 * @extends {Chart<T>}
 */
export class PointedChart extends Chart {
  /**
   * @param {HTMLElement} host
   * @param {{ heading: string, height: number, series: T[] }} options
   */
  constructor(host, options) {
    super(host, options);
    /** @type {number | null} */
    this.at = null;
    /** @type {number[]} */
    this.points = [];
    this.hair = svg("path", { class: "hair" });
    this.told = html("span", {});
    this.room = html("output", { class: "note room" }, this.told);
    this.note.after(this.room);
    const { box } = this;
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", this.heading]]) {
      box.setAttribute(name, value);
    }
    for (const kind of /** @type {const} */ (["pointermove", "pointerdown"])) {
      this.picture.addEventListener(kind, (event) => this.point(this.nearest(event)));
    }
    this.picture.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.point(null));
    box.addEventListener("keydown", (event) => event.target === box && this.press(event));
    box.addEventListener("blur", () => this.point(null));
  }

  draw() {}

  redraw() {
    this.draw();
  }

  /** Draws the cross-hair over the data. */
  finish() {
    this.border();
    this.plot.append(this.hair);
    // Room for the longest text, so that no chart moves when one appears.
    const longest = this.points.map((_, at) => this.words(at)).reduce((a, b) => (b.length > a.length ? b : a), "");
    this.room.dataset.longest = longest;
    this.point(this.at);
  }

  /**
   * Returns the place of a point, from left to right.
   * @param {number} value
   */
  x(value) {
    return value;
  }

  /**
   * Returns the values of a point in words.
   * @param {number} _at
   */
  words(_at) {
    return "";
  }

  /** @param {PointerEvent} event */
  nearest(event) {
    const at = event.clientX - this.picture.getBoundingClientRect().left - MARGIN.left;
    const gap = (/** @type {number} */ point) => Math.abs(this.x(this.points[point]) - at);
    /** @type {number | null} */
    let best = null;
    this.points.forEach((_, point) => {
      if (best === null || gap(point) < gap(best)) best = point;
    });
    return best;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const last = this.points.length - 1;
    /** @type {Record<string, number>} */
    const keys = { ArrowLeft: (this.at ?? last + 1) - 1, ArrowRight: (this.at ?? -1) + 1, Home: 0, End: last };
    const next = keys[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (next === undefined && event.key !== "Escape")) return;
    event.preventDefault();
    this.point(next === undefined || last < 0 ? null : Math.min(Math.max(next, 0), last));
  }

  /**
   * Shows the values of a point; hides them for null.
   * @param {number | null} at
   */
  point(at) {
    this.at = at;
    this.told.textContent = at === null ? "" : this.words(at);
    this.hair.setAttribute("d", at === null ? "" : `M${px(this.x(this.points[at]))} 0v${this.height}`);
  }
}
