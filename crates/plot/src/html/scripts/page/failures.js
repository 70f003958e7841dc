// The chart of failures by label and response code, beside the table of failures.
// @ts-check

import { TimeChart } from "../charts/timechart.js";
import { byRow, rates } from "../data/by_code.js";
import { valuesFrom } from "./packed.js";

/** @typedef {import("../types").OverTime} OverTime */
/** @typedef {import("../types").RunHead} RunHead */
/** @typedef {import("../types").Series} Series */
/** @typedef {import("./group.js").Group} Group */

/** The most rows of label and code that have a line of their own. */
const FAILING_ROWS = 10;

/**
 * Adds the chart of a run's failures to their section.
 * @param {Group} group
 * @param {HTMLElement} host
 * @param {RunHead} head
 * @param {Series} series
 * @param {OverTime} overTime
 */
export function failuresChart(group, host, head, series, { failures, width }) {
  const { first, seconds, parts } = head;
  const lines = byRow(failures, series.failures, width, FAILING_ROWS).map(({ name, counts }, at) => ({
    name,
    color: at < FAILING_ROWS ? `var(--series-${at})` : "var(--frame)",
    values: valuesFrom(first, rates(counts, width, seconds), width),
  }));
  if (!lines.length) return;
  const options = { first, end: first + seconds, phases: parts.slice(1) };
  const heading = "Failures per second by label and response code";
  group.add(new TimeChart(group.boxIn(host), { ...options, heading, height: 150, series: lines }));
}
