// What is folded: load steps, waits and traffic, all figures.

import { greatest } from "../data/bins";
import { ratedSeconds, rateSteps } from "../data/rate";
import { averaged, PERCENTS } from "../data/part";
import { h } from "../dom";
import { count, failurePercent, ms, rate } from "../format";
import { LinesChart } from "../charts/lines";
import { loadText } from "../charts/requests";
import { roundStep } from "../charts/scale";
import type { Stage } from "../charts/stage";
import { StepsChart } from "../charts/steps";
import { scrolling } from "../table";
import type { LabelRow, NetworkSeries, RuleRow } from "../types";
import { failureKinds, isOfFailures } from "./kinds";
import { MANY, moreOnScreen } from "./labels";
import { labelCourse } from "./labelcourse";
import type { Run } from "./model";
import { PAIR } from "./responses";
import { allRules } from "./rules";
import { folded } from "./section";

/** Returns the folded parts that the run has data for. `content` is the width of the page's content, and `rules` those of its end. */
export function folds(run: Run, stage: Stage, content: () => number, rules: readonly RuleRow[]): HTMLElement[] {
  return [labelCourse(run, stage), loadSteps(run, content), network(run, stage), failureKinds(run, content), allRules(run, rules), allFigures(run)].filter((part) => part !== null);
}

function loadSteps(run: Run, content: () => number): HTMLElement | null {
  const { sweep } = run.data.detail;
  if (!sweep || sweep.loads.length < 2) return null;
  const { loads, knee, capacity, beyond, failed = [] } = sweep;
  const fails = failed.some((value) => (value ?? 0) > 0);
  const percents = run.data.head.percentiles;
  const names = percents.map((percent) => `p${Number(percent.toFixed(2))}`);
  const note = `${count(loads.length)} loads${knee === null ? "" : `; throughput stops growing ${beyond ? "at or below" : "at about"} ${rate(knee)} threads`}`;
  return folded("load", "Load steps", note, (host) => {
    const throughput = new StepsChart(
      {
        file: `${run.row.id}-load`,
        title: `Successes${fails ? " and failures" : ""} per second, by threads`,
        note: `with standard deviations${fails ? " of the successes" : ""}`,
        height: 156,
        exact: () => ({
          columns: ["threads", "successes/s", "sd", "failures/s", ...names.map((name) => `${name} ms`), "CPU %"],
          rows: loads.map((load, at) => [
            load,
            sweep.throughput[at] ?? null,
            sweep.spread[at] ?? null,
            failed[at] ?? null,
            ...sweep.elapsed.map((list) => list[at] ?? null),
            sweep.cpu[at] ?? null,
          ]),
        }),
      },
      // The names stand at the ends of the lines.
      fails ? 76 : undefined,
    );
    throughput.set({
      at: loads,
      unit: "threads",
      lines: [
        { name: "successes/s", look: "line-6", values: sweep.throughput, spread: sweep.spread },
        ...(fails ? [{ name: "failures/s", look: "line-fail", values: failed }] : []),
      ],
      mark: knee === null ? null : { at: knee, text: `knee: ${rate(knee)} threads, ${rate(capacity)}/s` },
    });
    const byRate = rateChart(run);
    const width = content();
    const charts = [throughput, byRate].filter((chart) => chart !== null);
    host.append(
      h(
        "div",
        { class: "pair" },
        charts.map(({ figure }) => figure.root),
      ),
      stepTable(run, names),
    );
    for (const chart of charts) chart.fit(width >= PAIR ? Math.floor((width - 24) / 2) : width);
  });
}

/** Returns the chart of times by the number of requests in a second; null of too few steps. */
function rateChart(run: Run): StepsChart | null {
  const seconds = ratedSeconds(run.data, run.drawn.from, run.drawn.to);
  const steps = rateSteps(seconds, roundStep(greatest(seconds.map(({ rate }) => rate)) || 1, 14));
  if (steps.length < 2) return null;
  const chart = new StepsChart(
    {
      file: `${run.row.id}-rate`,
      title: "Response time by requests per second, ms",
      note: "medians of the seconds",
      height: 156,
      exact: () => ({
        columns: [
          "from requests/s",
          "below",
          "seconds",
          ...run.data.head.percentiles.map((percent) => `p${percent} ms`),
        ],
        rows: steps.map(({ from, to, seconds, medians }) => [from, to, seconds, ...medians]),
      }),
    },
    36,
  );
  chart.set({
    at: steps.map(({ from, to }) => (from + to) / 2),
    unit: "/s",
    lines: run.data.head.percentiles.map((percent, at) => ({
      name: `p${percent}`,
      look: percent === 50 ? "p50" : percent > 90 ? "p95" : "line-4",
      values: steps.map(({ medians }) => medians[at] ?? null),
    })),
    mark: null,
  });
  return chart;
}

function stepTable(run: Run, names: string[]): HTMLElement {
  const { sweep } = run.data.detail;
  const number = (text: string): HTMLElement => h("td", { class: "number" }, text);
  return scrolling(
    "Load steps",
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Threads", "Successes/s", "± sd", "Failures/s", ...names.map((name) => `${name}, ms`), "CPU, %"].map((text) =>
            h("th", { scope: "col", class: "number" }, text),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        sweep?.loads.map((load, at) =>
          h(
            "tr",
            {},
            number(loadText(load)),
            number(rate(sweep.throughput[at])),
            number(rate(sweep.spread[at])),
            number(rate(sweep.failed?.[at])),
            sweep.elapsed.map((list) => number(ms(list[at]))),
            number(rate(sweep.cpu[at])),
          ),
        ),
      ),
    ),
  );
}

function network(run: Run, stage: Stage): HTMLElement | null {
  const { all } = run.data.detail.network;
  const has = (list: (number | null)[]): boolean => list.some((value) => value !== null && value > 0);
  const waits = (["elapsed", "latency", "connect"] as const).filter((name) => has(all[name]));
  const bytes = (["received", "sent"] as const).filter((name) => has(all[name]));
  if (!waits.length && !bytes.length) return null;
  const looks = ["line-7", "line-5", "line-4"];
  const line = (name: keyof NetworkSeries, at: number, list: (number | null)[]) => ({
    name,
    look: looks[at] ?? "line-4",
    values: { first: run.data.head.first, width: all.width, list },
  });
  const common = { height: 80, above: 6, below: 0, phases: run.phases.map(({ from }) => from) };
  return folded("network", "Waits and traffic", "connect, latency, bytes", (host) => {
    const charts: LinesChart[] = [];
    if (waits.length)
      charts.push(
        new LinesChart(stage, {
          ...common,
          file: `${run.row.id}-waits`,
          title: "Mean waits, ms",
          text: (value) => ms(value),
          figures: () => {
            const total = run.data.total ?? run.data.labels[0];
            const isWhole = stage.view.from === run.drawn.from && stage.view.to === run.drawn.to;
            return total && isWhole ? waits.map((name) => total[name === "elapsed" ? "mean" : name]) : null;
          },
          axis: !bytes.length,
          lines: waits.map((name, at) => line(name, at, all[name])),
        }),
      );
    if (bytes.length) {
      const perSecond = bytes.map((name) => all[name].map((sum) => sum / all.width / 1000));
      charts.push(
        new LinesChart(stage, {
          ...common,
          file: `${run.row.id}-traffic`,
          title: "Traffic, kB/s",
          axis: true,
          lines: bytes.map((name, at) => line(name, at, perSecond[at] ?? [])),
        }),
      );
    }
    host.append(...charts.map(({ figure }) => figure.root));
    stage.add(...charts);
    for (const chart of charts) {
      chart.draw();
      chart.point(stage.cursor);
    }
  });
}

function allFigures(run: Run): HTMLElement {
  return folded("figures", "All figures", "phases, standard deviations, waits by label, tags", (host) => {
    const number = (text: string): HTMLElement => h("td", { class: "number" }, text);
    const heads = (texts: string[]): HTMLElement =>
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          texts.map((text, at) => h("th", { scope: "col", class: at > 0 ? "number" : null }, text)),
        ),
      );
    const parts = run.data.head.parts.map((part) => {
      const figures = run.figures({ from: part.from, to: part.to });
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, part.name),
        [
          `${run.stamp(part.from)} to ${run.stamp(part.from + part.duration)}`,
          rate(part.duration),
          count(figures.requests),
          count(figures.failures),
          failurePercent(figures.share * 100),
          rate(figures.throughput),
        ].map(number),
        PERCENTS.map((_, at) => number(ms(part.times[at]))),
        number(rate(figures.cpu)),
      );
    });
    const rare = [...run.data.labels].sort((a, b) => b.requests - a.requests).slice(MANY);
    const labelRow = (row: LabelRow, name = row.label || "(no label)"): HTMLElement =>
      h(
        "tr",
        { class: rare.includes(row) ? "beyond-paper" : null },
        h("th", { scope: "row" }, name),
        number(rate(row.throughput)),
        [row.mean, row.sd, row.min, row.p90, row.max, row.latency, row.connect].map((value) => number(ms(value))),
        number(count(row.received)),
        number(count(row.sent)),
      );
    const labels = run.data.labels.map((row) => labelRow(row));
    const { row, data } = run;
    const facts: [string, string][] = [
      ...Object.entries(row.tags),
      ["run", row.id],
      ["tool", row.tool ?? "–"],
      ["started", new Date(row.t0).toISOString()],
      ...(data.sources?.length ? [["files", data.sources.join(", ")] as [string, string]] : []),
    ];
    host.append(
      scrolling(
        "Phases",
        h(
          "table",
          {},
          heads([
            "Part",
            "Seconds",
            "Duration, s",
            "Requests",
            "Failures",
            "%",
            "Successes/s",
            ...PERCENTS.map((percent) => `p${percent}, ms`),
            "CPU, %",
          ]),
          h("tbody", {}, parts),
        ),
      ),
      scrolling(
        "Waits and bytes by label",
        h(
          "table",
          {},
          heads([
            "Label",
            "Successes/s",
            "Mean, ms",
            "sd",
            "Least",
            "p90",
            "Greatest",
            "Latency",
            "Connect",
            "Received, B",
            "Sent, B",
          ]),
          h("tbody", {}, labels, run.data.total ? labelRow(run.data.total, "All") : null),
        ),
      ),
      moreOnScreen(run.data.labels.length) ?? "",
      h(
        "dl",
        { class: "facts-list" },
        facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
      ),
      ...[...run.data.remarks.filter((remark) => !isOfFailures(remark)), `Times, waits, bytes and CPU are ${averaged(run.data.head)}.`].map((remark) =>
        h("p", { class: "chart-note" }, remark),
      ),
    );
  });
}
