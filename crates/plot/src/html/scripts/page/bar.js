// The bar above a group of charts: the second of the cross-hair, the part that is looked at with its figures, and the
// controls that choose it.
// @ts-check

import { counted, measured, percent, stamp, timeOfDay } from "../data/format.js";
import { PERCENTS } from "../data/part.js";
import { button, html } from "../draw/elements.js";

/** @typedef {import("../types").Part} Part */
/** @typedef {import("./view.js").View} View */
/** @typedef {ReturnType<typeof import("../data/part.js").partFigures>} Figures */

export class Bar {
  /**
   * @param {HTMLElement} host
   * @param {View} view
   * @param {{ phases: Part[], figures: ((from: number, to: number) => Figures) | null, clock?: number, own?: { first: number, end: number } }} options
   */
  constructor(host, view, { phases, figures, clock, own }) {
    this.view = view;
    this.own = own;
    this.clock = clock;
    this.figuresOf = figures;
    this.scrub = html("input", { type: "range", class: "scrub", "aria-label": "Second", step: 1 });
    this.second = html("output", { class: "second", "data-reading": "second" });
    this.part = html("span", { class: "part" });
    this.figures = html("span", { class: "figures" });
    const tools = html("span", { class: "tools" }, ...this.tools(phases));
    const line = html("div", { class: "line" }, this.part, this.figures, this.second, tools);
    this.box = html("div", { class: "bar" }, line, this.scrub);
    host.append(this.box);
    this.scrub.addEventListener("input", () => view.point(Number(this.scrub.value)));
    this.follow();
  }

  /**
   * Creates the buttons that choose a part.
   * @param {Part[]} phases
   */
  tools(phases) {
    const { view } = this;
    const whole = button("tool whole", "Whole", () => view.all());
    const named = phases.map(({ name, from, to }) => button("tool", capital(name), () => view.look(from, to)));
    const nearer = button("tool", "+", () => view.zoom(0.5));
    nearer.setAttribute("aria-label", "Zoom in");
    const farther = button("tool", "−", () => view.zoom(2));
    farther.setAttribute("aria-label", "Zoom out");
    return [whole, ...named, nearer, farther];
  }

  /** Lets the keyboard move the cross-hair and the part. */
  follow() {
    const { view } = this;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => view.step(-1),
      ArrowRight: () => view.step(1),
      PageDown: () => view.step(-10),
      PageUp: () => view.step(10),
      Home: () => view.go(view.first),
      End: () => view.go(view.end - 1),
      "+": () => view.zoom(0.5),
      "=": () => view.zoom(0.5),
      "-": () => view.zoom(2),
      Escape: () => view.all(),
    };
    this.scrub.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  /** Tells the part that is looked at. */
  change() {
    const { view } = this;
    const seen = view.of(this.own);
    this.scrub.min = String(seen.from);
    this.scrub.max = String(seen.to - 1);
    const figures = this.figuresOf?.(view.from, view.to) ?? null;
    const [from, to] = figures ? [figures.from, figures.to] : [view.from, view.to];
    const name = figures?.name === "whole" || !view.isZoomed() ? "Whole" : figures?.name ? capital(figures.name) : "Part";
    const span = `${stamp(from)}–${stamp(to)}`;
    this.part.replaceChildren(html("b", {}, name), ` ${span}`);
    // Room for the longest text, so that nothing moves when one appears.
    this.second.style.minWidth = `${this.words(view.end - 1).length}ch`;
    this.figures.replaceChildren(...(figures ? told(figures) : []));
  }

  /**
   * Names a second.
   * @param {number} second
   */
  words(second) {
    const day = this.clock === undefined ? "" : ` · ${timeOfDay(this.clock + second)}`;
    const since = second < 60 ? "" : ` (${stamp(second)})`;
    return `second ${second}${since}${day}`;
  }

  /**
   * Tells the second of the cross-hair, and the values there, for those who can't see the charts.
   * @param {number | null} second
   * @param {string[]} words
   */
  point(second, words) {
    const text = second === null ? "" : this.words(second);
    this.second.textContent = text;
    this.scrub.value = String(second ?? this.view.from);
    this.scrub.setAttribute("aria-valuetext", second === null ? "no second" : [text, ...words].join(", "));
  }
}

/**
 * Returns the figures of a part as elements.
 * @param {NonNullable<Figures>} figures
 */
function told({ requests, failures, share, throughput, times }) {
  const one = (/** @type {string} */ text, className = "") => html("span", { class: className }, text);
  const all = [one(`${counted(requests)} ${requests === 1 ? "request" : "requests"}`), one(`${measured(throughput)}/s`)];
  all.push(failures > 0 ? one(`✗ ${counted(failures)} failed (${percent(share)})`, "failing") : one("none failed"));
  times.forEach(({ value, exact }, at) => {
    const time = one(`p${PERCENTS[at]} ${exact || value === null ? "" : "≈ "}${measured(value)} ms`);
    if (!exact) time.title = "From counts in buckets at most 1 % wide";
    all.push(time);
  });
  return all;
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
