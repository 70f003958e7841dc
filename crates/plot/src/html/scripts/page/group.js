// Charts with a common time axis, one below the other: drawn once visible, read by pointer and by keyboard.
// @ts-check

import { MARGIN } from "../charts/chart.js";
import { html } from "../draw/elements.js";
import { whenEnded, whenWindow } from "../draw/window.js";
import { Bar } from "./bar.js";
import { followPointer } from "./pointer.js";

/** @typedef {import("../charts/timechart.js").TimeChart} TimeChart */
/** @typedef {import("./view.js").View} View */

/** How far below the window charts are drawn already. */
const AHEAD = "200px";

export class Group {
  /**
   * @param {HTMLElement} host
   * @param {View} view
   * @param {ConstructorParameters<typeof Bar>[2]} options
   */
  constructor(host, view, options) {
    this.view = view;
    this.own = options.own;
    /** @type {TimeChart[]} */
    this.charts = [];
    /** The charts that show another part than the view. */
    /** @type {Set<TimeChart>} */
    this.stale = new Set();
    this.bar = new Bar(host, view, options);
    /** @type {Map<Element, TimeChart>} */
    this.boxes = new Map();
    /** @type {Set<TimeChart>} */
    this.seen = new Set();
    this.observer = new IntersectionObserver((entries) => this.see(entries), { rootMargin: AHEAD });
    whenEnded(() => this.observer.disconnect());
    this.box = this.boxIn(host);
    view.followers.push(this);
    whenWindow("resize", () => this.change());
    this.bar.change();
    this.bar.point(view.cursor, []);
  }

  /**
   * Adds a place for charts to an element.
   * @param {HTMLElement} host
   */
  boxIn(host) {
    const box = html("div", { class: "charts" });
    host.append(box);
    followPointer(this, box);
    return box;
  }

  /**
   * Adds a chart, to be drawn once it is visible.
   * @param {TimeChart} chart
   */
  add(chart) {
    this.charts.push(chart);
    this.stale.add(chart);
    this.boxes.set(chart.box, chart);
    this.observer.observe(chart.box);
  }

  /**
   * Removes a chart.
   * @param {TimeChart} chart
   */
  remove(chart) {
    this.charts = this.charts.filter((other) => other !== chart);
    this.stale.delete(chart);
    this.observer.unobserve(chart.box);
    chart.box.remove();
  }

  /** @param {IntersectionObserverEntry[]} entries */
  see(entries) {
    for (const { target, isIntersecting } of entries) {
      const chart = this.boxes.get(target);
      if (!chart) continue;
      if (isIntersecting) this.seen.add(chart);
      else this.seen.delete(chart);
    }
    this.draw();
  }

  change() {
    this.charts.forEach((chart) => this.stale.add(chart));
    this.bar.change();
    this.draw();
  }

  draw() {
    for (const chart of this.charts) {
      if (this.seen.has(chart) && this.stale.delete(chart)) chart.draw(this.view.of(this.own));
    }
  }

  /** Draws all charts again, the unseen too: for the printer. */
  drawAll() {
    this.change();
    this.stale.forEach((chart) => chart.draw(this.view.of(this.own)));
    this.stale.clear();
  }

  /** @param {number | null} second */
  point(second) {
    const drawn = this.charts.filter((chart) => !this.stale.has(chart));
    drawn.forEach((chart) => chart.point(second));
    this.bar.point(second, drawn.flatMap((chart) => chart.words()));
  }

  /**
   * Marks the seconds that are being selected.
   * @param {number} from
   * @param {number} to
   */
  select(from, to) {
    this.charts.filter((chart) => !this.stale.has(chart)).forEach((chart) => chart.select(from, to));
  }

  /**
   * Returns the second at a horizontal position in the window, not rounded.
   * @param {number} clientX
   */
  secondAt(clientX) {
    const chart = this.charts.find((chart) => !this.stale.has(chart)) ?? this.charts[0];
    const left = chart.picture.getBoundingClientRect().left + MARGIN.left;
    const share = Math.min(Math.max((clientX - left) / chart.width, 0), 1);
    const { from, to } = this.view.of(this.own);
    return from + share * (to - from);
  }
}
