// Response times in detail: the heat map, percentiles beside the distribution.

import { h } from "../dom";
import { CurveChart, type Curve } from "../charts/curve";
import { HeatChart } from "../charts/heat";
import { HistogramChart } from "../charts/histogram";
import { roundStep } from "../charts/scale";
import type { Stage, Window } from "../charts/stage";
import { barsOf } from "../data/cells";
import { PERCENTS } from "../data/part";
import type { Run } from "./model";
import { part } from "./section";

/** At most so many bars are drawn up to beyond twice the 95th percentile. */
const BARS = 56;

/** Below this width the two charts stand below each other. */
export const PAIR = 664;

/** The charts of response times. */
export class Responses {
  readonly root: HTMLElement;
  private readonly curve: CurveChart;
  private readonly histogram: HistogramChart;
  private window: Window | null = null;
  private barWidth = 1;

  constructor(
    private readonly run: Run,
    stage: Stage,
  ) {
    const { row } = run;
    const heat = new HeatChart(stage, {
      file: `${row.id}-heat`,
      title: "Requests by time and response time, ms",
      height: 150,
      above: 6,
      below: 2,
      axis: true,
      phases: run.phases.map(({ from }) => from),
      counts: run.counts,
    });
    stage.add(heat);
    this.curve = new CurveChart({
      file: `${row.id}-percentiles`,
      title: "Response time by percentile, ms",
      note: "logarithmic",
      height: 156,
      exact: () => ({ columns: ["percentile", "ms"], rows: this.values() }),
    });
    this.histogram = new HistogramChart({
      file: `${row.id}-distribution`,
      title: "Requests by response time, ms",
      height: 156,
      exact: () => {
        const { width, counts, beyond } = this.bars();
        const rows = counts.map((count, at) => [at * width, (at + 1) * width, count]);
        return { columns: ["from ms", "below ms", "requests"], rows: [...rows, [counts.length * width, null, beyond]] };
      },
    });
    this.root = part("responses", "Response times", "", [
      heat.figure.root,
      h("div", { class: "pair" }, this.curve.figure.root, this.histogram.figure.root),
    ]);
  }

  /** Draws the percentiles and the distribution of a window into a width. */
  draw(window: Window | null, content: number): void {
    this.window = window;
    const width = content >= PAIR ? Math.floor((content - 24) / 2) : content;
    this.curve.set(this.values());
    const bars = this.bars();
    this.histogram.set(
      bars,
      PERCENTS.slice(0, 2).map((percent, at) => ({ name: `p${percent}`, value: this.figures()[at] ?? null })),
    );
    this.histogram.options.note = `${Number(this.barWidth.toFixed(3))} ms a bar`;
    this.curve.fit(width);
    this.histogram.fit(width);
  }

  private figures(): (number | null)[] {
    return this.run.figures(this.window).times.map(({ value }) => value);
  }

  /** Returns the times of the window at the percentiles that are written of the whole run. */
  private values(): Curve {
    const { curve } = this.run.data.series;
    if (!this.window) return curve;
    const found = this.run.counts.percentiles(
      this.window.from,
      this.window.to,
      curve.map(([percent]) => percent),
    );
    return found.flatMap(({ value }, at): Curve => (value === null ? [] : [[curve[at]?.[0] ?? 0, value]]));
  }

  private bars(): ReturnType<typeof barsOf> {
    const { from, to } = this.window ?? { from: this.run.whole.from, to: this.run.whole.to };
    const merged = this.run.counts.merged(from, to);
    const { scale } = this.run.counts;
    const p95 = this.figures()[1] ?? 1;
    // A bar holds whole units, so that no bar has more of them than its neighbours.
    const least = 1 / scale;
    const width = Math.max(roundStep((2.4 * p95) / BARS, 1), least);
    this.barWidth = Math.ceil(width / least - 1e-9) * least;
    const greatest = merged.length ? this.run.counts.range((merged.at(-1) as [number, number])[0])[1] / scale : 0;
    const upper = Math.min(Math.ceil((2.4 * p95) / this.barWidth), Math.floor(greatest / this.barWidth) + 1);
    return merged.length
      ? barsOf(this.run.counts, merged, this.barWidth, upper * this.barWidth)
      : { width: this.barWidth, counts: [], beyond: 0 };
  }
}
