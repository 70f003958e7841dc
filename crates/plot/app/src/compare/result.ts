// The result of a comparison: verdicts of each side, the table, and what it is to be read with.

import { type Child, h, replace } from "../dom";
import { listed, plural } from "../format";
import { changed, type Route } from "../router";
import { lookMarker } from "../slots";
import { scrolling } from "../table";
import type { ChangeRow, ComparedSides, RunData } from "../types";
import { type ChangeAxis, changeAxis } from "./axis";
import { countVerdicts, figureOf, figuresOf, isAbsent, isShown, noisesOf, noteText, onlyTheseRuns, outcomeOf, partsOf, tooShort } from "./figures";
import { partOf, shownSides } from "./parts";
import { differingTags } from "./sentences";
import type { NamedSide } from "./sides";
import { changeTable } from "./table";

/** So many sides stand beside each other besides the baseline, where there is room; of more one at a time. */
const BESIDE = 2;
/** The width from which they do. */
const WIDE = matchMedia("(min-width: 1180px)");
/** Up to so many sentences are shown unfolded. */
const MOST_NOTES = 3;

const PART_NAMES: Record<string, string> = { run: "Whole", hold: "Hold" };

export interface Result {
  element: HTMLElement;
  /** The choice of the window; null where there is none. */
  windows: HTMLElement | null;
  end: () => void;
  /** Shows all sides, one below the other, as paper has room for; returns what shows them as before. */
  toPaper: () => () => void;
}

function windowChoice(route: Route, parts: readonly string[], part: string): HTMLElement | null {
  if (parts.length < 2) return null;
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": "Window" },
    ["run", "hold"].map((name) =>
      h(
        "a",
        {
          id: `part-${name}`,
          href: changed(route, { part: name === "run" ? name : null, at: null }),
          "aria-current": name === part ? "true" : null,
        },
        PART_NAMES[name],
      ),
    ),
  );
}

/** The verdicts of a side; `href` leads to its table where another one is shown. */
function verdicts({ name, look }: NamedSide, id: string, rows: readonly ChangeRow[], href: string | null, current: boolean): HTMLElement {
  const title = [lookMarker(look), h("b", null, name)];
  return h(
    "li",
    { class: current ? "current" : null },
    href ? h("a", { href, id, class: "row-link", "aria-current": current ? "true" : null }, title) : h("span", null, title),
    rows.length === 0 ? h("span", { class: "quiet" }, "not compared") : null,
    countVerdicts(rows).map(({ text, verdict, number }) =>
      h("span", { class: isShown(verdict) && number > 0 ? `pill ${verdict}` : "quiet" }, text),
    ),
    onlyTheseRuns(rows) === true ? h("span", { class: "quiet", title: "Other starts of the server may differ more" }, "(these runs)") : null,
  );
}

/** A sentence of the engine, as the page says it. What stands between backticks is code. */
function withCode(text: string): Child {
  return noteText(text).split("`").map((part, at) => (at % 2 === 1 ? h("code", null, part) : part));
}

function noteList(notes: readonly string[]): Child {
  if (notes.length === 0) return null;
  const list = h("ul", { class: "compare-notes" }, notes.map((note) => h("li", null, withCode(note))));
  if (notes.length <= MOST_NOTES) return list;
  return h("details", { class: "fold notes-fold" }, h("summary", null, "Notes", h("small", null, `${plural(notes.length, "sentence")} on noise, and on what could be shown`)), list);
}

function tagNote(sides: readonly NamedSide[]): Child {
  const tags = differingTags(sides);
  return tags.length > 0 ? h("p", { class: "note compare-legend" }, `Tags that differ: ${tags.join("; ")}.`) : null;
}

const BARS =
  "Filled point: shown. Thick bar: 99 % interval of this figure. Thin bar: the same with all figures taken together; a change is shown exactly if it excludes 0.";
const HIDDEN = "“Not shown” does not mean equal: what the thin bar covers could hide.";

/** How the table is to be read: of its parts those that are there. */
function legend(rows: readonly ChangeRow[], axis: ChangeAxis, noise: string | undefined, absentNames: readonly string[]): HTMLElement {
  const texts = [
    axis.ticks.length > 0 ? BARS : null,
    noise,
    rows.some((row) => outcomeOf(row).verdict === "not shown") ? HIDDEN : null,
    absentNames.length > 0 ? `Not in these runs: ${listed(absentNames)}.` : null,
  ];
  return h("p", { class: "note compare-legend" }, texts.filter(Boolean).join(" "));
}

/** Draws the result of comparing sides with the baseline; `data` are those of all runs. */
export function result(
  route: Route,
  baseline: NamedSide,
  others: readonly NamedSide[],
  answer: ComparedSides,
  data: readonly RunData[],
): Result {
  const part = partOf(answer.changes, route.query.get("part"));
  const all = figuresOf(answer.changes, part);
  const figures = all.filter((rows) => !isAbsent(rows));
  const rows = figures.flat();
  const absentNames = all.filter(isAbsent).map(([row]) => (row ? figureOf(row).name : ""));
  const axis = changeAxis(rows);
  const noises = noisesOf(rows);
  const lengths = data.flatMap(({ head }) => head.parts.find(({ name }) => name === (part === "run" ? "whole" : part))?.duration ?? []);
  const short = tooShort(answer.notes, part === "run" ? "run" : part, Math.min(...lengths));
  const rowsOf = ({ name }: NamedSide): ChangeRow[] => rows.filter(({ run }) => run === name);
  const table = (sides: readonly NamedSide[]): HTMLElement => {
    const caption = `${listed(sides.map(({ name }) => name))} against ${baseline.name}, ${part === "hold" ? "while the load is held" : "whole runs"}`;
    const notes = answer.notes;
    return scrolling(`Changes of ${caption}`, changeTable({ baseline, sides, figures, axis, notes, noises, caption }));
  };
  const list = h("ul", { class: "verdicts", "aria-label": "Verdicts" });
  const tables = h("div", { class: "change-tables" });
  let onPaper = false;
  const draw = (): void => {
    if (onPaper) return;
    const shown = shownSides(others, route.query.get("side"), WIDE.matches ? BESIDE : 1);
    const several = shown.length < others.length;
    replace(
      list,
      others.map((side, at) =>
        verdicts(side, `verdicts-${at + 1}`, rowsOf(side), several ? changed(route, { side: at === 0 ? null : at + 1, at: null }) : null, several && shown.includes(side)),
      ),
    );
    replace(tables, table(shown));
  };
  WIDE.addEventListener("change", draw);
  draw();
  const element = h("div", null, list, tables, legend(rows, axis, noises?.text, absentNames), tagNote([baseline, ...others]), noteList(short ? [...answer.notes, short] : answer.notes));
  return {
    element,
    windows: windowChoice(route, partsOf(answer.changes), part),
    end: () => WIDE.removeEventListener("change", draw),
    toPaper: () => {
      onPaper = true;
      replace(tables, others.map((side) => table([side])));
      return () => {
        onPaper = false;
        draw();
      };
    },
  };
}
