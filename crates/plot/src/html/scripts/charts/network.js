// Waits and bytes over time, of all labels or of one.
// @ts-check

import { greatest, present } from "../data/bins.js";
import { rates } from "../data/by_code.js";
import { byteUnit } from "../data/format.js";
import { TimeChart } from "./timechart.js";

/** @typedef {import("../types").Line} Line */
/** @typedef {import("../types").NetworkSeries} NetworkSeries */
/** @typedef {{ first: number, end: number, phases: import("../types").Part[] }} Common */

/**
 * Creates the charts of mean waits and of bytes; none of what the log does not record.
 * @param {HTMLElement} host
 * @param {Common} common
 * @param {NetworkSeries} network
 * @param {string} of what they are of, for the headings
 */
export function networkCharts(host, common, network, of) {
  const { width } = network;
  const { first, end } = common;
  const line = (/** @type {string} */ name, /** @type {(number | null)[]} */ list, /** @type {number} */ color, /** @type {string} */ unit) =>
    ({ name, color: `var(--series-${color})`, unit, values: { first, width, list } });
  const waits = [line("elapsed", network.elapsed, 0, " ms"), line("latency", network.latency, 2, " ms"), line("connect", network.connect, 5, " ms")];
  const seconds = end - first;
  const [received, sent] = [rates(network.received, width, seconds), rates(network.sent, width, seconds)];
  const unit = byteUnit(greatest([...received, ...sent]));
  const scaled = (/** @type {number[]} */ list) => list.map((bytes) => bytes / unit.bytes);
  const bytes = [line("received", scaled(received), 0, ` ${unit.name}`), line("sent", scaled(sent), 2, ` ${unit.name}`)];
  const chart = (/** @type {string} */ heading, /** @type {Line[]} */ lines) => {
    const series = lines.filter(({ values }) => present(values.list).length);
    return series.length ? [new TimeChart(host, { ...common, heading, height: 110, series })] : [];
  };
  return [...chart(`Mean times of ${of} (ms)`, waits), ...chart(`Network of ${of} (${unit.name})`, bytes)];
}
