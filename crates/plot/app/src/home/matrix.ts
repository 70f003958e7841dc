// Frameworks by tests: rank, value and a bar from zero within the test.

import { type Child, h } from "../dom";
import { FAILURE_LIMIT } from "../app";
import { link } from "../router";
import { marker } from "../slots";
import { listed, plural } from "../format";
import { type Measure, type Place, places, rankText, RAN_ONCE } from "../measures";
import { aligned, scrolling } from "../table";
import type { RunRow, TestRow } from "../types";
import { cellShare, type LoadedTest } from "./attention";

export interface Cell extends Place {
  /** The value as a part of the greatest of the test. */
  part: number;
  leads: boolean;
}

export interface Column {
  test: TestRow;
  /** By framework; frameworks that were not run are absent. */
  cells: Map<string, Cell>;
}

export interface Matrix {
  frameworks: string[];
  columns: Column[];
}

/** Sets frameworks and tests side by side: frameworks by their mean distance from the best, tests in their order. */
export function matrix(tests: readonly LoadedTest[], runs: ReadonlyMap<string, RunRow>, measure: Measure): Matrix {
  const columns = tests.map(({ test, data }) => {
    const list = places(data.league, runs, measure);
    const most = Math.max(...list.map(({ value }) => value ?? 0), 0);
    // With one framework there is nobody to lead.
    const alone = list.length < 2;
    const cells = list.map((place): [string, Cell] => [
      place.framework,
      {
        ...place,
        ranks: alone ? null : place.ranks,
        part: most > 0 && place.value !== null ? place.value / most : 0,
        leads: !alone && !place.unsure && place.ranks?.[0] === 1,
      },
    ]);
    return { test, cells: new Map(cells) };
  });
  const shares = new Map<string, number[]>();
  for (const { cells } of columns) {
    const values = [...cells.values()].flatMap(({ value, failing }) => (value !== null && failing === null ? value : []));
    const best = measure.moreIsBetter ? Math.max(...values) : Math.min(...values);
    for (const { framework, value, failing } of cells.values()) {
      const share = value === null || failing !== null ? 0 : measure.moreIsBetter ? value / best : best / value;
      shares.set(framework, [...(shares.get(framework) ?? []), share]);
    }
  }
  const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / list.length;
  const frameworks = [...shares].sort(([, a], [, b]) => mean(b) - mean(a)).map(([framework]) => framework);
  return { frameworks, columns };
}

/** A matrix of more tests has narrow cells, and a table on paper has so many tests at most. */
const DENSE = 6;
const PAPER = 9;

function bar({ part, leads, failing }: Cell): HTMLElement {
  const look = failing !== null ? "bar-fill hatched" : leads ? "bar-fill leads" : "bar-fill";
  return h("span", { class: "bar-line" }, h("span", { class: look, style: { width: `${(100 * part).toFixed(1)}%` } }));
}

function rankOf({ ranks, failing, unsure }: Cell): Child {
  if (failing !== null) return h("span", { class: "fail", title: `more than ${FAILURE_LIMIT} % fail: not ranked` }, `✗ ${cellShare(failing)} %`, h("span", { class: "cell-word" }, " fail"));
  const tie = ranks !== null && ranks[0] !== ranks[1];
  const title = tie ? "a tie" : ranks !== null && unsure ? RAN_ONCE : null;
  return h("span", { class: unsure ? "rank unsure" : "rank", title }, ranks === null ? "" : rankText(ranks));
}

/** The texts of a column's values, aligned. */
function texts({ cells }: Column, frameworks: readonly string[], measure: Measure): Map<string, Child[]> {
  const present = frameworks.filter((framework) => cells.has(framework));
  const list = aligned(present.map((framework) => measure.text(cells.get(framework)?.value ?? null)));
  return new Map(present.map((framework, at) => [framework, list[at] ?? []]));
}

/** Draws the matrix for wide windows: a cell leads to its median run, the head of a column to its test. */
export function wideMatrix({ frameworks, columns }: Matrix, measure: Measure): HTMLElement {
  const values = columns.map((column) => texts(column, frameworks, measure));
  const cell = (column: Column, framework: string, value: Child[]): HTMLElement => {
    const found = column.cells.get(framework);
    if (!found) return h("td", { class: "not-run" }, "not run");
    const look = h(
      "span",
      { class: found.leads ? "cell best" : "cell" },
      rankOf(found),
      h("span", { class: found.failing !== null ? "value quiet" : "value" }, value),
      bar(found),
    );
    return h("td", null, found.run ? h("a", { href: link("run", found.run), class: "cell-link" }, look) : look);
  };
  const table = h(
    "table",
    { class: columns.length > DENSE ? "matrix dense" : "matrix" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "Framework"),
        columns.map(({ test }) =>
          h("th", { scope: "col", class: "number" }, h("a", { href: link("test", test.id), class: "test-link" }, test.name)),
        ),
      ),
    ),
    h(
      "tbody",
      null,
      frameworks.map((framework) =>
        h(
          "tr",
          null,
          h("th", { scope: "row" }, marker(framework), framework),
          columns.map((column, at) => cell(column, framework, values[at]?.get(framework) ?? [])),
        ),
      ),
    ),
  );
  const place = scrolling("Frameworks by tests", table);
  const more = h("button", { type: "button", class: "link matrix-more", onclick: () => place.scrollBy({ left: place.clientWidth / 2 }) });
  const look = (): void => {
    const { right } = place.getBoundingClientRect();
    const hidden = [...table.querySelectorAll("thead th")].filter((head) => head.getBoundingClientRect().right > right + 1).length;
    more.hidden = hidden === 0;
    more.textContent = `${plural(hidden, "more test")} →`;
  };
  place.addEventListener("scroll", look);
  new ResizeObserver(look).observe(place);
  return h("div", null, more, place);
}

/** Draws the matrix for paper, which can't be scrolled: so many tests in a table, the others below. */
export function paperMatrix(whole: Matrix, measure: Measure): HTMLElement[] {
  const parts = Math.ceil(whole.columns.length / PAPER);
  const size = Math.ceil(whole.columns.length / parts);
  return Array.from({ length: parts }, (_, at) => wideMatrix({ ...whole, columns: whole.columns.slice(at * size, (at + 1) * size) }, measure));
}

/** Draws one test of the matrix for phones, in the order of its ranks. */
export function phoneMatrix({ frameworks, columns }: Matrix, measure: Measure, shown: Column): HTMLElement {
  const values = texts(shown, frameworks, measure);
  const order = [...shown.cells.values()].sort((a, b) => {
    const [one, other] = [a.ranks?.[0] ?? Infinity, b.ranks?.[0] ?? Infinity];
    return one === other ? (measure.moreIsBetter ? b.part - a.part : a.part - b.part) : one - other;
  });
  const row = (cell: Cell): HTMLElement => {
    const name = [marker(cell.framework), cell.framework];
    return h(
      "tr",
      { class: cell.leads ? "best" : null },
      h("td", { class: "phone-rank" }, cell.failing !== null ? h("span", { class: "fail" }, "✗") : rankOf(cell)),
      h("th", { scope: "row" }, cell.run ? h("a", { href: link("run", cell.run), class: "row-link" }, name) : name),
      h("td", { class: "phone-bar" }, cell.failing !== null ? h("span", { class: "fail" }, `${cellShare(cell.failing)} % fail`) : null, bar(cell)),
      h("td", { class: cell.failing !== null ? "number quiet" : "number" }, values.get(cell.framework)),
    );
  };
  const missing = frameworks.filter((framework) => !shown.cells.has(framework));
  return h(
    "div",
    null,
    h(
      "table",
      { class: "phone-matrix", "aria-label": `${shown.test.name}: ${measure.about}` },
      h(
        "thead",
        { class: "hidden" },
        h("tr", null, ["Rank", "Framework", "Bar", measure.name].map((name) => h("th", { scope: "col" }, name))),
      ),
      h("tbody", null, order.map(row)),
    ),
    missing.length > 0 && columns.length > 1 ? h("p", { class: "note" }, `Not run: ${missing.join(", ")}.`) : null,
  );
}

/** What the line above the matrix says of ranks that are there. */
export function tieNote({ columns }: Matrix, measure: Measure): string {
  const cells = columns.flatMap((column) => [...column.cells.values()]);
  const tie = cells.find(({ ranks }) => ranks !== null && ranks[0] !== ranks[1]);
  if (measure.id !== "throughput") return "Ranks are by throughput alone";
  const parts: string[] = [];
  if (tie) parts.push(`“${rankText(tie.ranks)}”: a tie, the repeats can’t tell them apart`);
  const unsure = columns.filter(({ cells }) => [...cells.values()].some((cell) => cell.unsure));
  const ranked = columns.filter(({ cells }) => [...cells.values()].some(({ ranks }) => ranks !== null));
  if (unsure.length > 0 && unsure.length === ranked.length) return RAN_ONCE.slice(0, -1);
  if (unsure.length > 0) parts.push(`in ${listed(unsure.map(({ test }) => test.name))} each framework ran once: its rank is unknown, the order is that of the throughputs`);
  return parts.join("; ");
}
