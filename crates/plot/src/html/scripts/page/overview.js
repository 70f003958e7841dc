// The frameworks laid over each other: one colour each, the median repeat in front of the others.
// @ts-check

import { CurveChart } from "../charts/curve.js";
import { TimeChart } from "../charts/timechart.js";
import { present } from "../data/bins.js";
import { counted, measured } from "../data/format.js";
import { button } from "../draw/elements.js";
import { whenWindow } from "../draw/window.js";
import { Group } from "./group.js";
import { seriesOf, valuesFrom } from "./packed.js";

/** @typedef {import("../types").Index} Index */
/** @typedef {import("../types").Line} Line */
/** @typedef {import("../types").RunHead} RunHead */
/** @typedef {import("../types").Series} Series */
/** @typedef {import("./view.js").View} View */

/** The width of the charts for paper, on which they are a little smaller, so that all of them fit a page. */
const PAPER = "960px";

/**
 * Draws the overview of all runs.
 * @param {HTMLElement} host
 * @param {Index} index
 * @param {View} view
 */
export async function overview(host, index, view) {
  const all = await Promise.all(index.runs.map(async (head, at) => ({ head, series: await seriesOf(at) })));
  const group = new Group(host, view, { phases: [], figures: null });
  const span = { first: view.first, end: view.end };
  const lines = (/** @type {(head: RunHead, series: Series) => (number | null)[]} */ list, show = measured, unit = "") =>
    all.map(({ head, series }) => ({ ...look(head), show, unit, values: valuesFrom(head.first, list(head, series)) }));
  const add = (/** @type {string} */ heading, /** @type {number} */ height, /** @type {Line[]} */ series, more = {}) => {
    if (!series.some(({ values }) => present(values.list).length)) return;
    group.add(new TimeChart(group.box, { ...span, heading, height, series, ...more }));
  };
  add("Successes per second", 240, lines((_, series) => series.successes, counted));
  const slow = slowest(index.runs[0]);
  const times = lines((head, series) => series.elapsed[slowest(head).at] ?? [], measured, " ms");
  const weights = all.map(({ head, series }) => valuesFrom(head.first, series.successes));
  add(`p${slow.percent} (ms)`, 170, times.map((line, at) => ({ ...line, weights: weights[at] })));
  add("CPU utilisation (%)", 120, lines((_, series) => series.cpu, measured, " %"));
  for (const { name, base, unit, factor } of sharedSeries(all.map(({ series }) => series))) {
    add(`${name} (${unit})`, 120, lines((_, series) => inUnit(series, name, base, factor), measured, ` ${unit}`));
  }
  const shares = lines((_, series) => failureShares(series), measured, " %");
  if (shares.some(({ values }) => present(values.list).some((share) => share > 0))) add("Failed requests (%)", 90, shares, { most: 100 });
  const curves = all.map(({ head, series }) => ({ ...look(head), curve: series.curve }));
  const curve = new CurveChart(host, { heading: "Response time by percentile (ms)", height: 190, series: curves });
  whenWindow("resize", () => curve.draw());
  curve.draw();
  if (index.runs.some((head) => !head.median)) repeats(group, curve);
  const redraw = (/** @type {string} */ width) => {
    host.style.width = width;
    group.drawAll();
    curve.draw();
  };
  whenWindow("beforeprint", () => redraw(PAPER));
  whenWindow("afterprint", () => redraw(""));
  host.classList.add("built");
}

/**
 * Returns the series of the server that any of the runs has, each in the largest of the runs' units.
 * @param {Series[]} runs
 */
function sharedSeries(runs) {
  /** @type {Map<string, import("../types").ServerSeries>} */
  const found = new Map();
  for (const one of runs.flatMap(({ server }) => server ?? [])) {
    const key = JSON.stringify([one.name, one.base]);
    const other = found.get(key);
    if (!other || one.factor > other.factor) found.set(key, one);
  }
  return [...found.values()];
}

/**
 * Returns a series of a run in a unit of `factor` times its own; empty if the run does not have it.
 * @param {Series} run
 * @param {string} name
 * @param {string} base
 * @param {number} factor
 */
function inUnit({ server }, name, base, factor) {
  const one = (server ?? []).find((series) => series.name === name && series.base === base);
  return one ? one.values.map((value) => (value === null ? null : (value * one.factor) / factor)) : [];
}

/**
 * Returns how a run is drawn.
 * @param {RunHead} head
 */
function look({ framework, color, median, failing }) {
  return { name: framework, color: `var(--series-${color})`, faint: !median, failing: failing && median };
}

/**
 * Adds the button that hides all repeats but the median ones.
 * @param {Group} group
 * @param {CurveChart} curve
 */
function repeats(group, curve) {
  let shown = true;
  const press = button("tool", "Other repeats", () => {
    shown = !shown;
    press.setAttribute("aria-pressed", String(shown));
    for (const chart of [...group.charts, curve]) {
      for (const one of chart.series) if (one.faint) one.hidden = !shown;
    }
    group.change();
    curve.draw();
  });
  press.setAttribute("aria-pressed", "true");
  press.title = "Thin lines: the repeats beside the median one";
  group.bar.box.querySelector(".tools")?.prepend(press);
}

/**
 * Returns the percentile that is compared: the 95th, otherwise the greatest.
 * @param {RunHead} head
 */
function slowest({ percentiles }) {
  const percent = percentiles.includes(95) ? 95 : Math.max(...percentiles);
  return { percent, at: percentiles.indexOf(percent) };
}

/**
 * Returns the failures of each second in percent of its requests.
 * @param {Series} series
 */
function failureShares({ successes, failures }) {
  return successes.map((count, at) => (count + failures[at] > 0 ? (100 * failures[at]) / (count + failures[at]) : null));
}
