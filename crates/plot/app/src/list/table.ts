// A table of runs: grouped by day, sorted by its heads, ticked to be compared, walked through by keys.

import { failuresOf, FAILURE_LIMIT, go, runName } from "../app";
import { type Child, h } from "../dom";
import { clock, count, day, failurePercent, ms, rate, weekday } from "../format";
import { link } from "../router";
import { choose, compareLink, isChosen } from "../shell/basket";
import { bindKeys } from "../shell/keys";
import { marker } from "../slots";
import { absent, aligned, scrolling } from "../table";
import type { RunRow } from "../types";
import type { Sort, SortName } from "./filter";
import { sparkline } from "./spark";

export interface RunTable {
  runs: readonly RunRow[];
  sort: Sort;
  /** The link that sorts by a column. */
  sortLink: (sort: Sort) => string;
  label: string;
  /** The id of the run of a test that is running; null if there is none. */
  live: string | null;
}

/** The verdict of the rules in words. */
export function verdictText({ verdict }: RunRow): Child {
  if (verdict === null) return absent("no rules");
  const all = verdict.passed + verdict.failed;
  if (verdict.failed === 0) return h("span", { class: "quiet" }, `✓ all ${all}`);
  return [h("span", { class: "fail" }, "✗"), ` ${verdict.failed} of ${all}`];
}

function failureCell(run: RunRow, text: Child[]): HTMLElement {
  const failing = (failuresOf(run) ?? 0) > FAILURE_LIMIT;
  return h("td", { class: "number col-failures" }, failing ? h("span", { class: "fail" }, "✗ ", text) : text);
}

function tick(run: RunRow): HTMLElement {
  const box = h("input", {
    type: "checkbox",
    disabled: run.repeat === 0,
    "aria-label": `Compare ${run.framework} ${runName(run)}`,
    onchange: () => choose(run.id, box.checked),
  });
  box.checked = isChosen(run.id);
  return h("td", { class: "col-tick" }, h("label", { class: "tick" }, box));
}

/** Draws a table of runs, which scrolls in itself where it is too wide. Rows are links. */
export function runTable({ runs, sort, sortLink, label, live }: RunTable): HTMLElement {
  const byDay = sort.by === "time";
  const hasRules = runs.some((run) => run.verdict !== null);
  const hasSparks = runs.some((run) => run.spark !== undefined);
  const head = (name: string, by: SortName, look: string, unit = ""): HTMLElement => {
    const sorted = sort.by === by;
    const next = { by, descending: sorted ? !sort.descending : by === "time" || by === "throughput" };
    return h(
      "th",
      { scope: "col", class: look, "aria-sort": sorted ? (sort.descending ? "descending" : "ascending") : null },
      h("a", { href: sortLink(next) }, name, sorted ? ` ${sort.descending ? "↓" : "↑"}` : null, unit ? [h("br"), unit] : null),
    );
  };
  const column = (text: (run: RunRow) => string): Child[][] => aligned(runs.map(text));
  const throughputs = column((run) => rate(run.throughput));
  const p95s = column((run) => ms(run.p95));
  const failures = column((run) => failurePercent(failuresOf(run)));

  const row = (run: RunRow, at: number): HTMLTableRowElement =>
    h(
      "tr",
      { class: "run-row" },
      tick(run),
      h("td", { class: "col-time quiet" }, byDay ? clock(run.t0) : `${day(run.t0)}, ${clock(run.t0)}`),
      h("td", { class: "col-framework" }, marker(run.framework), run.framework),
      h(
        "th",
        { scope: "row", class: "col-run" },
        h(
          "a",
          { href: link("run", run.id) },
          h("span", { class: "phone-only" }, marker(run.framework), h("b", null, run.framework), " "),
          runName(run),
        ),
        run.id === live ? h("span", { class: "pill live" }, "running") : null,
        run.partial ? h("span", { class: "partial", title: "Parts of the log are missing" }, " partial") : null,
      ),
      hasSparks ? h("td", { class: "col-spark" }, run.spark ? sparkline(run.spark) : null) : null,
      h("td", { class: "number quiet col-requests" }, count(run.requests)),
      h("td", { class: "number col-throughput" }, throughputs[at]),
      h("td", { class: "number col-p95" }, p95s[at]),
      failureCell(run, [failures[at]]),
      hasRules ? h("td", { class: "col-rules" }, run.id === live ? absent("at its end") : verdictText(run)) : null,
    );

  const columns = 8 + Number(hasSparks) + Number(hasRules);
  const body: HTMLTableRowElement[] = [];
  runs.forEach((run, at) => {
    const before = runs[at - 1];
    if (byDay && (!before || day(before.t0) !== day(run.t0)))
      body.push(h("tr", { class: "day" }, h("th", { scope: "rowgroup", colspan: columns }, weekday(run.t0))));
    body.push(row(run, at));
  });
  const table = h(
    "table",
    { class: "runs" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col", class: "col-tick" }, h("span", { class: "hidden" }, "Compare")),
        head("Time", "time", "col-time"),
        h("th", { scope: "col", class: "col-framework" }, "Framework"),
        h("th", { scope: "col", class: "col-run" }, "Run"),
        hasSparks ? h("th", { scope: "col", class: "col-spark" }, "Throughput over time") : null,
        head("Requests", "requests", "number col-requests"),
        head("Throughput", "throughput", "number col-throughput", "/s"),
        head("p95", "p95", "number col-p95", "ms"),
        head("Failures", "failures", "number col-failures", "%"),
        hasRules ? h("th", { scope: "col", class: "col-rules" }, "Rules") : null,
      ),
    ),
    h("tbody", null, body),
  );
  table.addEventListener("click", (event) => {
    const target = event.target as Element;
    if (target.closest("a, label, input") || getSelection()?.toString()) return;
    target.closest("tr.run-row")?.querySelector<HTMLAnchorElement>(".col-run a")?.click();
  });
  return scrolling(label, table);
}

/** Binds `j` `k` `x` `c` to a table of runs until the returned function is called. */
export function bindRows(host: Element): () => void {
  const rows = (): HTMLTableRowElement[] => [...host.querySelectorAll<HTMLTableRowElement>("tr.run-row")];
  const current = (): number => rows().findIndex((row) => row.contains(document.activeElement));
  const move = (by: number): void => {
    const all = rows();
    const at = current();
    const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
    next?.querySelector<HTMLAnchorElement>(".col-run a")?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  return bindKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => rows()[current()]?.querySelector("input")?.click(),
    c: () => go(compareLink()),
  });
}

/** The rows of runs for a CSV file, exact. */
export function runCells(runs: readonly RunRow[]): (string | number | null)[][] {
  const tags = [...new Set(runs.flatMap((run) => Object.keys(run.tags)))];
  const heads = ["run", "framework", "test", "repeat", "start", "duration (s)", "requests", "failures", "throughput (1/s)"];
  return [
    [...heads, "p50 (ms)", "p95 (ms)", "p99 (ms)", "mean CPU (%)", "load max", ...tags],
    ...runs.map((run) => [
      ...[run.id, run.framework, run.test, run.repeat, new Date(run.t0).toISOString(), run.duration],
      ...[run.requests, run.failures, run.throughput, run.p50, run.p95, run.p99, run.cpu, run.load],
      ...tags.map((tag) => run.tags[tag] ?? null),
    ]),
  ];
}
