// The charts of a run that share the time axis: requests, response times, CPU, the server's series.

import { h } from "../dom";
import { ms } from "../format";
import { LinesChart } from "../charts/lines";
import { RequestsChart, requestsRoom } from "../charts/requests";
import type { Stage } from "../charts/stage";
import type { TimeChart } from "../charts/timechart";
import { TimesChart } from "../charts/times";
import type { PartFigures } from "../data/part";
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
  const requests = new RequestsChart(stage, {
    ...common,
    ...requestsRoom(run.mostLoad !== null),
    file: `${row.id}-requests`,
    title: "Requests per second",
    note: [run.mostLoad === null ? "" : "coloured by load", failing ? "strip above: seconds with failures" : ""]
      .filter(Boolean)
      .join("; "),
    height: HEIGHT.requests,
    axis: false,
    successes: run.bySecond(data.series.successes),
    failures: run.bySecond(data.series.failures),
    load: run.bySecond(data.series.load),
    most: run.mostLoad,
    unit: "threads",
    failing,
    figures: () => {
      const { throughput, failures, duration, load } = figures();
      return { throughput, failures: failures / Math.max(duration, 0.001), load };
    },
  });
  const times = new TimesChart(stage, {
    ...common,
    above: 18,
    file: `${row.id}-times`,
    title: "Response time, ms",
    note: "of successes",
    height: HEIGHT.times,
    axis: last === "times",
    times: run.times,
    figures: () => figures().times.map(({ value }) => value),
  });
  const charts: TimeChart[] = [requests, times];
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

function cpuChart(run: Run, stage: Stage, phases: number[], axis: boolean, mean: () => number | null): LinesChart {
  const { row, data } = run;
  const top = data.head.cpuTop ?? 0;
  // Above 100 %, values are of one core.
  const ofCores = top > 100 || data.series.cpu.some((value) => (value ?? 0) > 100);
  return new LinesChart(stage, {
    file: `${row.id}-cpu`,
    title: ofCores ? "CPU, % of one core" : "CPU, %",
    height: HEIGHT.lines,
    above: 6,
    below: 0,
    axis,
    phases,
    lines: [{ name: "CPU", values: run.bySecond(data.series.cpu), look: "line-6" }],
    ...(ofCores ? { level: { name: "one core", value: 100 } } : {}),
    figures: () => [mean()],
    text: (value) => ms(value),
  });
}
