// The charts of a run that share the time axis: requests, response times, CPU, the server's series.

import { h } from "../dom";
import { ms } from "../format";
import { LinesChart } from "../charts/lines";
import { RequestsChart, requestsRoom } from "../charts/requests";
import type { Stage } from "../charts/stage";
import type { TimeChart } from "../charts/timechart";
import { TimesChart } from "../charts/times";
import { greatest } from "../data/bins";
import { averaged, cpuTitle, ofOneCore, type PartFigures } from "../data/part";
import type { Run } from "./model";

/** Heights of plots in pixels. */
const HEIGHT = { requests: 106, times: 114, lines: 52 };

/** Returns the time charts of a run in their order; the last has the axis. `figures` are those of the shown window. */
export function timeCharts(
  run: Run,
  stage: Stage,
  figures: () => PartFigures,
): { root: HTMLElement; times: TimesChart } {
  const { row, data } = run;
  const phases = run.phases.map(({ from }) => from);
  const server = data.series.server ?? [];
  const last = server.length ? "server" : run.hasCpu ? "cpu" : "times";
  const failing = run.whole.failures > 0;
  const common = { above: 6, below: 0, phases };
  const color = colorOf(run);
  const requests = new RequestsChart(stage, {
    ...common,
    ...requestsRoom(color.most !== null),
    file: `${row.id}-requests`,
    title: "Requests per second",
    note: [color.most === null ? "" : `coloured by ${color.name}`, failing ? "strip above: seconds with failures" : ""]
      .filter(Boolean)
      .join("; "),
    height: HEIGHT.requests,
    axis: false,
    successes: run.bySecond(data.series.successes),
    failures: run.bySecond(data.series.failures),
    load: run.bySecond(color.values),
    most: color.most,
    unit: color.unit,
    failing,
    figures: () => {
      const { throughput, failures, duration, load, from, to } = figures();
      const shown = color.name === "load" ? load : rangeOf(color.values.slice(from - run.drawn.from, to - run.drawn.from));
      return { throughput, failures: failures / Math.max(duration, 0.001), load: shown };
    },
  });
  const times = new TimesChart(stage, {
    ...common,
    above: 18,
    file: `${row.id}-times`,
    title: "Response time, ms",
    note: averaged(data.head),
    height: HEIGHT.times,
    axis: last === "times",
    times: run.times,
    figures: () => figures().times.map(({ value }) => value),
  });
  const charts: TimeChart[] = [requests, times];
  if (color.name !== "load" && run.mostLoad !== null)
    charts.push(
      new LinesChart(stage, {
        ...common,
        file: `${row.id}-load`,
        title: "Load, threads",
        height: HEIGHT.lines,
        axis: false,
        lines: [{ name: "load", values: run.bySecond(data.series.load), look: "line-5" }],
      }),
    );
  if (run.hasCpu) charts.push(cpuChart(run, stage, phases, last === "cpu", () => figures().cpu));
  server.forEach(({ name, unit, note, values }, at) => {
    charts.push(
      new LinesChart(stage, {
        ...common,
        file: `${row.id}-${name.replace(/\W+/g, "-")}`,
        title: unit ? `${name}, ${unit}` : name,
        ...(note ? { note } : {}),
        height: HEIGHT.lines,
        axis: at === server.length - 1,
        lines: [{ name, values: run.bySecond(values), look: "line-5" }],
      }),
    );
  });
  stage.add(...charts);
  return {
    root: h(
      "section",
      { id: "at-charts", class: "time-charts", "aria-label": "Charts over time" },
      h("h2", { class: "hidden" }, "Charts"),
      charts.map(({ figure }) => figure.root),
    ),
    times,
  };
}

/** What the colours of the requests show: the load, unless the command was told otherwise. */
function colorOf({ data, mostLoad, drawn }: Run): { name: string; values: (number | null)[]; most: number | null; unit: string } {
  const { head, series } = data;
  const of = (name: string, values: (number | null)[], unit: string) => {
    const most = greatest(values.slice(0, drawn.to - drawn.from));
    return { name, values, most: most > 0 ? most : null, unit };
  };
  if (head.colorBy === "cpu") return of("CPU", series.cpu, "% CPU");
  if (head.colorBy === "throughput") return of("throughput", series.successes, "successes/s");
  return { name: "load", values: series.load, most: mostLoad, unit: "threads" };
}

function rangeOf(values: readonly (number | null)[]): [number, number] | null {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? [known.reduce((a, b) => Math.min(a, b)), greatest(known)] : null;
}

function cpuChart(run: Run, stage: Stage, phases: number[], axis: boolean, mean: () => number | null): LinesChart {
  const { row, data } = run;
  const ofCore = ofOneCore(data);
  return new LinesChart(stage, {
    file: `${row.id}-cpu`,
    title: cpuTitle(ofCore),
    height: HEIGHT.lines,
    above: 6,
    below: 0,
    axis,
    phases,
    lines: [{ name: "CPU", values: run.bySecond(data.series.cpu), look: "line-6" }],
    ...(ofCore ? { level: { name: "one core", value: 100 } } : {}),
    figures: () => [mean()],
    text: (value) => ms(value),
  });
}
