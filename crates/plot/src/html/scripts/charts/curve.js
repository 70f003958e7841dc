// Elapsed by percentile, on HdrHistogram's axis: each nine takes the same width.
// @ts-check

import { greatest } from "../data/bins.js";
import { measured } from "../data/format.js";
import { px, svg } from "../draw/elements.js";
import { valueAxis } from "../draw/scale.js";
import { PointedChart } from "./pointed.js";

/** @typedef {import("./chart.js").Keyed & { curve: [number, number][] }} CurveSeries */

const PERCENTS_SHOWN = [0, 50, 90, 99, 99.9, 99.99];

/** @extends {PointedChart<CurveSeries>} */
export class CurveChart extends PointedChart {
  draw() {
    this.begin();
    this.points = (this.series.find((series) => series.curve.length)?.curve ?? []).map(([percent]) => percent);
    const top = greatest(this.shown().flatMap((series) => series.curve.map(([, ms]) => ms)));
    this.value = valueAxis(top, this.height);
    const ticks = PERCENTS_SHOWN.map((at) => ({ at, text: `${at} %` }));
    this.axes(ticks, (percent) => this.x(percent), this.value.ticks, this.value.y);
    const order = [...this.shown()].reverse().sort((a, b) => Number(!a.faint) - Number(!b.faint));
    for (const series of order) this.one(series);
    if (!(top > 0)) this.say("nothing to draw");
    this.finish();
  }

  /** @param {number} percent */
  x(percent) {
    return (-Math.log10(1 - percent / 100) / 4) * this.width;
  }

  /** @param {CurveSeries} series */
  one(series) {
    const up = this.value?.y ?? ((y) => y);
    const path = series.curve.map(([percent, ms]) => `${px(this.x(percent))} ${px(up(ms))}`).join("L");
    const group = svg("g", { class: `series${series.faint ? " faint" : ""}${series.failing ? " fails" : ""}`, "data-series": series.name });
    group.style.color = series.color;
    if (path) group.append(svg("path", { class: "line", d: `M${path}` }));
    this.plot.append(group);
  }

  /** @param {number} at */
  words(at) {
    const percent = this.points[at];
    const time = (/** @type {CurveSeries} */ series) => series.curve.find(([other]) => other === percent)?.[1];
    const told = this.shown().filter((series) => !series.faint);
    return `p${percent}: ${told.map((series) => `${series.name} ${measured(time(series))} ms`).join(", ")}`;
  }
}
