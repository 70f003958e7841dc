// Response times by requests per second: a dot for each second, and lines at the medians of seconds with like rates.
// @ts-check

import { greatest } from "../data/bins.js";
import { rateSteps, usualTop } from "../data/by_rate.js";
import { counted, measured } from "../data/format.js";
import { px, svg } from "../draw/elements.js";
import { roundStep, valueAxis } from "../draw/scale.js";
import { PointedChart } from "./pointed.js";

/** @typedef {import("../data/by_rate.js").RatedSecond} RatedSecond */
/** @typedef {import("./chart.js").Keyed & { at: number }} CloudSeries its place among the times of a second */

/** About how many steps of requests per second there are. */
const STEPS = 15;

/** @extends {PointedChart<CloudSeries>} */
export class CloudChart extends PointedChart {
  /**
   * @param {HTMLElement} host
   * @param {{ heading: string, height: number, series: CloudSeries[], seconds: RatedSecond[] }} options
   */
  constructor(host, options) {
    super(host, options);
    this.seconds = options.seconds;
    this.most = greatest(this.seconds.map(({ rate }) => rate));
    this.steps = rateSteps(this.seconds, roundStep(this.most, STEPS, true));
    this.points = this.steps.map(({ from, to }) => (from + to) / 2);
    this.rate = valueAxis(1, 1);
    this.value = valueAxis(1, 1);
  }

  draw() {
    this.begin();
    const shown = this.shown();
    const seen = this.seconds.map(({ rate, values }) => ({ rate, values: shown.map(({ at }) => values[at]) }));
    this.value = valueAxis(usualTop(seen), this.height);
    this.rate = valueAxis(this.most, this.width / 2, { whole: true });
    this.axes(this.rate.ticks, (rate) => this.x(rate), this.value.ticks, this.value.y);
    for (const series of [...shown].reverse()) this.one(series);
    const beyond = seen.filter(({ values }) => values.some((value) => (value ?? 0) > this.value.top));
    const most = greatest(beyond.flatMap(({ values }) => values));
    const rest = beyond.length ? `; at the upper edge ${counted(beyond.length)} with few requests, up to ${measured(most)} ms` : "";
    this.note.textContent = `each dot: a second; lines: medians of the seconds with like numbers of requests${rest}`;
    if (!shown.length) this.say("nothing to draw");
    this.finish();
  }

  /** @param {number} rate */
  x(rate) {
    return (this.width * rate) / this.rate.top;
  }

  /** @param {CloudSeries} series */
  one(series) {
    const group = svg("g", { class: "series", "data-series": series.name });
    group.style.color = series.color;
    // Dots in the same place are one: a day has 86,400 seconds.
    const dots = new Set();
    for (const { rate, values } of this.seconds) {
      const value = values[series.at];
      if (value !== null) dots.add(`M${Math.round(this.x(rate))} ${Math.round(this.value.y(value))}h0`);
    }
    group.append(svg("path", { class: "dots", d: [...dots].join("") }));
    const told = this.steps.map(({ medians }, at) => ({ at: this.points[at], value: medians[series.at] })).filter(({ value }) => value !== null);
    const path = told.map(({ at, value }) => `${px(this.x(at))} ${px(this.value.y(value ?? 0))}`).join("L");
    if (path) group.append(svg("path", { class: "line", d: `M${path}` }));
    this.plot.append(group);
  }

  /** @param {number} at */
  words(at) {
    const { from, to, seconds, medians } = this.steps[at];
    const told = this.shown().map((series) => `${series.name} ${measured(medians[series.at])} ms`);
    const rates = from === to ? counted(from) : `${counted(from)} to ${counted(to)}`;
    return `${rates} requests/s in ${counted(seconds)} seconds: ${told.join(", ")}`;
  }
}
