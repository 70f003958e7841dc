// The frameworks laid over each other: one colour each, the median of its repeats in front of them.
// @ts-check

import { CurveChart } from "../charts/curve.js";
import { TimeChart } from "../charts/timechart.js";
import { present } from "../data/bins.js";
import { medianCurve, medianOf } from "../data/median.js";
import { counted, measured } from "../data/format.js";
import { button } from "../draw/elements.js";
import { whenWindow } from "../draw/window.js";
import { Group } from "./group.js";
import { perSecond, seriesOf, valuesFrom } from "./packed.js";

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
  const repeated = repeatedFrameworks(index);
  const lines = (/** @type {(head: RunHead, series: Series) => (number | null)[]} */ list, show = measured, unit = "") => {
    const own = all.map(({ head, series }) => ({ ...look(head), show, unit, values: valuesFrom(head.first, list(head, series)) }));
    return own.flatMap((line, at) => {
      const repeats = repeated.get(index.runs[at].framework);
      if (!repeats) return [line];
      const thin = { ...line, faint: true, failing: false };
      const median = { ...line, values: medianOf(repeats.map((repeat) => own[repeat].values)) };
      return index.runs[at].median ? [median, thin] : [thin];
    });
  };
  const add = (/** @type {string} */ heading, /** @type {number} */ height, /** @type {Line[]} */ series, more = {}) => {
    if (!series.some(({ values }) => present(values.list).length)) return;
    group.add(new TimeChart(group.box, { ...span, heading, height, series, ...more }));
  };
  add("Successes per second", 240, lines((head, series) => perSecond(head, series.successes), counted));
  const slow = slowest(index.runs[0]);
  const times = lines((head, series) => series.elapsed[slowest(head).at] ?? [], measured, " ms");
  const weights = lines((_, series) => series.successes);
  add(`p${slow.percent} (ms)`, 170, times.map((line, at) => ({ ...line, weights: weights[at].values })));
  add("CPU utilisation (%)", 120, lines((_, series) => series.cpu, measured, " %"));
  for (const { name, base, unit, factor } of sharedSeries(all.map(({ series }) => series))) {
    add(`${name} (${unit})`, 120, lines((_, series) => inUnit(series, name, base, factor), measured, ` ${unit}`));
  }
  const shares = lines((_, series) => failureShares(series), measured, " %");
  if (shares.some(({ values }) => present(values.list).some((share) => share > 0))) add("Failed requests (%)", 90, shares, { most: 100 });
  const curves = all.flatMap(({ head, series }) => {
    const line = { ...look(head), curve: series.curve };
    const repeats = repeated.get(head.framework);
    if (!repeats) return [line];
    const thin = { ...line, faint: true, failing: false };
    const median = { ...line, curve: medianCurve(repeats.map((repeat) => all[repeat].series.curve)) };
    return head.median ? [median, thin] : [thin];
  });
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
 * Returns the places of the runs of each framework that has several.
 * @param {Index} index
 * @returns {Map<string, number[]>}
 */
function repeatedFrameworks({ runs }) {
  /** @type {Map<string, number[]>} */
  const places = new Map();
  runs.forEach(({ framework }, at) => places.set(framework, [...(places.get(framework) ?? []), at]));
  return new Map([...places].filter(([, repeats]) => repeats.length > 1));
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
 * Adds the button that hides the repeats, and leaves their medians.
 * @param {Group} group
 * @param {CurveChart} curve
 */
function repeats(group, curve) {
  let shown = true;
  const press = button("tool", "Repeats", () => {
    shown = !shown;
    press.setAttribute("aria-pressed", String(shown));
    for (const chart of [...group.charts, curve]) {
      for (const one of chart.series) if (one.faint) one.hidden = !shown;
    }
    group.change();
    curve.draw();
  });
  press.setAttribute("aria-pressed", "true");
  press.title = "Thin lines: the repeats. Thick lines: their median, second by second";
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
