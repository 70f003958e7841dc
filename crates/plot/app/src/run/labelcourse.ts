// One label over time, folded: its requests, response times, waits and traffic.

import type { Values } from "../data/bins";
import { averaged } from "../data/part";
import { h } from "../dom";
import { ms } from "../format";
import { type Line, LinesChart } from "../charts/lines";
import type { Stage } from "../charts/stage";
import type { NetworkSeries } from "../types";
import type { Run } from "./model";
import { folded } from "./section";

/** The height of a plot in pixels. */
const HEIGHT = 80;

/** A line, and where its values are of a label. */
interface LabelLine {
  name: string;
  look: string;
  of: (label: number) => { width: number; list: (number | null)[] };
  /** Its figure in the table of labels, where a mean of its values is another one. */
  figure?: "p50" | "p95" | "latency" | "connect";
}

/** Returns the fold of one label over time; null if there is but one label. */
export function labelCourse(run: Run, stage: Stage): HTMLElement | null {
  const { overTime, network } = run.data.detail;
  const { labels, width } = overTime;
  if (labels.length < 2) return null;
  const perSecond = (list: readonly number[], over: number): number[] => list.map((sum) => sum / over);
  const none: NetworkSeries = { width: 1, elapsed: [], latency: [], connect: [], received: [], sent: [] };
  const waits = (name: "latency" | "connect", look: string): LabelLine => ({
    name,
    look,
    figure: name,
    of: (at) => ({ width: (network.labels[at] ?? none).width, list: (network.labels[at] ?? none)[name] }),
  });
  const bytes = (name: "received" | "sent", look: string): LabelLine => ({
    name,
    look,
    of: (at) => {
      const own = network.labels[at] ?? none;
      return { width: own.width, list: perSecond(own[name], own.width * 1000) };
    },
  });
  const times = (name: "p50" | "p95", look: string): LabelLine => ({
    name,
    look,
    figure: name,
    of: (at) => ({ width, list: labels[at]?.[name] ?? [] }),
  });
  const requests = (name: "successes" | "failures", look: string): LabelLine => ({
    name,
    look,
    of: (at) => ({ width, list: perSecond(labels[at]?.[name] ?? [], width) }),
  });
  const charts: { title: string; file: string; note?: string; text?: (value: number | null) => string; lines: LabelLine[] }[] = [
    { title: "Requests per second", file: "requests", lines: [requests("successes", "line-6"), requests("failures", "line-fail")] },
    { title: "Response time, ms", file: "times", note: averaged(run.data.head), text: (value) => ms(value), lines: [times("p95", "p95"), times("p50", "p50")] },
    { title: "Mean waits, ms", file: "waits", text: (value) => ms(value), lines: [waits("latency", "line-6"), waits("connect", "line-4")] },
    { title: "Traffic, kB/s", file: "traffic", lines: [bytes("received", "line-6"), bytes("sent", "line-4")] },
  ];
  const holds = ({ of }: LabelLine): boolean => labels.some((_, at) => of(at).list.some((value) => (value ?? 0) > 0));
  const shown = charts.map((chart) => ({ ...chart, lines: chart.lines.filter(holds) })).filter(({ lines }) => lines.length > 0);
  return folded("label", "One label over time", `one of ${labels.length}`, (host) => {
    let chosen = 0;
    const { first } = run.data.head;
    const values = ({ of }: LabelLine): Values => ({ first, ...of(chosen) });
    // Figures of single labels are known of the whole run alone.
    const known = (lines: readonly LabelLine[]) => (): (number | null)[] | null => {
      const row = run.data.labels.find(({ label }) => label === labels[chosen]?.label);
      const isWhole = stage.view.from === run.drawn.from && stage.view.to === run.drawn.to;
      return row && isWhole ? lines.map(({ figure }) => (figure ? row[figure] : null)) : null;
    };
    const drawn = shown.map(({ lines, title, file, note, text }, at) => {
      const own: Line[] = lines.map((line) => ({ name: line.name, look: line.look, values: values(line) }));
      const chart = new LinesChart(stage, {
        title,
        file: `${run.row.id}-label-${file}`,
        ...(note ? { note } : {}),
        ...(text ? { text } : {}),
        ...(lines.every(({ figure }) => figure) ? { figures: known(lines) } : {}),
        height: HEIGHT,
        above: 6,
        below: 0,
        axis: at === shown.length - 1,
        phases: run.phases.map(({ from }) => from),
        lines: own,
      });
      return { chart, own, lines };
    });
    const draw = (): void => {
      for (const { chart, own, lines } of drawn) {
        own.forEach((line, at) => (line.values = values(lines[at] as LabelLine)));
        chart.draw();
        chart.point(stage.cursor);
      }
    };
    const select = h(
      "select",
      { id: "label-shown", onchange: () => ((chosen = select.selectedIndex), draw()) },
      labels.map(({ label }) => h("option", {}, label || "(no label)")),
    );
    host.append(
      h("p", { class: "label-choice" }, h("label", { for: "label-shown" }, "Label "), select),
      ...drawn.map(({ chart }) => chart.figure.root),
    );
    stage.add(...drawn.map(({ chart }) => chart));
    draw();
  });
}
