// A figure over the versions: points, levels, where versions lie by chance, changes.

import type { DataTable } from "../charts/export";
import { type Entry, Figure } from "../charts/figure";
import { linePath, type Point, px } from "../charts/paths";
import { replace, s } from "../dom";
import { change, grouped } from "../format";
import { lookOf, markerPath } from "../slots";
import type { Direction, TrendFigure } from "../types";
import { amount } from "./alerts";
import { dayTicks, flagPlaces, labelRanks, startText, thinned, trendAxis, type TrendAxis } from "./axis";
import { briefDay, figureName, figureText, figureTitle, fromTo, look, shortName } from "./figures";
import type { Panel, TrendStage } from "./stage";

const HEIGHT = 104;
/** The height of a row of texts above the plot. */
const ROW = 15;
/** The room above a plot without texts, for points at its upper edge. */
const ABOVE = 8;
const BELOW = 8;
const AXIS_ROOM = 34;
/** The width of a letter of 11 px, and of a bold one: texts are placed before they are drawn. */
const LETTER = 6.6;
const BOLD = 7;

export interface ChartOptions {
  /** The beginning of the names of its files. */
  file: string;
  /** True for the chart that has the axis of versions. */
  axis: boolean;
  /** True for the first chart: it says why an axis does not start at zero. */
  first: boolean;
  /** True if there are enough versions to tell changes from chance. */
  judged: boolean;
}

/** The chart of a figure. */
export class TrendChart implements Panel {
  readonly figure: Figure;
  private readonly plot = s("g");
  private readonly scale = s("g");
  private readonly cursor = s("g", { class: "cursor", "data-cursor": true });
  private readonly host: Element;
  private readonly text: (value: number | null | undefined) => string;
  private axis: TrendAxis = { from: 0, top: 1, ticks: [], y: () => 0 };
  private above = ABOVE;
  private axisShown = false;

  constructor(
    private readonly stage: TrendStage,
    private readonly data: TrendFigure,
    private readonly options: ChartOptions,
  ) {
    this.text = figureText(data.figure, data.unit);
    this.figure = new Figure({
      file: `${options.file}-${data.figure.replace(/\W+/g, "-")}`,
      title: figureTitle(data),
      height: HEIGHT,
      exact: () => this.table(),
      alone: () => this.alone(),
    });
    const { svg, root } = this.figure;
    svg.append(this.plot, this.scale, this.cursor);
    const host = svg.parentElement;
    if (!host) throw new Error("a drawing without its place");
    this.host = host;
    root.classList.add("trend-chart");
    host.addEventListener("scroll", () => {
      if (Math.abs(host.scrollLeft - stage.scrolled) > 1) stage.scroll(host.scrollLeft);
      this.stand(host.scrollLeft);
    });
    this.listen(svg);
  }

  /** A picture of its own has the axis, and all that is scrolled away. */
  private alone(): () => void {
    this.stand(0);
    const shown = this.axisShown;
    if (!shown) this.versions();
    this.size();
    return () => {
      if (!shown) this.draw();
      this.stand(this.stage.scrolled);
    };
  }

  private listen(svg: SVGSVGElement): void {
    const { stage } = this;
    const at = (event: MouseEvent): number | null => stage.nearest(event.clientX - svg.getBoundingClientRect().left - stage.left);
    svg.addEventListener("pointermove", (event) => {
      if (!stage.pinned && event.pointerType !== "touch") stage.point(at(event));
    });
    svg.addEventListener("pointerleave", () => {
      if (!stage.pinned) stage.point(null);
    });
    // A click pins the cursor; one more on the same version lets it go, a double one opens it.
    svg.addEventListener("click", (event) => {
      const version = at(event);
      stage.keep(stage.pinned && stage.cursor === version ? null : version);
    });
    svg.addEventListener("dblclick", (event) => {
      const version = at(event);
      if (version === null) return;
      stage.keep(version);
      stage.open(version);
    });
  }

  draw(): void {
    const { stage, data } = this;
    this.axis = trendAxis(data, HEIGHT);
    const { from } = this.axis;
    this.figure.retitle(figureTitle(data), from > 0 ? `axis from ${startText(from)}${this.options.first && !stage.narrow ? ": the noise, not zero, is the measure here" : ""}` : "");
    replace(this.plot);
    replace(this.scale);
    this.axisShown = false;
    const flags = this.flags();
    this.above = ABOVE + ROW * (1 + Math.max(-1, ...flags.map(({ row }) => row)));
    for (const group of [this.plot, this.cursor]) group.setAttribute("transform", `translate(${stage.left} ${this.above})`);
    this.values();
    this.chance();
    this.points();
    this.changes(flags);
    if (this.options.axis) this.versions();
    this.size();
    this.describe();
    this.host.classList.toggle("scrolls", stage.whole > stage.seen + 1);
    (this.host as HTMLElement).style.setProperty("--seen", `${stage.narrow ? stage.seen : stage.whole}px`);
    if (stage.whole > stage.seen + 1) {
      this.host.setAttribute("tabindex", "0");
      this.host.setAttribute("role", "group");
      this.host.setAttribute("aria-label", `${figureTitle(data)}: chart, scrolls sideways`);
    } else for (const name of ["tabindex", "role", "aria-label"]) this.host.removeAttribute(name);
    this.figure.refresh();
  }

  private size(): void {
    const { svg } = this.figure;
    svg.setAttribute("width", String(this.stage.whole));
    svg.setAttribute("height", String(this.above + HEIGHT + BELOW + (this.axisShown ? AXIS_ROOM : 0)));
  }

  scroll(left: number): void {
    if (Math.abs(this.host.scrollLeft - left) > 0.5) this.host.scrollLeft = left;
    this.stand(left);
  }

  /** Keeps the axis of values at the left edge of what is seen. */
  private stand(left: number): void {
    this.scale.setAttribute("transform", `translate(${px(left)} ${this.above})`);
  }

  /** The axis of values: its texts stand still where the chart scrolls, the hairlines do not. */
  private values(): void {
    const { stage, axis } = this;
    const { width } = stage;
    const scrolls = stage.whole > stage.seen + 1;
    if (scrolls) this.scale.append(s("rect", { class: "trend-ground", x: 0, y: -this.above, width: stage.left - 4, height: this.above + HEIGHT + BELOW }));
    for (const { at, text } of axis.ticks) {
      const y = px(axis.y(at));
      this.plot.append(s("path", { class: at === 0 ? "base" : "hairline", d: `M0 ${y}H${width}` }));
      this.scale.append(s("text", { class: "tick", x: stage.left - 7, y: y + 4, "text-anchor": "end" }, text));
    }
    if (axis.from > 0) {
      // The zigzag says that the axis does not start at zero.
      const teeth = Math.ceil(width / 4);
      const line = Array.from({ length: teeth }, (_, at) => `L${Math.min(width, (at + 1) * 4)} ${HEIGHT + (at % 2 === 0 ? -3 : 0)}`);
      this.plot.append(s("path", { class: "zigzag", d: `M0 ${HEIGHT}${line.join("")}` }));
    }
  }

  /** The bands in which a version lies by chance, and the levels. */
  private chance(): void {
    const { axis, data } = this;
    const { borders } = this.stage.places;
    for (const { from, to, level, band } of data.levels) {
      const [left, right] = [borders[from] ?? 0, borders[to + 1] ?? this.stage.width];
      if (band) {
        const [top, bottom] = [axis.y(band[1]), axis.y(band[0])];
        this.plot.append(s("rect", { class: "trend-band", x: px(left), y: px(top), width: px(right - left), height: px(Math.max(bottom - top, 1)) }));
      }
      this.plot.append(s("path", { class: "trend-level", d: `M${px(left)} ${px(axis.y(level))}H${px(right)}` }));
    }
    for (const { from, to, before, after, direction } of data.drifts) {
      const { xs } = this.stage.places;
      const d = `M${px(xs[from] ?? 0)} ${px(axis.y(before))}L${px(xs[to] ?? 0)} ${px(axis.y(after))}`;
      this.plot.append(s("path", { class: `trend-drift ${look(direction)}`, d }));
    }
  }

  private points(): void {
    const { stage, axis, data } = this;
    const { xs, step } = stage.places;
    const style = lookOf(stage.trend.framework);
    const size = Math.min(0.8, Math.max(0.3, step / 14));
    const points: Point[] = data.values.map((value, at) => (value === null ? null : [xs[at] ?? 0, axis.y(value)]));
    let bars = "";
    data.intervals.forEach((interval, at) => {
      if (interval && step >= 6) bars += `M${px(xs[at] ?? 0)} ${px(axis.y(interval[0]))}V${px(axis.y(interval[1]))}`;
    });
    const small = s("g", { class: "trend-runs", style: { fill: style.color } });
    const most = step >= 4 ? 1.9 : 1.2;
    data.runs.forEach((values, at) => {
      if (values.length < 2) return;
      for (const value of values)
        if (value !== null) small.append(s("circle", { cx: px(xs[at] ?? 0), cy: px(axis.y(value)), r: most }));
    });
    const large = points.flatMap((point) =>
      point
        ? markerPath(style, { class: "trend-point", transform: `translate(${px(point[0])} ${px(point[1])}) scale(${px(size * 10) / 10})` })
        : [],
    );
    this.plot.append(
      s("path", { class: "trend-line", d: linePath(points), style: { stroke: style.color } }),
      s("path", { class: "trend-interval", d: bars, style: { stroke: style.color } }),
      small,
      s("g", { class: style.hollow ? "" : "trend-points" }, large),
    );
  }

  /** The texts of changes and drifts, and where they stand. */
  private flags(): { x: number; row: number; anchor: "start" | "end"; text: string; direction: Direction; line: boolean; at: number }[] {
    const { borders, xs } = this.stage.places;
    const { figure, unit } = this.data;
    const changes = this.data.changes.map((one) => ({
      at: borders[one.version] ?? 0,
      text: `${amount({ ...one, figure, unit })} ${one.direction}`,
      direction: one.direction,
      line: true,
    }));
    const drifts = this.data.drifts.map(({ to, percent, before, after, direction }) => ({
      at: (xs[to] ?? 0) + 6,
      text: `drifts ${percent === null ? fromTo(figure, unit, before, after) : `${change(percent)} %`} ${direction}`,
      direction,
      line: false,
    }));
    const all = [...changes, ...drifts].sort((a, b) => a.at - b.at);
    const places = flagPlaces(all.map(({ at, text }) => ({ x: at, width: text.length * BOLD })), this.stage.width);
    return all.map((one, at) => ({ ...one, ...(places[at] ?? { x: 0, row: 0, anchor: "end" as const }) }));
  }

  private changes(flags: ReturnType<TrendChart["flags"]>): void {
    for (const { at, x, row, anchor, text, direction, line } of flags) {
      const y = -ABOVE - row * ROW;
      if (line) this.plot.append(s("path", { class: `trend-change ${look(direction)}`, d: `M${px(at)} ${y - ROW + 5}V${HEIGHT}` }));
      this.plot.append(s("text", { class: `trend-flag ${look(direction)}`, x: px(x), y: y + 1, "text-anchor": anchor }, text));
    }
  }

  /** The axis of versions, or of days. */
  private versions(): void {
    this.axisShown = true;
    const { stage } = this;
    const { versions } = stage.trend;
    const { xs, step } = stage.places;
    const bottom = HEIGHT + BELOW;
    const marked = new Set(this.marked());
    const write = (x: number, row: number, text: string, bold: boolean, title?: string): void => {
      this.plot.append(
        s("text", { class: bold ? "tick strong" : "tick", x: px(x), y: bottom + 13 + row * 15, "text-anchor": "middle" }, title && title !== text ? s("title", null, title) : null, text),
      );
    };
    const names = versions.map(({ name }) => shortName(name));
    const wide = (text: string): number => text.length * LETTER;
    if (stage.byDate) {
      const [first, last] = [versions[0]?.t0 ?? 0, versions.at(-1)?.t0 ?? 0];
      const [left, right] = [xs[0] ?? 0, xs.at(-1) ?? 0];
      const ticks = dayTicks(first, last, right - left);
      const places = ticks.map(({ at, text }) => ({ x: left + ((right - left) * (at - first)) / (last - first || 1), width: wide(text), rank: 0 }));
      const centres = thinned(places, stage.width, 10, stage.left - 10);
      ticks.forEach(({ text }, at) => {
        const x = places[at]?.x ?? 0;
        this.plot.append(s("path", { class: "tick-mark", d: `M${px(x)} ${HEIGHT + 2}v5` }));
        const centre = centres[at];
        if (centre !== null && centre !== undefined) write(centre, 0, text, false);
      });
    }
    const longest = Math.max(0, ...names.map(wide));
    const ranks = labelRanks(versions.length, marked, step, longest + 10);
    const wishes = versions.flatMap((_, at) => {
      const rank = ranks[at] ?? Infinity;
      return rank === Infinity || (stage.byDate && rank > 2) ? [] : { at, x: xs[at] ?? 0, width: wide(names[at] ?? ""), rank };
    });
    const row = stage.byDate ? 1 : 0;
    const centres = thinned(wishes, stage.width, 10, stage.left - 10);
    const dated = wishes.flatMap(({ at, rank }, wish) => {
      const centre = centres[wish];
      if (centre === null || centre === undefined) return [];
      const version = versions[at];
      write(centre, row, names[at] ?? "", rank === 0, version?.name);
      return rank <= 2 && !stage.byDate ? { x: centre, text: briefDay(version?.t0 ?? 0), rank } : [];
    });
    const days = thinned(dated.map(({ x, text, rank }) => ({ x, width: wide(text), rank })), stage.width, 10, stage.left - 10);
    dated.forEach(({ text }, at) => {
      const x = days[at];
      if (x !== null && x !== undefined && names.some((name) => name !== text)) write(x, 1, text, false);
    });
  }

  /** The versions at which any figure changes. */
  private marked(): number[] {
    return this.stage.trend.figures.flatMap(({ changes }) => changes.map(({ version }) => version));
  }

  point(version: number | null): void {
    this.showValues(version);
    replace(this.cursor);
    if (version === null) return;
    const { stage, axis, data } = this;
    const x = px(stage.places.xs[version] ?? 0);
    this.cursor.append(s("path", { class: "cursor-line", d: `M${x} -6V${HEIGHT + (this.axisShown ? BELOW : 4)}` }));
    const value = data.values[version];
    if (value !== null && value !== undefined)
      this.cursor.append(s("circle", { class: "trend-ring", cx: x, cy: px(axis.y(value)), r: 6 }));
    if (!this.options.axis) return;
    const at = stage.trend.versions[version];
    const text = `${shortName(at?.name ?? "")}, ${briefDay(at?.t0 ?? 0)}`;
    const width = text.length * 6.4 + 12;
    const left = Math.min(Math.max(x - width / 2, -stage.left), stage.width - width + 4);
    this.cursor.append(
      s("rect", { class: "cursor-tag", x: px(left), y: HEIGHT + BELOW + 1, width: px(width), height: 17, rx: 3 }),
      s("text", { class: "cursor-time", x: px(left + width / 2), y: HEIGHT + BELOW + 13, "text-anchor": "middle" }, text),
    );
  }

  /** Tells a version's value, its runs and its level in the list; without a cursor those of the newest version. */
  private showValues(cursor: number | null): void {
    const { data, text } = this;
    const { versions } = this.stage.trend;
    const at = cursor ?? data.values.findLastIndex((value) => value !== null);
    const own = data.levels.find(({ from, to }) => at >= from && at <= to);
    const before = own && data.levels.findLast(({ to }) => to < own.from);
    const name = shortName(versions[at]?.name ?? "");
    const runs = (data.runs[at] ?? []).filter((value) => value !== null);
    const entries: [Entry, string][] = [[{ name: `${name}, ${briefDay(versions[at]?.t0 ?? 0)}`, key: null }, text(data.values[at])]];
    if (data.runs.some((values) => values.length > 1)) {
      const [low, high] = [text(Math.min(...runs)), text(Math.max(...runs))];
      entries.push([{ name: "its runs", key: null, quiet: true }, runs.length === 0 ? "–" : low === high ? low : `${low} to ${high}`]);
    }
    if (data.levels.length > 0) {
      const since = own && before ? `level since ${shortName(versions[own.from]?.name ?? "")}` : "level";
      entries.push([{ name: since, key: null, quiet: true }, text(own?.level)]);
      if (data.levels.length > 1) entries.push([{ name: "before", key: null, quiet: true }, text(before?.level)]);
    }
    if (data.levels.some(({ band }) => band !== null)) {
      const half = own?.band ? (own.band[1] - own.band[0]) / 2 : null;
      entries.push([{ name: this.stage.narrow ? "noise" : "noise of a version", key: null, quiet: true }, half === null ? "–" : `±${noise(half, text(own?.level))}`]);
    }
    this.figure.name(entries.map(([entry]) => entry));
    this.figure.showValues(entries.map(([, value]) => value));
  }

  /** What the cursor says of this figure, for those who can't see it. */
  words(version: number): string {
    const { figure, unit, values } = this.data;
    return `${figureName(figure)} ${this.text(values[version])}${unit === "1/s" ? " per second" : ` ${unit}`}`;
  }

  private describe(): void {
    const { data, text } = this;
    const { versions } = this.stage.trend;
    const known = data.values.flatMap((value, at) => (value === null ? [] : { value, name: shortName(versions[at]?.name ?? "") }));
    const [first] = known;
    if (!first) return this.figure.describe("No values.");
    const least = known.reduce((a, b) => (b.value < a.value ? b : a));
    const most = known.reduce((a, b) => (b.value > a.value ? b : a));
    const moved = [
      ...data.changes.map((one) => `${amount({ ...one, figure: data.figure, unit: data.unit })} (${one.direction}) since ${shortName(versions[one.version]?.name ?? "")}`),
      ...data.drifts.map(({ percent, direction }) => `a drift of ${change(percent)} % (${direction})`),
    ];
    const changes = moved.length > 0 ? ` Changes: ${moved.join("; ")}.` : this.options.judged ? " No change by more than chance." : "";
    this.figure.describe(`${versions.length} versions: least ${text(least.value)} at ${least.name}, greatest ${text(most.value)} at ${most.name}.${changes}`);
  }

  private table(): DataTable {
    const { data } = this;
    const { versions } = this.stage.trend;
    const most = Math.max(0, ...data.runs.map(({ length }) => length));
    const unit = data.unit ? ` (${data.unit})` : "";
    return {
      columns: [
        ...["version", "first run", `${figureName(data.figure)}${unit}`, "low", "high", "level", "chance low", "chance high", "change %", "direction"],
        ...Array.from({ length: most }, (_, at) => `run ${at + 1}`),
      ],
      rows: versions.map(({ name, t0 }, at) => {
        const level = data.levels.find(({ from, to }) => at >= from && at <= to);
        const changed = data.changes.find(({ version }) => version === at);
        return [
          ...[name, new Date(t0).toISOString(), data.values[at] ?? null, data.intervals[at]?.[0] ?? null, data.intervals[at]?.[1] ?? null],
          ...[level?.level ?? null, level?.band?.[0] ?? null, level?.band?.[1] ?? null, changed?.percent ?? null, changed?.direction ?? null],
          ...Array.from({ length: most }, (_, run) => data.runs[at]?.[run] ?? null),
        ];
      }),
    };
  }
}

/** The noise with as many decimals as the level beside it. */
function noise(half: number, level: string): string {
  return grouped(half, Math.max(1, level.split(".")[1]?.length ?? 0));
}

