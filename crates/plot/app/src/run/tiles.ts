// The six figures of the window. The second line of each has the repeats' range, or the whole run's value.

import { averaged, ofOneCore, PERCENTS, type PartFigures } from "../data/part";
import { type Child, h, replace } from "../dom";
import { count, failurePercent, ms, plural, rangeText, rate, took } from "../format";
import type { RuleRow, RunRow } from "../types";
import { failureTimes } from "./kinds";
import type { Run } from "./model";
import { tileRules } from "./rules";

/** A share of failures from which on its figure is red. */
const MANY = 0.01;

/** A figure as text. */
interface TileText {
  value: string;
  second: string;
  /** Why the value is absent or not exact. */
  title: string;
}

interface Tile {
  name: string;
  unit: string;
  root: HTMLElement;
  value: HTMLElement;
  second: HTMLElement;
}

/** The tiles of a run. */
export class Tiles {
  readonly root: HTMLElement;
  private readonly tiles: Tile[];
  private readonly rules: Map<string, RuleRow[]>;

  /**
   * `rules` are those of the end. `repeats` are all runs of the same framework and test. `latest` is the number of seconds at the end whose figures stand
   * with those of the whole run, in their place.
   */
  constructor(
    private readonly run: Run,
    private readonly repeats: RunRow[],
    rules: readonly RuleRow[],
    private readonly latest: number | null = null,
  ) {
    this.rules = tileRules(rules);
    const names: [string, string][] = [
      ["Throughput", "/s"],
      ["p50", "ms"],
      ["p95", "ms"],
      ["p99", "ms"],
      ["Failures", "%"],
      ["CPU", "%"],
    ];
    // Where all succeed, times are of all.
    const of = run.whole.failures > 0 ? averaged(run.data.head) : "";
    this.tiles = names.map(([name, unit]) => {
      const [value, second] = [h("span", { class: "tile-value" }), h("div", { class: "tile-second" })];
      const root = h(
        "div",
        { class: "tile" },
        h("div", { class: "tile-head" }, h("span", { class: "tile-name" }, name), name.startsWith("p") ? ` ${of}` : null),
        h("div", {}, value, " ", h("span", { class: "tile-unit" }, unit)),
        second,
      );
      return { name, unit, root, value, second };
    });
    this.root = h(
      "div",
      { class: "tiles", role: "group", "aria-label": "Figures of the window" },
      this.tiles.map(({ root }) => root),
    );
  }

  /** Shows the figures of a window; `whole` is false if it is a part of the run. */
  show(figures: PartFigures, whole: boolean): void {
    texts(this.run, figures, this.beside(whole), this.repeats).forEach(({ value, second, title }, at) => {
      const tile = this.tiles[at] as Tile;
      tile.value.textContent = value;
      const rules = whole ? (this.rules.get(tile.name) ?? []) : [];
      replace(tile.second, rules.length > 0 ? rules.map(ruleText) : second);
      tile.root.title = title;
      tile.root.classList.toggle("failing", tile.name === "Failures" && figures.share >= MANY);
    });
  }

  private beside(whole: boolean): Beside | null {
    if (!whole) return { name: "whole", figures: this.run.whole };
    const { from, to } = this.run.drawn;
    if (this.latest === null || to - from <= this.latest) return null;
    return { name: `last ${this.latest} s`, figures: this.run.figures({ from: to - this.latest, to }) };
  }
}

/** Figures to set beside others, and what they are of. */
interface Beside {
  name: string;
  figures: PartFigures;
}

/** A rule as a second line: its limit, and whether it is kept. */
function ruleText({ rule, passed, note }: RuleRow): Child {
  return h("span", { class: passed ? "tile-rule" : "tile-rule fail", title: note ? `${rule}: ${note}` : rule }, passed ? "✓ " : "✗ ", rule.replace(/^\S+ /, "rule: "));
}

/** Says how long failures took, whose times are in none of the tiles; null without failures, or where times are of all requests. */
export function failureNote({ data, whole }: Run): HTMLElement | null {
  const { p50, most } = failureTimes(data.detail.failures);
  if (data.head.includeFailures || whole.failures === 0 || p50 === null) return null;
  const [low, high] = p50;
  // Times are known by bins: of a wide one, both ends are said.
  const half = low === 0 && high > 1 ? `less than ${took(high)}` : high > 1.1 * low ? rangeText([low, high], took) : took(low);
  const end = most === null || most <= low ? "" : `, at most ${took(most)}`;
  return h("p", { class: "failure-note" }, `${plural(whole.failures, "request")} failed after ${half} (p50)${end}: not in these times.`);
}

/** Returns the texts of the tiles in their order, with those that are set beside them. */
function texts(run: Run, figures: PartFigures, beside: Beside | null, repeats: RunRow[]): TileText[] {
  const others = repeats.length > 1 ? repeats : [];
  const range = (of: (row: RunRow) => number | null, text: (value: number) => string): string => {
    const values = others.map(of).filter((value) => value !== null);
    if (!values.length) return "";
    const [least, most] = [text(Math.min(...values)), text(Math.max(...values))];
    return least === most ? `repeats ${least}` : `repeats ${least} to ${most}`;
  };
  const time = (at: number, of: (row: RunRow) => number | null): TileText => {
    const found = figures.times[at];
    const none = found?.value === null || found?.value === undefined;
    return {
      value: none ? ms(null) : `${found.exact ? "" : "≈ "}${ms(found.value)}`,
      second: beside ? `${beside.name} ${ms(beside.figures.times[at]?.value)}` : range(of, (value) => ms(value)),
      title: none
        ? "No request succeeded"
        : found.exact
          ? `${found.value} ms, ${averaged(run.data.head)}`
          : "Within 0.4 %: times were counted in buckets",
    };
  };
  return [
    {
      // A single request has no rate.
      value: rate(figures.requests > 1 ? figures.throughput : null),
      second: beside
        ? `${beside.name} ${rate(beside.figures.throughput)}`
        : range(
            (row) => row.throughput,
            (value) => rate(value),
          ) || "successes",
      title: `${figures.throughput} successes a second`,
    },
    ...[(row: RunRow) => row.p50, (row: RunRow) => row.p95, (row: RunRow) => row.p99]
      .slice(0, PERCENTS.length)
      .map((of, at) => time(at, of)),
    {
      value: failurePercent(figures.share * 100),
      second: `${count(figures.failures)} of ${count(figures.requests)}`,
      title: `${figures.share * 100} %`,
    },
    {
      value: ms(figures.cpu),
      second: beside?.figures.cpu != null
        ? `${beside.name} ${ms(beside.figures.cpu)}`
        : figures.cpu === null
          ? "not recorded"
          : ofOneCore(run.data)
            ? "of one core, mean"
            : "mean",
      title: figures.cpu === null ? "The log has no CPU" : `${figures.cpu} %`,
    },
  ];
}

/** Returns the figures of a window in few words, for the bar that stays in view. */
export function shortFigures(figures: PartFigures): HTMLElement[] {
  const item = (name: string, value: string, unit: string): HTMLElement =>
    h("span", {}, name, h("b", {}, value), h("small", {}, unit));
  return [
    item("", rate(figures.throughput), "/s"),
    ...PERCENTS.map((percent, at) =>
      item(`p${percent} `, ms(figures.times[at]?.value), at === PERCENTS.length - 1 ? " ms" : ""),
    ),
    item("", failurePercent(figures.share * 100), " % fail"),
    ...(figures.cpu === null ? [] : [item("CPU ", ms(figures.cpu), " %")]),
  ];
}
