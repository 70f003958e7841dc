// The table of changes: a row a figure, for each side its value, the change, the interval and the verdict.

import { type Child, h } from "../dom";
import { change, failurePercent, ms, rate } from "../format";
import { failuresOf } from "../app";
import { median } from "../measures";
import { link } from "../router";
import { lookMarker } from "../slots";
import { absent, aligned, scrolling } from "../table";
import type { ChangeRow, RunRow } from "../types";
import type { ChangeAxis } from "./axis";
import { differenceText, figureOf, hidingText, isShown, type Noises, noiseSigns, onlyTheseRuns, outcomeOf, rowText, unknownText, verdictText } from "./figures";
import { axisPicture, emptyPicture, intervalPicture } from "./interval";
import { medianFirst, type NamedSide } from "./sides";

export interface ChangeTable {
  baseline: NamedSide;
  /** The sides that stand beside each other. */
  sides: readonly NamedSide[];
  /** The figures, each with its rows. */
  figures: readonly (readonly ChangeRow[])[];
  axis: ChangeAxis;
  notes: readonly string[];
  noises: Noises | null;
  caption: string;
}

/** A side's name, which leads to its median run. */
export function sideLink({ name, runs, look }: NamedSide): HTMLElement {
  const [middle] = medianFirst(runs);
  const text = [lookMarker(look), h("b", null, name)];
  return middle ? h("a", { href: link("run", middle.id), class: "row-link", title: "The median run" }, text) : h("span", null, text);
}

function verdictCell(row: ChangeRow | undefined, notes: readonly string[], mixed: boolean): Child {
  if (!row) return absent("not compared");
  const { verdict, theseRuns } = outcomeOf(row);
  if (verdict === "unknown") return h("span", { class: "quiet", title: unknownText(row, notes) }, verdictText(verdict));
  if (verdict === "not shown") return h("span", { class: "quiet", title: hidingText(row) }, verdictText(verdict));
  return [
    h("span", { class: `pill ${verdict}`, title: theseRuns ? `${verdict} in these runs` : null }, verdict),
    mixed && theseRuns ? h("small", null, " these runs") : null,
  ];
}

function changeText(row: ChangeRow | undefined): string {
  return change(row?.change_percent);
}

function missingChange(row: ChangeRow | undefined): Child {
  if (row?.a === 0 && row.b !== null) return absent("from 0 there is no change in percent");
  return absent("no values to compare");
}

/** Draws the table. On phones the interval stands below its row. */
export function changeTable({ baseline, sides, figures, axis, notes, noises, caption }: ChangeTable): HTMLTableElement {
  const rowOf = (figure: readonly ChangeRow[], { name }: NamedSide): ChangeRow | undefined => figure.find(({ run }) => run === name);
  const names = figures.map((rows) => figureOf(rows[0] as ChangeRow));
  const values = aligned(figures.map((rows, at) => names[at]?.text(rows.find(({ a }) => a !== null)?.a ?? null) ?? ""));
  const columns = sides.map((side) => {
    const rows = figures.map((figure) => rowOf(figure, side));
    return {
      rows,
      values: aligned(rows.map((row, at) => names[at]?.text(row?.b ?? null) ?? "")),
      changes: aligned(rows.map(changeText)),
      mixed: onlyTheseRuns(rows.filter((row) => row !== undefined)) === null,
    };
  });
  // Where nothing can be told, there is nothing to draw either.
  const hasIntervals = axis.ticks.length > 0 || figures.flat().some((row) => differenceText(row) !== null);
  const interval = (row: ChangeRow | undefined): HTMLElement => {
    const words = row ? differenceText(row) : null;
    return h(
      "td",
      { class: "col-interval", title: row ? rowText(row, notes) : null },
      row ? intervalPicture(row, axis, notes) : emptyPicture(axis),
      words ? h("span", { class: "difference" }, words.map((text) => [h("span", null, text), " "])) : null,
    );
  };
  const cells = ({ rows, values: texts, changes, mixed }: (typeof columns)[number], at: number): Child => {
    const row = rows[at];
    const { verdict } = outcomeOf(row ?? { outcome: "unknown" });
    return [
      h("td", { class: "number col-value side-start" }, row?.b === null || !row ? absent("no value") : texts[at]),
      h(
        "td",
        { class: `number col-change ${isShown(verdict) ? "best" : "quiet"}` },
        row?.change_percent === null || !row ? missingChange(row) : changes[at],
      ),
      hasIntervals ? interval(row) : null,
      h("td", { class: "col-verdict" }, verdictCell(row, notes, mixed)),
    ];
  };
  const line = (rows: readonly ChangeRow[], at: number): HTMLTableRowElement => {
    return h(
      "tr",
      null,
      h(
        "th",
        { scope: "row", class: "col-figure" },
        names[at]?.name,
        " ",
        h("span", { class: "quiet unit" }, names[at]?.unit),
        noiseSigns(rows, noises).map(({ sign, text }) => [
          h("span", { class: "quiet", title: text, "aria-hidden": "true" }, `\u00a0${sign}`),
          h("span", { class: "hidden" }, `, ${text}`),
        ]),
      ),
      h("td", { class: "number quiet col-baseline" }, rows.every(({ a }) => a === null) ? absent("no value") : values[at]),
      columns.map((column) => cells(column, at)),
    );
  };
  const span = hasIntervals ? 4 : 3;
  const sideHeads = ({ look }: NamedSide): Child => [
    h("th", { scope: "col", class: "number col-value side-start" }, h("span", { class: "phone-only" }, lookMarker(look)), "value"),
    h("th", { scope: "col", class: "number col-change" }, "change", h("br"), "%"),
    hasIntervals ? h("th", { scope: "col", class: "col-interval" }, h("span", { class: "hidden" }, "Interval of the change"), axisPicture(axis)) : null,
    h("th", { scope: "col", class: "col-verdict" }, "verdict"),
  ];
  return h(
    "table",
    { class: hasIntervals ? "changes" : "changes without-intervals" },
    h("caption", { class: "hidden" }, caption),
    h("colgroup", null, h("col"), h("col")),
    sides.map(() => h("colgroup", { span })),
    h(
      "thead",
      null,
      h(
        "tr",
        { class: "heads" },
        h("td"),
        h("td", { class: "number" }, sideLink(baseline)),
        sides.map((side) =>
          h("th", { scope: "colgroup", colspan: span, class: "side-start side-name" }, sideLink(side), ` against ${baseline.name}`),
        ),
      ),
      h(
        "tr",
        null,
        h("th", { scope: "col", class: "col-figure" }, "Measure"),
        h("th", { scope: "col", class: "number col-baseline" }, h("span", { class: "phone-only" }, lookMarker(baseline.look)), "baseline"),
        sides.map(sideHeads),
      ),
    ),
    h("tbody", null, figures.map(line)),
  );
}

interface Column {
  name: string;
  unit: string;
  of: (run: RunRow) => number | null;
  text: (value: number | null) => string;
}

const FIGURES: readonly Column[] = [
  { name: "Throughput", unit: "/s", of: (run) => run.throughput, text: (value) => rate(value) },
  { name: "Failures", unit: "%", of: failuresOf, text: failurePercent },
  { name: "p50", unit: "ms", of: (run) => run.p50, text: (value) => ms(value) },
  { name: "p95", unit: "ms", of: (run) => run.p95, text: (value) => ms(value) },
  { name: "p99", unit: "ms", of: (run) => run.p99, text: (value) => ms(value) },
  { name: "mean CPU", unit: "%", of: (run) => run.cpu, text: (value) => rate(value) },
];

const FIGURES_CAPTION = "Figures of the whole runs, medians of repeats";

/** The figures of sides beside each other, without any comparison. */
export function figuresTable(sides: readonly NamedSide[]): HTMLElement {
  const value = ({ of }: Column, { runs }: NamedSide): number | null => median(runs.flatMap((run) => of(run) ?? []));
  const figures = FIGURES.filter((figure) => sides.some((side) => value(figure, side) !== null));
  const columns = sides.map((side) => aligned(figures.map((figure) => figure.text(value(figure, side)))));
  const table = h(
    "table",
    { class: "plain-figures" },
    h("caption", { class: "hidden" }, FIGURES_CAPTION),
    h(
      "thead",
      null,
      h("tr", null, h("th", { scope: "col" }, "Measure"), sides.map((side) => h("th", { scope: "col", class: "number" }, sideLink(side)))),
    ),
    h(
      "tbody",
      null,
      figures.map(({ name, unit }, at) =>
        h("tr", null, h("th", { scope: "row" }, name, h("span", { class: "quiet" }, ` ${unit}`)), columns.map((column) => h("td", { class: "number" }, column[at]))),
      ),
    ),
  );
  return h("div", { class: "figures-place" }, h("p", { class: "note" }, FIGURES_CAPTION), scrolling(FIGURES_CAPTION, table));
}
