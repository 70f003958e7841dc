// Charts of one label, and of failures by response code, for the label that is picked.
// @ts-check

import { networkCharts } from "../charts/network.js";
import { RequestsChart } from "../charts/requests.js";
import { TimeChart } from "../charts/timechart.js";
import { measured } from "../data/format.js";
import { failuresBy, rates } from "../data/by_code.js";
import { html } from "../draw/elements.js";
import { quantileColor } from "../draw/scale.js";
import { valuesFrom } from "./packed.js";

/** @typedef {import("../types").OverTime} OverTime */
/** @typedef {import("../types").LabelSeries} LabelSeries */
/** @typedef {import("../types").Line} Line */
/** @typedef {import("./group.js").Group} Group */
/** @typedef {{ first: number, end: number, lasting: number, phases: import("../types").Part[], clock?: number }} Common */

/** The most response codes, or labels, that have a line of their own. */
const LINES = 6;

/**
 * Adds the picker of labels and its charts. A run with one label and without failures has none.
 * @param {Group} group
 * @param {Common} common
 * @param {OverTime} overTime
 * @param {number} first the first second
 * @param {import("../types").NetworkSeries[]} network of each label
 */
export function pickLabels(group, common, overTime, first, network) {
  const { labels, failures } = overTime;
  if (labels.length < 2 && !failures.length) return;
  const names = labels.length > 1 ? ["All labels", ...labels.map(({ label }) => label || "(no label)")] : ["All labels"];
  const select = html("select", {}, ...names.map((name, at) => html("option", { value: at }, name)));
  const box = html("label", { class: "picker" }, html("b", {}, "One label"), " ", select);
  if (labels.length > 1) group.box.append(box);
  /** @type {TimeChart[]} */
  let charts = [];
  const show = () => {
    charts.forEach((chart) => group.remove(chart));
    const picked = labels.length > 1 ? labels[Number(select.value) - 1] : undefined;
    const [own, name] = [network[Number(select.value) - 1], names[Number(select.value)]];
    charts = [...(picked ? labelCharts(group, common, picked, overTime.width, first) : []), ...(own ? networkCharts(group.box, common, own, name) : []), ...failureCharts(group, common, overTime, picked, first)];
    charts.forEach((chart) => group.add(chart));
    group.draw();
  };
  select.addEventListener("change", show);
  show();
}

/**
 * Creates the charts of a label.
 * @param {Group} group
 * @param {Common} common
 * @param {LabelSeries} label
 * @param {number} width
 * @param {number} first
 */
function labelCharts(group, common, label, width, first) {
  const rate = (/** @type {number[]} */ counts, lasting = common.end - first) => valuesFrom(first, rates(counts, width, lasting), width);
  /** @type {Line[]} */
  const requests = [{ name: "successes/s", values: rate(label.successes, common.lasting), color: "var(--load)" }];
  if (label.failures.some((count) => count > 0)) {
    requests.push({ name: "failures/s", values: rate(label.failures), color: "var(--failure)" });
  }
  const time = (/** @type {string} */ name, /** @type {(number | null)[]} */ list, /** @type {number} */ rank) =>
    ({ name, values: valuesFrom(first, list, width), color: quantileColor(rank, 2), unit: " ms", show: measured, weights: rate(label.successes) });
  const times = [time("p50", label.p50, 0), time("p95", label.p95, 1)];
  return [
    new RequestsChart(group.box, { ...common, heading: `Requests per second of ${label.label}`, height: 120, series: requests }),
    new TimeChart(group.box, { ...common, heading: `Response time of ${label.label} (ms)`, height: 130, series: times }),
  ];
}

/**
 * Creates the charts of failures by response code and, of all labels, by label where several fail.
 * @param {Group} group
 * @param {Common} common
 * @param {OverTime} overTime
 * @param {LabelSeries | undefined} picked
 * @param {number} first
 */
function failureCharts(group, common, { failures, width }, picked, first) {
  const chart = (/** @type {string} */ heading, /** @type {{ name: string, counts: number[] }[]} */ lines) => {
    const series = lines.map(({ name, counts }, at) => ({
      name,
      color: `var(--series-${(at + 1) % 10})`,
      values: valuesFrom(first, rates(counts, width, common.end - first), width),
    }));
    return new TimeChart(group.box, { ...common, heading, height: 110, series });
  };
  const own = failures.filter(({ label }) => !picked || label === picked.label);
  const codes = failuresBy(own, "code", LINES);
  const labels = failuresBy(own, "label", LINES);
  const charts = [];
  if (codes.length) charts.push(chart(`Failures per second by response code${picked ? ` of ${picked.label}` : ""}`, codes));
  if (labels.length > 1) charts.push(chart("Failures per second by label", labels));
  return charts;
}
