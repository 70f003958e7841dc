// Requests per second: bars coloured by load, failures hatched on top, seconds with failures above, the load below.

import { type Column, columns, columnWidth, greatest, spans, type Values } from "../data/bins";
import { s } from "../dom";
import { count, rate, span } from "../format";
import type { DataTable } from "./export";
import { barKey, hatching, hatchKey, lineKey } from "./keys";
import { barPath, px } from "./paths";
import { valueAxis } from "./scale";
import type { Stage } from "./stage";
import { TimeChart, type TimeOptions } from "./timechart";

/** The strip of failures above the plot, and the strip of load below it, in pixels. */
const STRIP = { high: 7, low: 3, gap: 9 };
const LOAD = { gap: 5, height: 29 };

/** A share of failures from which on the strip is high and strong. */
const MANY = 0.01;

/** The least width of a bar in pixels. */
const BAR = 2;

/** The colours of load. */
const LEVELS = 7;

/** What the chart draws of a run. */
export interface RequestsOptions extends TimeOptions {
  successes: Values;
  failures: Values;
  load: Values;
  /** The greatest load of the run; null if no load is known. */
  most: number | null;
  /** Whether any request of the run failed. */
  failing: boolean;
  /** What the load is counted in. */
  unit: string;
  /** The figures of the window: successes and failures a second, and its loads. */
  figures: () => { throughput: number; failures: number; load: [number, number] | null };
}

/** Returns the room that the chart needs above and below its plot. */
export function requestsRoom(load: boolean): { above: number; below: number } {
  return { above: STRIP.gap + 5, below: load ? LOAD.gap + LOAD.height : 0 };
}

/** Returns the colour of a load, from 1 to 7: the more, the further from the page. */
export function loadLevel(load: number, most: number): number {
  return Math.min(Math.max(Math.ceil((LEVELS * load) / most - 1e-6), 1), LEVELS);
}

/** Writes a load: mostly a whole number; while it changes, a mean. */
export function loadText(load: number | null): string {
  return load !== null && Math.abs(load - Math.round(load)) < 0.05 ? count(Math.round(load)) : rate(load);
}

/** The number of usual distances between seconds with requests from which on a silence is one, as in the phases of a run. */
const SILENCE = 20;

/** Returns the least number of seconds without a request that are unusual, given which seconds have one. */
export function leastSilence(active: readonly boolean[]): number {
  const distances: number[] = [];
  let last = -1;
  active.forEach((is, at) => {
    if (!is) return;
    if (last >= 0) distances.push(at - last);
    last = at;
  });
  const usual = distances.sort((a, b) => a - b)[distances.length >> 1] ?? 1;
  return usual === 1 ? 1 : SILENCE * usual;
}

/** The chart of requests. */
export class RequestsChart extends TimeChart {
  private axis = valueAxis(1, 1);

  /** The least number of seconds without a request that are unusual, once it is known. */
  private least: number | null = null;

  constructor(
    stage: Stage,
    protected override readonly options: RequestsOptions,
  ) {
    super(stage, options);
    const middle = options.above + options.height + LOAD.gap + LOAD.height / 2;
    this.figure.name([
      { name: "successes", key: barKey("load-5") },
      ...(options.failing ? [{ name: "failures", key: hatchKey() }] : []),
      { name: "average", key: lineKey("average"), quiet: true },
      ...(options.most ? [{ name: options.unit, key: null, top: middle - 9 }] : []),
    ]);
  }

  protected bin(): number {
    const { from, to } = this.stage.view;
    return columnWidth(from, to, this.stage.width / BAR);
  }

  protected content(): void {
    const { from, to } = this.stage.view;
    const bin = this.bin();
    const [good, bad, load] = [this.options.successes, this.options.failures, this.options.load].map((values) =>
      columns(values, from, to, bin),
    ) as [Column[], Column[], Column[]];
    const top = greatest(good.map((column, at) => Math.max(column.max, column.mean + (bad[at]?.mean ?? 0))));
    this.axis = valueAxis(top, this.height, true);
    this.values(this.axis);
    this.bars(good, bad, load);
    const gaps = this.outages();
    this.strip(good, bad);
    this.average();
    this.loads(load.filter(({ start, end }) => !gaps.some(([from, to]) => from <= start && end <= to)));
    this.figure.retitle(
      this.options.title,
      [bin > 1 ? `each bar ${span(bin)}, pale up to its greatest second` : "", this.options.note]
        .filter(Boolean)
        .join("; "),
    );
    this.say(good);
  }

  private bars(good: Column[], bad: Column[], load: Column[]): void {
    const levels = new Map(
      load.map(({ start, mean }) => [start, this.options.most ? loadLevel(mean, this.options.most) : 5]),
    );
    const paths = new Map<string, string>();
    const add = (look: string, path: string): void => void paths.set(look, (paths.get(look) ?? "") + path);
    let failed = "";
    good.forEach(({ start, end, mean, max }, at) => {
      const [left, right] = [this.stage.inside(start), this.stage.inside(end)];
      const edge = right - left > 5 ? right - 0.7 : right;
      const level = `load-${levels.get(start) ?? 5}`;
      const low = this.axis.y(mean);
      const failures = bad[at]?.mean ?? 0;
      const high = failures > 0 ? Math.min(this.axis.y(mean + failures), low - 1) : low;
      if (max > mean + failures) add(`${level} pale`, barPath(left, edge, this.axis.y(max), high));
      if (mean > 0) add(level, barPath(left, edge, low, this.height));
      if (failures > 0) failed += barPath(left, edge, high, low);
    });
    for (const [look, d] of paths) this.plot.append(s("path", { class: look, d }));
    if (!failed) return;
    const { defs, paint } = hatching("fail");
    this.plot.append(defs, s("path", { d: failed, fill: paint }));
  }

  /** Hatches seconds without any request, where that is unusual, and returns them as [from, to). */
  private outages(): [number, number][] {
    const { successes, failures } = this.options;
    const { from, to: shown } = this.stage.view;
    // The seconds that a running test has not come to are none.
    const to = Math.min(shown, successes.first + successes.list.length);
    const empty = (second: number): boolean =>
      !successes.list[second - successes.first] && !failures.list[second - failures.first];
    this.least ??= leastSilence(successes.list.map((_, at) => !empty(successes.first + at)));
    const found = spans(from, to, empty).filter(
      ([start, end]) => end - start >= (this.least ?? 1) && this.stage.x(end) - this.stage.x(start) >= 1,
    );
    if (!found.length) return found;
    const { defs, paint } = hatching("gap");
    // What the load was is not known either.
    const low = this.height + LOAD.gap;
    const parts = [[0, this.height], ...(this.options.most ? [[low, low + LOAD.height]] : [])] as [number, number][];
    const d = found.flatMap(([start, end]) => parts.map(([top, bottom]) => barPath(this.stage.x(start), this.stage.x(end), top, bottom)));
    this.plot.append(defs, s("path", { d: d.join(""), fill: paint }));
    return found;
  }

  private strip(good: Column[], bad: Column[]): void {
    let [few, many] = ["", ""];
    bad.forEach(({ start, end, mean }, at) => {
      if (mean <= 0) return;
      const share = mean / (mean + (good[at]?.mean ?? 0));
      const [left, right] = [this.stage.inside(start), this.stage.inside(end)];
      const edge = Math.max(right - (right - left > 5 ? 0.7 : 0), left + 1.5);
      if (share >= MANY) many += barPath(left, edge, -STRIP.gap, STRIP.high - STRIP.gap);
      else few += barPath(left, edge, -STRIP.gap, STRIP.low - STRIP.gap);
    });
    this.plot.append(s("path", { class: "failed few", d: few }), s("path", { class: "failed", d: many }));
  }

  private average(): void {
    const y = px(this.axis.y(this.options.figures().throughput));
    this.plot.append(
      s("path", { class: "average-ground", d: `M0 ${y}H${this.stage.width}` }),
      s("path", { class: "average", d: `M0 ${y}H${this.stage.width}` }),
    );
  }

  /** Draws the load: columns of the same load are one block with its number. */
  private loads(load: Column[]): void {
    const { most } = this.options;
    if (!most) return;
    const bottom = this.height + LOAD.gap + LOAD.height;
    for (let at = 0; at < load.length;) {
      const first = load[at] as Column;
      const size = Math.round(first.mean);
      let next = at + 1;
      while (
        next < load.length &&
        Math.round((load[next] as Column).mean) === size &&
        (load[next] as Column).start === (load[next - 1] as Column).end
      )
        next += 1;
      const last = load[next - 1] as Column;
      const [left, right] = [this.stage.inside(first.start), this.stage.inside(last.end)];
      const top = bottom - Math.max((LOAD.height * first.mean) / most, 1);
      const level = loadLevel(first.mean, most);
      this.plot.append(s("path", { class: `load-${level}`, d: barPath(left, right, top, bottom) }));
      const text = count(size);
      if (right - left > text.length * 7 + 10) {
        const within = bottom - top > 17;
        const look = within ? (level > 3 ? "load-in" : "load-on") : "load-out";
        this.plot.append(
          s(
            "text",
            { class: look, x: px((left + right) / 2), y: px(within ? top + 12 : top - 4), "text-anchor": "middle" },
            text,
          ),
        );
      }
      at = next;
    }
    this.plot.append(
      s("path", { class: "base", d: `M0 ${bottom}H${this.stage.width}` }),
      s("text", { class: "tick", x: -7, y: bottom, "text-anchor": "end" }, "0"),
    );
  }

  private say(good: Column[]): void {
    if (!good.length) return this.figure.describe("No requests.");
    const [least, most] = [
      good.reduce((a, b) => (b.min < a.min ? b : a)),
      good.reduce((a, b) => (b.max > a.max ? b : a)),
    ];
    this.figure.describe(
      `Successes a second: least ${count(least.min)} at ${this.stage.stamp(least.start)}, greatest ${count(most.max)} at ${this.stage.stamp(most.start)}, on average ${rate(this.options.figures().throughput)}.`,
    );
  }

  protected valuesAt(second: number | null): string[] {
    const { successes, failures, load, failing } = this.options;
    const window = this.options.figures();
    if (second === null) {
      const loads = window.load?.map((value) => (value < 1 ? loadText(value) : count(Math.round(value)))) ?? [];
      return [
        rate(window.throughput),
        ...(failing ? [window.failures > 0 && window.failures < 0.01 ? "< 0.01" : rate(window.failures)] : []),
        // It is the value above as long as no second is pointed at.
        "",
        loads[0] === loads[1] ? (loads[0] ?? "–") : loads.join(" to "),
      ];
    }
    const at = (values: Values): number | null => values.list[second - values.first] ?? null;
    return [
      count(at(successes)),
      ...(failing ? [count(at(failures))] : []),
      rate(window.throughput),
      loadText(at(load)),
    ];
  }

  protected table(bin: number): DataTable {
    const { from, to } = this.stage.view;
    const lists = [this.options.successes, this.options.failures, this.options.load];
    const found = lists.map(
      (values) => new Map(columns(values, from, to, bin).map(({ start, mean }) => [start, mean])),
    );
    const rows = [...(found[0]?.keys() ?? [])].map((start) => [
      bin === 1 ? start : this.stage.stamp(start),
      ...found.map((column) => column.get(start) ?? null),
    ]);
    return { columns: ["second", "successes", "failures", this.options.unit], rows };
  }
}
