// Overlays of the frameworks' median runs: successes and times by second, times by percentile, successes by load; failures,
// CPU and the server's series where there are some.

import { FAILURE_LIMIT } from "../app";
import { sum } from "../data/codes";
import { h, replace } from "../dom";
import { ms, plural, rate } from "../format";
import { loadRun } from "../load";
import { cpuTitle, drawnEnd, ofOneCore } from "../data/part";
import { failure, waitFor } from "../shell/states";
import type { Look } from "../slots";
import type { RunData, ServerSeries } from "../types";
import { OverlayChart, type OverlayLine } from "./overlay";

/** The most lines of a chart. */
const MOST_LINES = 8;
/** Up to so many runs, other repeats are drawn too. */
const MOST_RUNS = 30;
/** The width of a chart on paper, two beside each other: A4 and letter have room for it. */
const PAPER = 330;
/** Below this width names stand above a chart. */
const NARROW = 480;
/** The least width of the names beside a chart, and the greatest part of its width; longer names stand above it. */
const LIST = 140;
const LIST_PART = 0.5;

/** Whose runs are drawn over those of others: a row of a league, or a side of a comparison. */
export interface Subject {
  framework: string;
  /** Ids of its runs, the median one first. */
  runs: readonly string[];
  /** Its name and look, if they are not those of the framework. */
  name?: string;
  look?: Look;
}

interface Loaded {
  framework: string;
  name: string | undefined;
  look: Look | undefined;
  data: RunData;
  repeats: number;
  others: RunData[];
}

type Values = (data: RunData) => OverlayLine["points"];

const bySecond =
  (of: (data: RunData) => readonly (number | null)[] | undefined): Values =>
  (data) => {
    const { head } = data;
    const end = drawnEnd(head) - head.first;
    return (of(data) ?? []).slice(0, end).map((value, at) => [head.first + at + 0.5, value]);
  };

const line = (runs: readonly Loaded[], values: Values, repeats: boolean): OverlayLine[] =>
  runs.map(({ framework, name, look, data, others }) => ({ framework, name, look, points: values(data), others: repeats ? others.map(values) : [] }));

/** Says which of several repeats are drawn. */
const medianNote = (runs: readonly Loaded[]): string => (runs.some(({ repeats }) => repeats > 1) ? "median repeats" : "");

/** The second at which the load is held, if all runs have it at much the same. */
function holdOf(runs: readonly Loaded[]): number | null {
  const starts = runs.map(({ data }) => data.head.parts.find(({ name }) => name === "hold")?.from ?? null);
  const known = starts.filter((start) => start !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return known.length === runs.length && known.length > 0 && most - least <= 2 ? least : null;
}

async function load(league: readonly Subject[], withOthers: boolean): Promise<Loaded[]> {
  const wanted = league.filter(({ runs }) => runs.length > 0).slice(0, MOST_LINES);
  return Promise.all(
    wanted.map(async ({ framework, name, look, runs: [middle = "", ...rest] }) => ({
      framework,
      name,
      look,
      data: await loadRun(middle),
      repeats: rest.length + 1,
      others: withOthers ? await Promise.all(rest.map(loadRun)) : [],
    })),
  );
}

function charts(runs: readonly Loaded[], test: string, repeats: boolean): OverlayChart[] {
  const [first] = runs;
  if (!first) return [];
  const percents = first.data.head.percentiles;
  const percent = percents.includes(95) ? 95 : percents.at(-1);
  const times = bySecond((data) => data.series.elapsed[data.head.percentiles.indexOf(percent ?? 95)]);
  const hold = holdOf(runs);
  const several = medianNote(runs);
  const thin = repeats && runs.some(({ others }) => others.length > 0) ? "thin: other repeats" : several;
  const successes = new OverlayChart({ file: `${test}-successes`, title: "Successes per second", note: thin, across: "time", text: (value) => rate(value) });
  successes.set(line(runs, bySecond((data) => data.series.successes), repeats), hold);
  const slow = new OverlayChart({ file: `${test}-p${percent}`, title: `p${percent}, ms`, across: "time", text: (value) => ms(value) });
  slow.set(line(runs, times, false), hold);
  const curve = new OverlayChart({
    file: `${test}-percentiles`,
    title: "Response time by percentile, ms",
    note: ["logarithmic", several].filter(Boolean).join("; "),
    across: "percentile",
    text: (value) => ms(value),
  });
  curve.set(line(runs, (data) => data.series.curve, false));
  const others = [failing(runs, test), cpu(runs, test), ...server(runs, test)].filter((chart) => chart !== null);
  const swept = runs.filter(({ data }) => data.detail.sweep !== null);
  if (swept.length === 0) return [successes, slow, curve, ...others];
  const load = new OverlayChart({ file: `${test}-by-load`, title: "Successes per second, by threads", across: "load", text: (value) => rate(value) });
  const steps: Values = ({ detail: { sweep } }) => (sweep?.loads ?? []).map((at, step) => [at, sweep?.throughput[step] ?? null]);
  load.set(line(swept, steps, false));
  return [successes, slow, curve, load, ...others];
}

/** Failures by second; null if few requests fail. */
function failing(runs: readonly Loaded[], test: string): OverlayChart | null {
  const share = ({ data: { labels } }: Loaded): number => {
    const [failed, all] = [sum(labels.map(({ failures }) => failures)), sum(labels.map(({ requests }) => requests))];
    return (100 * failed) / Math.max(all, 1);
  };
  if (runs.every((run) => share(run) <= FAILURE_LIMIT)) return null;
  const chart = new OverlayChart({ file: `${test}-failures`, title: "Failures per second", note: medianNote(runs), across: "time", text: (value) => rate(value) });
  chart.set(line(runs, bySecond((data) => data.series.failures), false));
  return chart;
}

/** The CPU by second; null if no run has it. */
function cpu(runs: readonly Loaded[], test: string): OverlayChart | null {
  if (runs.every(({ data }) => data.series.cpu.every((value) => value === null))) return null;
  const title = cpuTitle(runs.some(({ data }) => ofOneCore(data)));
  const chart = new OverlayChart({ file: `${test}-cpu`, title, note: medianNote(runs), across: "time", text: (value) => ms(value) });
  chart.set(line(runs, bySecond((data) => data.series.cpu), false));
  return chart;
}

/** The server's other series, each in the largest unit of the runs that have it. */
function server(runs: readonly Loaded[], test: string): OverlayChart[] {
  const all = runs.flatMap(({ data }) => data.series.server ?? []);
  const kinds = [...new Map(all.map((one) => [`${one.name} ${one.base ?? one.unit}`, one])).values()];
  return kinds.map((kind) => {
    const same = (one: ServerSeries): boolean => one.name === kind.name && (one.base ?? one.unit) === (kind.base ?? kind.unit);
    const most = all.filter(same).reduce((a, b) => ((b.factor ?? 1) > (a.factor ?? 1) ? b : a));
    const title = most.unit ? `${kind.name}, ${most.unit}` : kind.name;
    const chart = new OverlayChart({ file: `${test}-${kind.name.replace(/\W+/g, "-")}`, title, note: medianNote(runs), across: "time", text: (value) => rate(value) });
    const values = bySecond(({ series }) => {
      const own = series.server?.find(same);
      return own?.values.map((value) => (value === null ? null : (value * (own.factor ?? 1)) / (most.factor ?? 1)));
    });
    chart.set(line(runs, values, false));
    return chart;
  });
}

/** Draws the overlays of a league or of sides; their room is kept while the runs load. `still` is what is whole without them. */
export function overlays(league: readonly Subject[], test: string, still = "The league is whole without it."): { element: HTMLElement; end: () => void } {
  const element = h("div", { class: "overlays" });
  const withOthers = league.reduce((sum, { runs }) => sum + runs.length, 0) <= MOST_RUNS;
  let drawn: OverlayChart[] = [];
  const fit = (paper?: number): void => {
    for (const chart of drawn) {
      const { root } = chart.figure;
      const place = paper ?? root.clientWidth;
      const list = Math.max(LIST, chart.listWidth());
      const narrow = place < NARROW || list > LIST_PART * place;
      root.classList.toggle("narrow", narrow);
      if (place > 0) chart.fit(narrow ? place : place - list);
    }
  };
  const toPaper = (): void => fit(PAPER);
  const toScreen = (): void => fit();
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", toScreen);
  const observer = new ResizeObserver(toScreen);
  const fill = async (): Promise<void> => {
    try {
      const runs = await waitFor(element, plural(Math.min(league.length, MOST_LINES), "run"), load(league, withOthers));
      drawn = charts(runs, test, withOthers);
      replace(element, drawn.map(({ figure }) => figure.root));
      fit();
      observer.observe(element);
    } catch (error) {
      replace(element, failure(error, still));
    }
  };
  void fill();
  const end = (): void => {
    observer.disconnect();
    removeEventListener("beforeprint", toPaper);
    removeEventListener("afterprint", toScreen);
  };
  return { element, end };
}
