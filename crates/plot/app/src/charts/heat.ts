// The heat map: the number of successes by time and response time, darker by the logarithm of the number.

import { columnWidth } from "../data/bins";
import { type HeatCells, heatCells, rowEdge } from "../data/cells";
import type { Counts } from "../data/counts";
import { h, s } from "../dom";
import { count, ms, span } from "../format";
import type { DataTable } from "./export";
import { barPath, px } from "./paths";
import { logAxis } from "./scale";
import type { Stage } from "./stage";
import { TimeChart, type TimeOptions } from "./timechart";

/** The least width of a cell in pixels. */
const CELL = 4;

const SHADES = 7;

/** The heat map of a run. */
export class HeatChart extends TimeChart {
  private cells: HeatCells | null = null;
  private axis = logAxis(1, 10, 1);
  private readonly ends = [h("span", {}, "1"), h("span", {})] as const;

  constructor(
    stage: Stage,
    protected override readonly options: TimeOptions & { counts: Counts },
  ) {
    super(stage, options);
    this.figure.name([
      { name: "requests", key: null },
      { name: "most at", key: null },
    ]);
    const scale = s("svg", { class: "heat-key", width: 84, height: 10, "aria-hidden": "true" });
    for (let shade = 1; shade <= SHADES; shade += 1)
      scale.append(s("rect", { class: `load-${shade}`, x: (shade - 1) * 12, width: 11.5, height: 9 }));
    this.figure.side.prepend(
      h(
        "div",
        { class: "heat-scale" },
        scale,
        h("span", { class: "heat-ends" }, this.ends[0], this.ends[1]),
        h("span", {}, "requests a cell, by their logarithm"),
      ),
    );
  }

  protected bin(): number {
    const { from, to } = this.stage.view;
    return columnWidth(from, to, Math.min(this.stage.width / CELL, 220), this.options.counts.width);
  }

  protected content(): void {
    const { from, to } = this.stage.view;
    const { counts } = this.options;
    const cells = heatCells(counts, from, to, this.bin());
    this.cells = cells;
    this.figure.retitle(
      this.options.title,
      `each cell: ${cells.bin === 1 ? "one second" : span(cells.bin)}, 20 % of response time; logarithmic`,
    );
    if (!Number.isFinite(cells.lowest)) return this.figure.describe("No successes.");
    this.ends[1].textContent = count(cells.most);
    this.axis = logAxis(rowEdge(cells.lowest, counts.scale), rowEdge(cells.highest + 1, counts.scale), this.height);
    const paths = new Array<string>(SHADES).fill("");
    for (const { start, end, rows } of cells.columns) {
      const [left, right] = [this.stage.inside(start), this.stage.inside(end)];
      const edge = right - left > 5 ? right - 0.5 : right;
      for (const [row, number] of rows) {
        const [low, high] = [this.axis.y(rowEdge(row, counts.scale)), this.axis.y(rowEdge(row + 1, counts.scale))];
        paths[shadeOf(number, cells.most)] += barPath(left, edge, high, low - (low - high > 3 ? 0.4 : 0));
      }
    }
    paths.forEach((d, shade) => this.plot.append(s("path", { class: `load-${shade + 1}`, d })));
    for (const { at, text } of this.axis.ticks) {
      const y = px(this.axis.y(at));
      this.plot.append(
        s("path", { class: "tick-mark", d: `M-4 ${y}H0` }),
        s("text", { class: "tick", x: -7, y: y + 4, "text-anchor": "end" }, text),
      );
    }
    this.figure.describe(
      `Response times from ${ms(rowEdge(cells.lowest, counts.scale))} to ${ms(rowEdge(cells.highest + 1, counts.scale))} ms; at most ${count(cells.most)} requests in a cell.`,
    );
  }

  protected valuesAt(second: number | null): string[] {
    const columns = (this.cells?.columns ?? []).filter(
      ({ start, end }) => second === null || (start <= second && second < end),
    );
    const rows = new Map<number, number>();
    for (const column of columns) for (const [row, number] of column.rows) rows.set(row, (rows.get(row) ?? 0) + number);
    const all = [...rows.values()].reduce((sum, number) => sum + number, 0);
    const [mode] = [...rows].reduce<[number, number]>((a, b) => (b[1] > a[1] ? b : a), [NaN, 0]);
    const { scale } = this.options.counts;
    return [count(all), Number.isNaN(mode) ? "–" : `${ms(rowEdge(mode, scale))} ms`];
  }

  protected table(): DataTable {
    const { scale } = this.options.counts;
    const rows = (this.cells?.columns ?? []).flatMap((column) =>
      [...column.rows]
        .sort(([a], [b]) => a - b)
        .map(([row, number]) => [
          column.start,
          Number(rowEdge(row, scale).toPrecision(4)),
          Number(rowEdge(row + 1, scale).toPrecision(4)),
          number,
        ]),
    );
    return { columns: ["second", "from ms", "below ms", "requests"], rows };
  }
}

/** Returns the shade of a count. It is logarithmic, so that one slow request is seen beside thousands of fast ones. */
function shadeOf(number: number, most: number): number {
  return most > 1 ? Math.round((Math.log(Math.max(number, 1)) / Math.log(most)) * (SHADES - 1)) : SHADES - 1;
}
