// The table of labels: how much of the run each is, its times as a bar and in figures, its failures.

import { greatest } from "../data/bins";
import { h, replace, s } from "../dom";
import { count, failurePercent, grouped, ms } from "../format";
import { csv, save } from "../save";
import { roundStep } from "../charts/scale";
import { px } from "../charts/paths";
import type { TimesOverlay } from "../charts/times";
import type { LabelRow } from "../types";
import { aligned, scrolling } from "../table";
import { part } from "./section";
import type { Run } from "./model";

/** The bar of times in pixels. */
const BAR = { width: 228, height: 14 };

/** A column by which the table is sorted. */
interface Sort {
  name: string;
  of: (row: LabelRow) => number | string | null;
}

/** Dashes that tell picked labels apart. */
const DASHES = ["6 2", "2 2", "9 2 2 2", "1 3"];

/** Above a table of more labels there is a box that filters them; on paper are so many. */
export const MANY = 30;

/** Labels that are picked, each with its dash. */
export type Picked = ReadonlyMap<string, string>;

/** Returns the section of labels. `pick` lays some of them over the charts. */
export function labels(run: Run, pick: (picked: Picked) => void): HTMLElement {
  const rows = run.data.labels;
  const all = rows.reduce((sum, { requests }) => sum + requests, 0);
  const charted = run.data.detail.overTime.labels.map(({ label }) => label);
  const timed = rows.some(({ p95 }) => p95 !== null);
  const step = roundStep(greatest(rows.map(({ p95 }) => p95)) || 1, 4);
  const end = step * 4;
  const columns: Sort[] = [
    { name: "Label", of: ({ label }) => label },
    { name: "Requests", of: ({ requests }) => requests },
    { name: "p50", of: ({ p50 }) => p50 },
    { name: "p95", of: ({ p95 }) => p95 },
    { name: "p99", of: ({ p99 }) => p99 },
    { name: "Greatest", of: ({ max }) => max },
    { name: "Failures", of: ({ requests, failures }) => failures / Math.max(requests, 1) },
  ];
  const picked = new Map<string, string>();
  let [sorted, down] = [columns[1] as Sort, true];
  const table = h("table", { class: "labels" });
  const filter = h("input", { type: "search", placeholder: "Filter labels", "aria-label": "Filter labels" });
  const head = (column: Sort, unit: string): HTMLElement => {
    const now = column === sorted;
    const click = (): void => {
      [sorted, down] = [column, now ? !down : column.name !== "Label"];
      draw();
    };
    const text = [column.name, now ? (down ? " ↓" : " ↑") : ""];
    return h(
      "th",
      {
        scope: "col",
        class: column.name === "Label" ? null : "number",
        "aria-sort": now ? (down ? "descending" : "ascending") : null,
      },
      h("button", { type: "button", class: "sort", onclick: click }, text, unit ? h("br") : null, unit),
    );
  };
  const toggle = (label: string): void => {
    if (!picked.delete(label)) {
      // Of more labels than dashes, the one that was picked first is let go.
      const [oldest] = picked.keys();
      if (picked.size >= DASHES.length && oldest !== undefined) picked.delete(oldest);
      picked.set(label, DASHES.find((dash) => ![...picked.values()].includes(dash)) ?? "");
    }
    draw();
    pick(picked);
  };
  const name = (label: string): HTMLElement => {
    const text = label || "(no label)";
    if (rows.length < 2) return h("th", { scope: "row" }, text);
    if (!charted.includes(label))
      return h("th", { scope: "row", class: "uncharted", title: "Only the most frequent labels are recorded over time" }, text);
    const dash = picked.get(label);
    const line = s("path", { class: "label-line", d: "M0 5H22", "stroke-dasharray": dash || null });
    const key = s(
      "svg",
      { class: "label-key", width: 22, height: 10, "aria-hidden": "true" },
      dash === undefined ? null : line,
    );
    return h(
      "th",
      { scope: "row" },
      h(
        "button",
        { type: "button", class: "link", "aria-pressed": String(picked.has(label)), onclick: () => toggle(label) },
        key,
        text,
      ),
    );
  };
  const draw = (): void => {
    const text = (value: string | number | null): boolean => typeof value === "string";
    const shown = [...rows].sort((a, b) => {
      const [one, other] = [sorted.of(a), sorted.of(b)];
      const by = text(one)
        ? String(one).localeCompare(String(other), "en", { numeric: true })
        : Number(one ?? -1) - Number(other ?? -1);
      return down ? -by : by;
    });
    const shares = aligned(shown.map(({ requests }) => grouped((100 * requests) / Math.max(all, 1), 1)));
    const failed = aligned(
      shown.map(({ requests, failures }) => failurePercent((100 * failures) / Math.max(requests, 1))),
    );
    const cell = (content: unknown, look = ""): HTMLElement => h("td", { class: `number ${look}` }, content as string);
    const wanted = filter.value.trim().toLowerCase();
    const body = shown.map((row, at) =>
      h(
        "tr",
        {
          class: [picked.has(row.label) ? "picked" : "", at < MANY ? "" : "beyond-paper"].join(" ").trim() || null,
          hidden: !row.label.toLowerCase().includes(wanted),
        },
        name(row.label),
        cell(count(row.requests)),
        cell(shares[at], "quiet"),
        h("td", { class: "times-cell" }, timesBar(row, end, step)),
        cell(ms(row.p50)),
        cell(ms(row.p95)),
        cell(ms(row.p99)),
        cell(ms(row.max), "quiet"),
        cell(
          row.failures > row.requests / 100 ? ["✗ ", failed[at]] : failed[at],
          row.failures > row.requests / 100 ? "fail" : "",
        ),
      ),
    );
    const { whole } = run;
    const total = h(
      "tr",
      { class: "all" },
      h("th", { scope: "row" }, "All"),
      cell(count(all)),
      cell("100.0", "quiet"),
      h("td"),
      whole.times.map(({ value }) => cell(ms(value))),
      cell(ms(greatest(rows.map(({ max }) => max)) || null), "quiet"),
      cell(failurePercent(whole.share * 100)),
    );
    const [label, requests, p50, p95, p99, most, failures] = columns as [Sort, Sort, Sort, Sort, Sort, Sort, Sort];
    replace(
      table,
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head(label, ""),
          head(requests, ""),
          h("th", { scope: "col", class: "number" }, "Share", h("br"), "%"),
          h("th", { scope: "col", class: "times-cell" }, "p50, p95, p99", h("br"), timed ? `0 to ${ms(end)} ms` : ""),
          head(p50, "ms"),
          head(p95, "ms"),
          head(p99, "ms"),
          head(most, "ms"),
          head(failures, "%"),
        ),
      ),
      h("tbody", {}, body, rows.length > 1 ? total : null),
    );
  };
  draw();
  filter.addEventListener("input", draw);
  const some = charted.length < rows.length ? `of the ${charted.length} most frequent ` : "";
  const note =
    rows.length === 1
      ? "one label"
      : [`${count(rows.length)} labels`, charted.length > 1 ? h("span", { class: "screen-only" }, `; pick some ${some}to lay them over each other in the charts`) : null];
  const file = (): void => {
    const names = Object.keys(rows[0] ?? {}) as (keyof LabelRow)[];
    save(`${run.row.id}-labels.csv`, csv([names, ...rows.map((row) => names.map((name) => row[name]))]));
  };
  const content = [
    rows.length > MANY ? h("p", { class: "label-filter" }, filter) : null,
    scrolling("Labels", table),
    moreOnScreen(rows.length),
  ];
  return part("labels", "Labels", note, content, file);
}

/** Says on paper how many labels it leaves out. */
export function moreOnScreen(labels: number): HTMLElement | null {
  return labels > MANY ? h("p", { class: "paper-only chart-note" }, `${count(labels - MANY)} more labels are in the page.`) : null;
}

/** Draws p50, p95 and p99 as a bar that gets thinner; beyond the axis, an arrow. */
function timesBar({ label, p50, p95, p99 }: LabelRow, end: number, step: number): SVGElement {
  const x = (time: number | null): number => px((BAR.width * Math.min(time ?? 0, end)) / end);
  const middle = BAR.height / 2;
  let hairlines = "";
  for (let at = step; at <= end; at += step) hairlines += `M${x(at)} 0V${BAR.height}`;
  const beyond = (p99 ?? 0) > end;
  return s(
    "svg",
    {
      class: "times-bar",
      viewBox: `0 0 ${BAR.width + 8} ${BAR.height}`,
      width: BAR.width + 8,
      height: BAR.height,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `${label}: p50 ${ms(p50)}, p95 ${ms(p95)}, p99 ${ms(p99)} ms`,
    },
    s("path", { class: "hairline", d: hairlines }),
    p99 === null ? null : s("path", { class: "whisker", d: beyond ? `M0 ${middle}H${BAR.width}` : `M0 ${middle}H${x(p99)}m0 -4v8` }),
    beyond ? s("path", { class: "arrow", d: `M${BAR.width} ${middle - 4}l6 4l-6 4z` }) : null,
    s("rect", { class: "load-4", y: middle - 3, width: x(p95), height: 6 }),
    s("rect", { class: "load-2", y: middle - 3, width: x(p50), height: 6 }),
  );
}

/** Returns the p95 of picked labels over time, as lines. */
export function labelLines(run: Run, picked: Picked): TimesOverlay[] {
  const { labels: charted, width } = run.data.detail.overTime;
  return charted.flatMap(({ label, p95 }) => {
    const dash = picked.get(label);
    return dash === undefined
      ? []
      : [
          {
            name: label || "(no label)",
            dash,
            whole: run.data.labels.find((row) => row.label === label)?.p95 ?? null,
            values: { first: run.data.head.first, width, list: p95 },
          },
        ];
  });
}
