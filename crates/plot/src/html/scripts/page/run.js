// The charts of one run.
// @ts-check

import { CloudChart } from "../charts/cloud.js";
import { CurveChart } from "../charts/curve.js";
import { HeatChart } from "../charts/heat.js";
import { HistogramChart } from "../charts/histogram.js";
import { networkCharts } from "../charts/network.js";
import { RequestsChart } from "../charts/requests.js";
import { SweepChart } from "../charts/sweep.js";
import { TimeChart } from "../charts/timechart.js";
import { greatest, present, total } from "../data/bins.js";
import { ratedSeconds } from "../data/by_rate.js";
import { counted, measured } from "../data/format.js";
import { partFigures } from "../data/part.js";
import { whenNear } from "../draw/near.js";
import { quantileColor, shade } from "../draw/scale.js";
import { whenWindow } from "../draw/window.js";
import { failuresChart } from "./failures.js";
import { Group } from "./group.js";
import { pickLabels } from "./labels.js";
import { detailOf, lasting, perSecond, seriesOf, valuesFrom } from "./packed.js";

/** @typedef {import("../types").Index} Index */
/** @typedef {import("../types").Line} Line */
/** @typedef {import("../types").RunHead} RunHead */
/** @typedef {import("../types").Series} Series */
/** @typedef {import("../types").Sweep} Sweep */
/** @typedef {import("./view.js").View} View */

/**
 * Draws the charts of a run.
 * @param {Index} index
 * @param {number} at the run's place in the index
 * @param {HTMLElement} host
 * @param {View} view
 */
export async function runCharts(index, at, host, view) {
  const head = index.runs[at];
  const [series, detail] = await Promise.all([seriesOf(at), detailOf(at, head.first)]);
  const phases = head.parts.slice(1);
  const figures = (/** @type {number} */ from, /** @type {number} */ to) => partFigures(head, series, detail.counts, from, to);
  const own = { first: head.first, end: head.first + head.seconds };
  const group = new Group(host, view, { phases, figures, clock: head.clock, own });
  const common = { first: head.first, end: head.first + head.seconds, lasting: lasting(head), phases, clock: head.byClock ? head.clock : undefined };
  requestsChart(index, head, series, group, common);
  const line = (/** @type {string} */ name, /** @type {(number | null)[]} */ list, /** @type {string} */ color, unit = "") =>
    ({ name, color, unit, values: valuesFrom(head.first, list) });
  const add = (/** @type {string} */ heading, /** @type {number} */ height, /** @type {Line[]} */ lines, more = {}) => {
    if (lines.some(({ values }) => present(values.list).length)) {
      group.add(new TimeChart(group.box, { ...common, heading, height, series: lines, ...more }));
    }
  };
  add("Load (active threads)", 70, [line("load", series.load, "var(--load)")], { whole: true });
  add("CPU utilisation (%)", 90, [line("CPU", series.cpu, "var(--cpu)", " %")], { top: head.cpuTop });
  for (const { name, unit, note, values } of series.server ?? []) {
    const heading = `${name} (${unit})${note ? `: ${note}` : ""}`;
    add(heading, 80, [line(name, values, "var(--cpu)", ` ${unit}`)]);
  }
  const weights = valuesFrom(head.first, series.successes);
  const times = ascending(head).map(({ percent, at }, rank, all) =>
    ({ ...line(`p${percent}`, series.elapsed[at], quantileColor(rank, all.length), " ms"), weights }));
  add("Response time (ms)", 170, times);
  group.add(new HeatChart(group.box, { ...common, heading: "Response-time heat map", height: 190, counts: detail.counts, series: [] }));
  networkCharts(group.box, common, detail.network.all).forEach((chart) => group.add(chart));
  pickLabels(group, common, detail.overTime, head.first, detail.network.labels);
  const curves = [{ name: head.name, color: `var(--series-${head.color})`, curve: series.curve }];
  const curve = new CurveChart(host, { heading: "Response time by percentile (ms)", height: 190, series: curves });
  whenWindow("resize", () => curve.draw());
  curve.draw();
  histograms(detail, host);
  rateChart(head, series, host);
  const failing = document.getElementById(`failing-${at}`);
  if (failing) failuresChart(group, failing, head, series, detail.overTime);
  const byLoad = document.getElementById(`load-${at}`);
  if (byLoad && detail.sweep) sweepCharts(head, detail.sweep, byLoad);
}

/**
 * Returns the percentiles in ascending order, with their places.
 * @param {RunHead} head
 */
function ascending(head) {
  return head.percentiles.map((percent, at) => ({ percent, at })).sort((a, b) => a.percent - b.percent);
}

/**
 * Adds the chart of requests: successes shaded by the measure, failures in red.
 * @param {Index} index
 * @param {RunHead} head
 * @param {Series} series
 * @param {Group} group
 * @param {{ first: number, end: number, phases: import("../types").Part[], clock?: number }} common
 */
function requestsChart(index, head, series, group, common) {
  const measure = valuesFrom(head.first, series[head.measure]);
  const most = greatest(measure.list);
  const shades = [0, 0.25, 0.5, 0.75, 1].map((share) => shade(share, index.scale)).join(", ");
  const by = most > 0 ? `, shaded by ${head.colorBy} 0 to ${measured(most)}` : "";
  /** @type {Line[]} */
  const bars = [{
    name: "successes/s",
    about: by,
    values: valuesFrom(head.first, perSecond(head, series.successes)),
    counts: valuesFrom(head.first, series.successes),
    color: "var(--neutral)",
    swatch: most > 0 ? `linear-gradient(90deg, ${shades})` : undefined,
    show: counted,
  }];
  if (series.failures.some((count) => count > 0)) {
    bars.push({ name: "failures/s", values: valuesFrom(head.first, series.failures), color: "var(--failure)", show: counted });
  }
  const options = { ...common, heading: "Requests per second", height: 170, series: bars, named: true, whole: true };
  const [whole] = head.parts;
  const average = total(valuesFrom(head.first, series.successes), whole.from, whole.to) / whole.duration;
  group.add(new RequestsChart(group.box, { ...options, measure, average, scale: index.scale }));
}

/**
 * Draws a chart once it comes near.
 * @param {import("../charts/pointed.js").PointedChart<any>} chart
 */
function drawNear(chart) {
  whenNear(chart.box, () => {
    whenWindow("resize", () => chart.draw());
    chart.draw();
  });
}

/**
 * Adds the distributions of the times of successes and of failures.
 * @param {import("../types").Detail} detail
 * @param {HTMLElement} host
 */
function histograms({ successes, failures }, host) {
  const kinds = [
    { name: "successes", heading: "Successes by response time (ms)", found: successes, color: "var(--load)" },
    { name: "failures", heading: "Failures by response time (ms)", found: failures, color: "var(--failure)" },
  ];
  for (const { name, heading, found, color } of kinds.filter((kind) => kind.found.max !== null)) {
    drawNear(new HistogramChart(host, { heading, height: 130, series: [{ name, color }], found }));
  }
}

/**
 * Adds the chart of response times by requests per second: of p50 and p95, or of the least and the greatest percentile.
 * @param {RunHead} head
 * @param {Series} series
 * @param {HTMLElement} host
 */
function rateChart(head, series, host) {
  const all = ascending(head);
  const [low, high] = [all.find(({ percent }) => percent === 50) ?? all[0], all.find(({ percent }) => percent === 95) ?? all[all.length - 1]];
  const chosen = low === high ? all.slice(0, 1) : [low, high];
  const seconds = ratedSeconds(series.successes, series.failures, chosen.map(({ at }) => series.elapsed[at]), head.lastPart < 1);
  if (!seconds.length) return;
  const lines = chosen.map(({ percent }, at) => ({ name: `p${percent} of a second`, color: quantileColor(at, 2), at }));
  drawNear(new CloudChart(host, { heading: "Response time (ms) by requests per second", height: 170, series: lines, seconds }));
}

/**
 * Draws the charts of a run by load.
 * @param {RunHead} head
 * @param {Sweep} sweep
 * @param {HTMLElement} host
 */
function sweepCharts(head, sweep, host) {
  const { loads, throughput, spread, elapsed, cpu, knee, capacity, beyond } = sweep;
  const chart = (/** @type {Pick<import("../charts/sweep.js").SweepOptions, "heading" | "height" | "series" | "bound" | "top">} */ options) => {
    const drawn = new SweepChart(host, { loads, knee, beyond, ...options });
    whenWindow("resize", () => drawn.draw());
    drawn.draw();
  };
  const throughputs = { name: "successes/s", values: throughput, spread, color: "var(--load)", unit: "/s" };
  chart({ heading: "Successes per second by load (threads)", height: 190, series: [throughputs], bound: capacity });
  const times = ascending(head).map(({ percent, at }, rank, all) =>
    ({ name: `p${percent}`, values: elapsed[at], color: quantileColor(rank, all.length), unit: " ms" }));
  chart({ heading: "Response time by load (ms)", height: 170, series: times });
  if (!present(cpu).length) return;
  const readings = { name: "CPU", values: cpu, color: "var(--cpu)", unit: " %" };
  chart({ heading: "CPU utilisation by load (%)", height: 90, series: [readings], top: head.cpuTop });
}
