// The six figures of the window. The second line of each has the repeats' range, or the whole run's value.

import { averaged, PERCENTS, type PartFigures } from "../data/part";
import { h } from "../dom";
import { count, failurePercent, ms, rate } from "../format";
import type { RunRow } from "../types";
import type { Run } from "./model";

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

  /** `repeats` are all runs of the same framework and test. */
  constructor(
    private readonly run: Run,
    private readonly repeats: RunRow[],
  ) {
    const names: [string, string][] = [
      ["Throughput", "/s"],
      ["p50", "ms"],
      ["p95", "ms"],
      ["p99", "ms"],
      ["Failures", "%"],
      ["CPU", "%"],
    ];
    this.tiles = names.map(([name, unit]) => {
      const [value, second] = [h("span", { class: "tile-value" }), h("div", { class: "tile-second" })];
      const root = h(
        "div",
        { class: "tile" },
        h("div", { class: "tile-name" }, name),
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
    texts(this.run, figures, whole ? null : this.run.whole, this.repeats).forEach(({ value, second, title }, at) => {
      const tile = this.tiles[at] as Tile;
      tile.value.textContent = value;
      tile.second.textContent = second;
      tile.root.title = title;
      tile.root.classList.toggle("failing", tile.name === "Failures" && figures.share >= MANY);
    });
  }
}

/** Returns the texts of the tiles in their order. `whole` has the figures to set beside those of a part. */
function texts(run: Run, figures: PartFigures, whole: PartFigures | null, repeats: RunRow[]): TileText[] {
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
      second: whole ? `whole ${ms(whole.times[at]?.value)}` : range(of, (value) => ms(value)),
      title: none
        ? "No request succeeded"
        : found.exact
          ? `${found.value} ms, ${averaged(run.data.head)}`
          : "Within 0.4 %: times were counted in buckets",
    };
  };
  const cores = (run.data.head.cpuTop ?? 0) > 100 || (figures.cpu ?? 0) > 100;
  return [
    {
      value: rate(figures.throughput),
      second: whole
        ? `whole ${rate(whole.throughput)}`
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
      second: whole
        ? `whole ${ms(whole.cpu)}`
        : figures.cpu === null
          ? "not recorded"
          : cores
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
