// Waits and bytes over time, of all labels or of one.
// @ts-check

import { greatest, present } from "../data/bins.js";
import { rates } from "../data/by_code.js";
import { byteUnit } from "../data/format.js";
import { TimeChart } from "./timechart.js";

/** @typedef {import("../types").Line} Line */
/** @typedef {import("../types").NetworkSeries} NetworkSeries */
/** @typedef {{ first: number, end: number, lasting: number, phases: import("../types").Part[] }} Common */

/**
 * Creates the charts of mean waits and of bytes; none of what the log does not record.
 * @param {HTMLElement} host
 * @param {Common} common
 * @param {NetworkSeries} network
 * @param {string} [label] the label that they are of, if not of all
 */
export function networkCharts(host, common, network, label) {
  const { width } = network;
  const { first } = common;
  const line = (/** @type {string} */ name, /** @type {(number | null)[]} */ list, /** @type {number} */ color, /** @type {string} */ unit) =>
    ({ name, color: `var(--series-${color})`, unit, values: { first, width, list } });
  const waits = [line("elapsed", network.elapsed, 0, " ms"), line("latency", network.latency, 2, " ms"), line("connect", network.connect, 5, " ms")];
  const [received, sent] = [rates(network.received, width, common.lasting), rates(network.sent, width, common.lasting)];
  const unit = byteUnit(greatest([...received, ...sent]));
  const scaled = (/** @type {(number | null)[]} */ list) => list.map((bytes) => (bytes === null ? null : bytes / unit.bytes));
  const bytes = [line("received", scaled(received), 0, ` ${unit.name}`), line("sent", scaled(sent), 2, ` ${unit.name}`)];
  const chart = (/** @type {string} */ heading, /** @type {Line[]} */ lines) => {
    const series = lines.filter(({ values }) => present(values.list).length);
    return series.length ? [new TimeChart(host, { ...common, heading, height: 110, series })] : [];
  };
  const of = label === undefined ? "" : ` of ${label}`;
  return [...chart(`Mean times${of} (ms)`, waits), ...chart(`Traffic${of} (${unit.name})`, bytes)];
}
