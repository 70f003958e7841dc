// Below the charts, folded: failures by code and labels, of the median runs; loaded when opened.

import { type Child, h, replace } from "../dom";
import { count, failurePercent, ms, plural, rate } from "../format";
import { loadRun } from "../load";
import { codeText, messageOf } from "../run/kinds";
import { link } from "../router";
import { failure, waitFor } from "../shell/states";
import { marker } from "../slots";
import { aligned, numberHead, scrolling } from "../table";
import type { RunData, RunRow, StandingRow } from "../types";
import { rulesOf, rulesTable } from "./rules";

interface Loaded {
  framework: string;
  run: string;
  data: RunData;
}

async function medianRuns(league: readonly StandingRow[]): Promise<Loaded[]> {
  const wanted = league.flatMap(({ framework, runs }) => (runs[0] ? { framework, run: runs[0] } : []));
  return Promise.all(wanted.map(async (one) => ({ ...one, data: await loadRun(one.run) })));
}

function failuresTable(runs: readonly Loaded[]): Child {
  const rows = runs.flatMap(({ framework, run, data }) => data.errors.map((error) => ({ framework, run, error })));
  if (rows.length === 0) return h("p", { class: "note" }, "No failures in the median runs.");
  const counts = aligned(rows.map(({ error }) => count(error.count)));
  return scrolling(
    "Failures by code",
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h("tr", null, ["Framework", "Code", "Message", "Labels"].map((name) => h("th", { scope: "col" }, name)), numberHead("Count")),
      ),
      h(
        "tbody",
        null,
        rows.map(({ framework, run, error }, at) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, h("a", { href: link("run", run), class: "row-link" }, marker(framework), framework)),
            h("td", { class: "fail code" }, codeText(error.code)),
            h("td", { class: "wrap" }, messageOf(error) || "–"),
            h("td", { class: "wrap" }, error.labels),
            h("td", { class: "number" }, counts[at]),
          ),
        ),
      ),
    ),
  );
}

/** Labels by rows, frameworks by columns: p95, since throughput follows from the test. */
function labelsTable(runs: readonly Loaded[]): Child {
  const labels = [...new Set(runs.flatMap(({ data }) => data.labels.map(({ label }) => label)))].sort();
  const columns = runs.map(({ data }) => {
    const rows = labels.map((label) => data.labels.find((one) => one.label === label));
    return {
      p95: aligned(rows.map((row) => ms(row?.p95))),
      throughput: aligned(rows.map((row) => rate(row?.throughput))),
      failures: rows.map((row) => (row && row.requests > 0 ? (100 * row.failures) / row.requests : null)),
    };
  });
  const part = (title: string, cells: (column: (typeof columns)[number], at: number) => Child): HTMLElement =>
    scrolling(
      title,
      h(
        "table",
        { class: "labels" },
        h("caption", null, title),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col" }, "Label"),
            runs.map(({ framework }) => h("th", { scope: "col", class: "number" }, marker(framework), framework)),
          ),
        ),
        h(
          "tbody",
          null,
          labels.map((label, at) =>
            h("tr", null, h("th", { scope: "row" }, label), columns.map((column) => h("td", { class: "number" }, cells(column, at)))),
          ),
        ),
      ),
    );
  const failing = columns.some(({ failures }) => failures.some((value) => (value ?? 0) > 0));
  return [
    part("p95, ms", ({ p95 }, at) => p95[at]),
    part("Successes per second", ({ throughput }, at) => throughput[at]),
    failing ? part("Failures, %", ({ failures }, at) => failurePercent(failures[at])) : null,
  ];
}

interface Fold {
  element: HTMLDetailsElement;
  /** Fills the fold, open or not. */
  fill: () => Promise<void>;
}

interface FoldOptions {
  id: string;
  name: string;
  about: string;
  /** How many runs are loaded. */
  runs: number;
  /** True if it is open from the start, and whether the page goes there. */
  open: boolean;
  goes: boolean;
  /** Loads what is shown. */
  show: () => Promise<Child>;
}

function fold({ id, name, about, runs, open, goes, show }: FoldOptions): Fold {
  const place = h("div", { class: "fold-place" });
  const details = h("details", { class: "fold", id: `at-${id}` }, h("summary", null, name, h("small", null, about)), place);
  let filled = false;
  // A part that a link names has its place only once it is filled.
  const fill = async (): Promise<void> => {
    if (filled) return;
    filled = true;
    try {
      replace(place, await waitFor(place, plural(runs, "run"), show()));
      if (goes) details.scrollIntoView();
    } catch (error) {
      filled = false;
      replace(place, failure(error, "The league and the other runs are shown."));
    }
  };
  details.addEventListener("toggle", () => void (details.open && fill()));
  details.open = open;
  return { element: details, fill };
}

/** The folded parts of a test; `open` is the one that a link names. Paper has them filled. */
export function folded(
  league: readonly StandingRow[],
  runs: readonly RunRow[],
  open: string | null,
): { elements: HTMLElement[]; end: () => void } {
  const ofMedians = (id: string, name: string, show: (runs: readonly Loaded[]) => Child): Fold =>
    fold({
      ...{ id, name, about: "of the median runs", runs: league.length },
      ...{ open: open === id, goes: open === id, show: async () => show(await medianRuns(league)) },
    });
  const failed = runs.some(({ verdict }) => (verdict?.failed ?? 0) > 0);
  const rules = fold({
    ...{ id: "rules", name: "Rules", about: "of all runs", runs: runs.length },
    ...{ open: failed || open === "rules", goes: open === "rules", show: async () => rulesTable(await rulesOf(runs)) },
  });
  const folds = [
    ...(runs.some(({ verdict }) => verdict !== null) ? [rules] : []),
    ofMedians("failures", "Failures", failuresTable),
    ofMedians("labels", "Labels", labelsTable),
  ];
  // The runs are there, since the charts show them: what waits for them is done before the page is printed.
  const fill = (): void => folds.forEach((one) => void one.fill());
  addEventListener("beforeprint", fill);
  return { elements: folds.map(({ element }) => element), end: () => removeEventListener("beforeprint", fill) };
}
