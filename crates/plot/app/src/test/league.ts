// The league: places, medians with their repeats on an axis from zero, and figures.

import { type App, FAILURE_LIMIT } from "../app";
import { roundStep, type Tick, ticksUpTo } from "../charts/scale";
import { type Child, h, s } from "../dom";
import { failurePercent, ms, rate } from "../format";
import { perCpuSecondOf, rankText, RAN_ONCE, ranOnce, shownRanks } from "../measures";
import { link } from "../router";
import { lookOf, marker, markerPath } from "../slots";
import { absent, aligned, numberHead } from "../table";
import type { RunRow, StandingRow, TestData } from "../types";
import { tieGroups } from "./sentences";

const STRIP = 250;
const STRIP_HEIGHT = 28;
/** The margin at both ends, for markers and numbers. */
const EDGE = 10;

interface Column {
  name: string;
  unit?: string;
  title?: string;
  value: (row: StandingRow) => number | null;
  text: (value: number | null) => string;
  /** Whether the least or the greatest value is the best; absent where neither is. */
  best?: "least" | "greatest";
  reason: string;
  quiet?: boolean;
}

/** A goal for response times. */
type Goal = NonNullable<TestData["goals"]>[number];

function columns(league: readonly StandingRow[], runs: ReadonlyMap<string, RunRow>, goals: readonly Goal[]): Column[] {
  const best = Math.max(...league.map((row) => (row.ranks ? (row.throughput ?? 0) : 0)), 0);
  const several = league.filter(({ ranks }) => ranks !== null).length > 1;
  const all: Column[] = [
    {
      name: "of best",
      unit: "%",
      value: (row) => (row.ranks && row.throughput !== null && best > 0 && several ? (100 * row.throughput) / best : null),
      text: (value) => (value === null ? "–" : value.toFixed(0)),
      reason: "not ranked",
      quiet: true,
    },
    { name: "p50", unit: "ms", value: (row) => row.p50, text: (value) => ms(value), best: "least", reason: "no successes" },
    { name: "p95", unit: "ms", value: (row) => row.p95, text: (value) => ms(value), best: "least", reason: "no successes" },
    { name: "p99", unit: "ms", value: (row) => row.p99, text: (value) => ms(value), best: "least", reason: "no successes" },
    { name: "CPU", unit: "%", value: (row) => row.cpu, text: (value) => (value === null ? "–" : value.toFixed(0)), reason: "no CPU was recorded", quiet: true },
    { name: "per", unit: "CPU-s", title: "Successes a second of CPU time", value: (row) => perCpuSecondOf(row, runs), text: (value) => rate(value), best: "greatest", reason: "no CPU was recorded" },
    ...goals.map(({ name, unit }, at): Column => ({ name, unit, value: (row) => row.goals?.[at] ?? null, text: (value) => (value === null ? "–" : value.toFixed(2)), best: "greatest", reason: "no requests" })),
    { name: "Failures", unit: "%", value: (row) => row.failuresPercent, text: failurePercent, reason: "no requests" },
  ];
  return all.filter(({ name, value }) =>
    name === "Failures" ? league.some((row) => (value(row) ?? 0) > 0) : league.some((row) => value(row) !== null),
  );
}

/** The letters from which on a name may take several lines. */
const LONG_NAME = 32;

/** The best value of a column among ranked frameworks; null if there is but one. */
function bestOf(league: readonly StandingRow[], { value, best }: Column): number | null {
  const values = league.flatMap((row) => (row.ranks ? (value(row) ?? []) : []));
  if (best === undefined || values.length < 2) return null;
  return best === "least" ? Math.min(...values) : Math.max(...values);
}

function scale(top: number): (value: number) => number {
  return (value) => EDGE + (value / top) * (STRIP - 2 * EDGE);
}

function axis(top: number, ticks: readonly Tick[]): SVGSVGElement {
  const x = scale(top);
  return s(
    "svg",
    { viewBox: `0 0 ${STRIP} 14`, width: STRIP, height: 14, class: "strip-axis", "aria-hidden": "true" },
    ticks.map(({ at, text }) => s("text", { x: x(at), y: 11, "text-anchor": "middle" }, text)),
  );
}

function strip(row: StandingRow, repeats: readonly number[], top: number, ticks: readonly Tick[]): SVGSVGElement {
  const x = scale(top);
  const look = lookOf(row.framework);
  const middle = STRIP_HEIGHT / 2;
  return s(
    "svg",
    { viewBox: `0 0 ${STRIP} ${STRIP_HEIGHT}`, width: STRIP, height: STRIP_HEIGHT, class: "strip", "aria-hidden": "true" },
    ticks.map(({ at }) => s("path", { d: `M${x(at)} 0V${STRIP_HEIGHT}`, class: "strip-grid" })),
    s("path", { d: `M${x(0)} ${middle}H${x(row.throughput ?? 0)}`, class: row.ranks ? "strip-line" : "strip-line failing" }),
    repeats.map((value) => s("path", { d: `M${x(value)} 4V${STRIP_HEIGHT - 4}`, class: "strip-repeat", style: { stroke: look.color } })),
    row.throughput === null
      ? null
      : markerPath(look, { transform: `translate(${x(row.throughput)} ${middle})`, "paint-order": "stroke", class: "strip-median" }),
  );
}

/** Draws the league. On phones a row opens to the figures that have no room. */
export function leagueTable(app: App, league: readonly StandingRow[], goals: readonly Goal[] = []): HTMLTableElement {
  const runsOf = (row: StandingRow): RunRow[] => row.runs.flatMap((id) => app.runs.get(id) ?? []);
  const repeatsOf = (row: StandingRow): number[] => runsOf(row).flatMap((run) => run.throughput ?? []);
  const top = Math.max(...league.flatMap((row) => [row.throughput ?? 0, ...repeatsOf(row)]), 1e-9);
  const ticks = ticksUpTo(top, roundStep(top, 4));
  const figures = columns(league, app.runs, goals);
  const texts = figures.map((column) => aligned(league.map((row) => column.text(column.value(row)))));
  const rates = aligned(league.map((row) => rate(row.throughput)));
  const bests = figures.map((column) => bestOf(league, column));
  // The command may have ordered it by something else.
  const ordered = league.filter(({ ranks }) => ranks !== null).map((row) => row.throughput ?? 0);
  const descending = ordered.every((value, at) => at === 0 || value <= (ordered[at - 1] ?? 0));
  const groups = tieGroups(league);
  const tie = (at: number): string => {
    const group = groups.find((one) => one.includes(at));
    if (!group) return "";
    return at === group.at(-1) ? "tied tied-last" : "tied";
  };
  const repeated = league.some(({ repeats }) => repeats > 1);
  const alone = league.filter(({ ranks }) => ranks !== null).length < 2;
  const [ranks, unsure] = [shownRanks(league), ranOnce(league)];
  const rank = (row: StandingRow, at: number): Child => {
    if (row.ranks === null) return absent(`not ranked: more than ${FAILURE_LIMIT} % of the requests fail`);
    if (alone) return absent("nobody to compare with");
    return unsure ? h("span", { class: "unsure", title: RAN_ONCE }, rankText(ranks[at] ?? null)) : rankText(row.ranks);
  };
  const range = ({ throughputRange, repeats }: StandingRow): Child =>
    throughputRange && repeats > 1
      ? `${rate(throughputRange[0])} to ${rate(throughputRange[1])}`
      : absent("one repeat");
  const figure = (column: Column, row: StandingRow, at: number, index: number): HTMLElement => {
    const value = column.value(row);
    const isBest = value !== null && row.ranks !== null && !unsure && value === bests[index];
    const look = ["number", "figure", isBest ? "best" : "", column.quiet ? "quiet" : ""].filter(Boolean).join(" ");
    const failing = column.name === "Failures" && row.ranks === null;
    const text = value === null ? absent(column.reason) : texts[index]?.[at];
    return h("td", { class: look, "data-name": `${column.name} ${column.unit ?? ""}`.trim() }, failing ? h("span", { class: "fail" }, "✗ ", text) : text);
  };
  const row = (standing: StandingRow, at: number): HTMLTableRowElement => {
    const leads = standing.ranks?.[0] === 1 && !alone && !unsure;
    const name = [marker(standing.framework), standing.framework];
    const [middle] = standing.runs;
    const line = h(
      "tr",
      { class: `${tie(at)}${standing.ranks ? "" : " unranked"}`.trim() || null },
      h("td", { class: unsure ? "col-rank" : "col-rank best" }, rank(standing, at)),
      h(
        "th",
        { scope: "row", class: standing.framework.length > LONG_NAME ? "col-name" : "col-name usual-name" },
        middle ? h("a", { href: link("run", middle), class: "row-link", title: "The median run" }, name) : name,
        standing.ranks ? null : h("span", { class: "fail league-fail" }, "✗ fails"),
      ),
      h("td", { class: "col-strip" }, strip(standing, repeatsOf(standing), top, ticks)),
      h("td", { class: leads ? "number best" : "number" }, rates[at]),
      repeated ? h("td", { class: "quiet col-range" }, range(standing)) : null,
      figures.map((column, index) => figure(column, standing, at, index)),
      h(
        "td",
        { class: "col-more" },
        h(
          "button",
          {
            type: "button",
            class: "plain",
            "aria-expanded": "false",
            "aria-label": `Figures of ${standing.framework}`,
            onclick: (event: Event) => {
              const open = line.classList.toggle("open");
              (event.currentTarget as Element).setAttribute("aria-expanded", String(open));
            },
          },
          "⌄",
        ),
      ),
    );
    return line;
  };
  return h(
    "table",
    { class: "league" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col", class: "col-rank" }, "Rank"),
        h("th", { scope: "col", class: "col-name" }, "Framework"),
        h("th", { scope: "col", class: "col-strip" }, h("b", null, "Throughput"), ", symbol: median, marks: repeats", axis(top, ticks)),
        h("th", { scope: "col", class: "number", "aria-sort": descending ? "descending" : null }, descending ? "/s ↓" : "/s"),
        repeated ? h("th", { scope: "col", class: "col-range" }, "least to greatest") : null,
        figures.map(({ name, unit, title }) => {
          const head = numberHead(name, unit, title);
          head.classList.add("figure");
          return head;
        }),
        h("th", { scope: "col", class: "col-more" }, h("span", { class: "hidden" }, "More")),
      ),
    ),
    h("tbody", null, league.map(row)),
  );
}

/** The league for a CSV file, exact. */
export function leagueCells(league: readonly StandingRow[], goals: readonly Goal[] = []): (string | number | null)[][] {
  return [
    ["rank low", "rank high", "framework", "repeats", "throughput (1/s)", "least (1/s)", "greatest (1/s)", "p50 (ms)", "p95 (ms)", "p99 (ms)", "failures (%)", "mean CPU (%)", "load max", ...goals.map(({ name, unit }) => (unit ? `${name} (${unit})` : name))],
    ...league.map((row) => [
      ...[row.ranks?.[0] ?? null, row.ranks?.[1] ?? null, row.framework, row.repeats, row.throughput],
      ...[row.throughputRange?.[0] ?? null, row.throughputRange?.[1] ?? null, row.p50, row.p95, row.p99],
      ...[row.failuresPercent, row.cpu, row.load, ...(row.goals ?? [])],
    ]),
  ];
}
