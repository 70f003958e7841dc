// Compare: what changed, by how much, by more than chance?

import { type App, go } from "../app";
import { type Child, h, replace } from "../dom";
import type { Side } from "../engine";
import { listed, plural } from "../format";
import { LoadError, loadRun } from "../load";
import { changed, link, type Route } from "../router";
import { printing } from "../run/printing";
import { csv, save } from "../save";
import { chosenRuns, compareLink } from "../shell/basket";
import { type Action, COPY_LINK, pageHead, PRINT } from "../shell/head";
import { bindKeys } from "../shell/keys";
import { message, waitFor } from "../shell/states";
import type { Section } from "../shell/sidebar";
import { overlays } from "../test/overlays";
import type { ComparedSides, RunRow } from "../types";
import type { View } from "../view";
import { compared } from "./answers";
import { type Choice, choicesOf } from "./choices";
import { changeCells } from "./figures";
import { picker } from "./picker";
import { type Result, result } from "./result";
import { type Chosen, idsOf, kindOf, medianFirst, MOST_SIDES, type NamedSide, namedSides, parseSides, printSides, sameRuns } from "./sides";
import { compareFacts, sameText, sideAbout, titleOf, warningsOf } from "./sentences";
import { figuresTable } from "./table";

const SECTIONS: readonly Section[] = [
  { id: "changes", name: "Changes" },
  { id: "overlays", name: "Over time" },
];
/** How many tests are proposed where nothing is chosen. */
const MOST_TESTS = 8;

/** The link of the same state with other sides. */
function hrefOf(route: Route, sides: readonly (readonly string[])[]): string {
  return changed(route, { ...printSides(sides), side: null, at: null });
}

/** Sides in another order or number. */
const without = <T>(list: readonly T[], at: number): T[] => list.filter((_, index) => index !== at);
const toFront = <T>(list: readonly T[], at: number): T[] => [...list.slice(at, at + 1), ...without(list, at)];

function pickers(app: App, route: Route, chosen: readonly Chosen[], named: ReadonlyMap<Chosen, NamedSide>): HTMLElement {
  const ids = chosen.map(idsOf);
  const runs = chosen.flatMap((side) => side.runs);
  const open = new Set(runs.map(kindOf));
  let list: Choice[] | null = null;
  const choices = (): Choice[] => (list ??= choicesOf(app.store.runs, new Set(runs.map(({ test }) => test))));
  const sides = chosen.map((side, at) => {
    const known = named.get(side) ?? null;
    const about = sideAbout(side, known?.name ?? "");
    const links = [
      ...(at > 0 ? [{ text: "Make it the baseline", href: hrefOf(route, toFront(ids, at)) }] : []),
      { text: "Remove", href: hrefOf(route, without(ids, at)) },
    ];
    return picker({
      id: `side-${at}`,
      name: known?.name ?? null,
      look: known?.look ?? null,
      about: at === 0 ? `${about}, baseline` : about,
      label: at === 0 ? "Baseline" : `Side ${at + 1}`,
      baseline: at === 0,
      choices,
      open,
      ids: ids[at] ?? [],
      href: (own) => hrefOf(route, ids.map((other, index) => (index === at ? own : other))),
      links,
    });
  });
  const more = picker({
    id: "side-add",
    name: null,
    look: null,
    about: chosen.length === 0 ? "Choose the baseline" : chosen.length === 1 ? "Choose what to compare" : "+ Add a run",
    label: "Another side",
    baseline: false,
    choices,
    open,
    ids: [],
    href: (own) => hrefOf(route, [...ids, own]),
    links: [],
  });
  return h("div", { class: "pickers", role: "group", "aria-label": "Sides" }, sides, chosen.length < MOST_SIDES ? more : null);
}

/** The frameworks of a test, the newest version of each a side. */
function proposal(runs: readonly RunRow[]): string[][] {
  const frameworks = [...new Set(runs.map(({ framework }) => framework))];
  return frameworks.slice(0, MOST_SIDES).map((framework) => {
    const own = runs.filter((run) => run.framework === framework);
    const newest = own.at(-1);
    return own.filter((run) => newest !== undefined && kindOf(run) === kindOf(newest)).map(({ id }) => id);
  });
}

function howToChoose(app: App, chosen: readonly Chosen[]): HTMLElement {
  if (chosen.length > 0) return message("Nothing to compare it with yet.", ["Choose a second side above, or tick runs ", h("a", { href: link("home") }, "at home"), "."]);
  const ticked = chosenRuns().length;
  const tests = app.store.tests.flatMap(({ name }) => {
    const sides = proposal(app.store.runs.filter(({ test }) => test === name));
    return sides.length > 1 ? { name, sides } : [];
  });
  const text = ({ name, sides }: (typeof tests)[number]): Child => {
    const frameworks = sides.flatMap(([id]) => app.runs.get(id ?? "")?.framework ?? []);
    return h("li", null, h("a", { href: link("compare", null, { ...printSides(sides) }) }, name), h("span", { class: "quiet" }, ` ${listed(frameworks)}`));
  };
  const place = message(
    "Nothing is chosen yet.",
    ["Tick two or more runs ", h("a", { href: link("home") }, "at home"), ", then Compare; or choose the baseline above. Repeats are taken together."],
    ticked > 1 ? h("a", { href: compareLink() }, `Compare the ${ticked} ticked runs`) : null,
  );
  if (tests.length > 0) place.append(h("p", null, "Or all frameworks of a test:"), h("ul", { class: "proposals" }, tests.slice(0, MOST_TESTS).map(text)));
  return place;
}

/** The charts of the median runs, with the names and looks of the sides. */
function charts(sides: readonly NamedSide[], file: string): { element: HTMLElement; end: () => void } {
  const subjects = sides.map(({ name, look, runs }) => ({
    framework: runs[0]?.framework ?? "",
    name,
    look,
    runs: medianFirst(runs).map(({ id }) => id),
  }));
  return overlays(subjects, file, "The other charts and figures are whole without it.");
}

const fileName = (names: readonly string[]): string => `compare-${names.join("-")}`.replace(/[^\p{L}\p{N}.-]+/gu, "-").replace(/-+$/, "");

/** Sides without those that are there already, and the side that stands for each of the chosen. */
function distinct(present: readonly Chosen[]): { sides: NamedSide[]; named: Map<Chosen, NamedSide> } {
  const firsts = present.filter((side, at) => !present.slice(0, at).some((before) => sameRuns(before.runs, side.runs)));
  const sides = namedSides(firsts.map(({ runs }) => runs));
  const placeOf = (side: Chosen): number => firsts.findIndex((first) => sameRuns(first.runs, side.runs));
  return { sides, named: new Map(present.map((side) => [side, sides[placeOf(side)] as NamedSide])) };
}

/** What is said where the engine fails; figures and charts need no engine. */
function notComputed(error: unknown): HTMLElement {
  const reason = error instanceof LoadError ? `${error.file}: ${error.reason}` : error instanceof Error ? error.message : String(error);
  const place = message("Changes can’t be computed.", `Why: ${reason}.`, "The figures of all sides and the charts below don’t need it.");
  place.setAttribute("role", "alert");
  return place;
}

/** What saves an answer of the engine, exact. */
function fileActions(file: string, asked: readonly Side[]): Action[] {
  const json = ({ changes, notes }: ComparedSides): string => `${JSON.stringify({ sides: asked, rows: changes, notes }, null, 1)}\n`;
  const saving = (write: (answer: ComparedSides) => void) => (): void => void compared(asked).then(write, () => {});
  return [
    { text: "Changes as CSV", run: saving(({ changes }) => save(`${file}.csv`, csv(changeCells(changes)))) },
    { text: "Changes as JSON", run: saving((answer) => save(`${file}.json`, json(answer), "application/json")) },
  ];
}

/** Draws the comparison of what a link names. */
export function comparePage(app: App, route: Route): Promise<View> {
  const chosen = parseSides(route.query, app.runs);
  const present = chosen.filter(({ runs }) => runs.length > 0);
  const { sides, named } = distinct(present);
  const [baseline, ...others] = sides;
  const same = sides.length === 1 && present.length > 1;
  // Without its baseline a link says nothing on what the others are to be compared with.
  const gone = chosen[0]?.runs.length === 0;
  const title = gone ? "Compare" : titleOf(same ? present.map(() => baseline?.name ?? "") : sides.map(({ name }) => name));
  const file = fileName(sides.map(({ name }) => name));
  const ids = chosen.map(idsOf);
  const swap = (): void => go(hrefOf(route, toFront(ids, 1)));
  const swapAction: Action[] = chosen.length > 1 && !same ? [{ text: "Swap", run: swap }] : [];
  const asked = baseline && !gone ? [baseline, ...others].map(({ name, runs }) => ({ name, runs: runs.map(({ id }) => id) })) : [];
  const exports = asked.length > 1 ? fileActions(file, asked) : [];

  const draw = (host: HTMLElement): (() => void) => {
    let shown: Result | null = null;
    let ended = false;
    const windows = h("div", { class: "compare-windows" });
    const head = pageHead({
      path: [
        { text: app.store.name, href: link("home") },
        ...(sides.length > 0 && !gone ? [{ text: "Compare", href: link("compare") }] : []),
      ],
      title,
      facts: compareFacts(sides.flatMap(({ runs }) => runs)),
      actions: [...swapAction, COPY_LINK, PRINT],
      exports,
    });
    const place = h("div", { class: "change-place" });
    const note = gone
      ? message("The baseline is not in this store, or no longer.", "Choose another one above.")
      : same
        ? message(sameText(baseline?.runs ?? [], present.length), "Choose another one above.")
        : sides.length < 2
          ? howToChoose(app, chosen)
          : null;
    const drawn = sides.length > 0 ? charts(sides, file) : null;
    const fill = async (first: NamedSide): Promise<void> => {
      const number = new Set(asked.flatMap(({ runs }) => runs)).size;
      try {
        const answer = await waitFor(place, plural(number, "run"), compared(asked));
        const data = await Promise.all(asked.flatMap(({ runs }) => runs.map(loadRun)));
        if (ended) return;
        shown = result(route, first, others, answer, data);
        replace(place, shown.element);
        replace(windows, shown.windows);
      } catch (error) {
        if (ended) return;
        replace(place, notComputed(error), figuresTable(sides));
      }
    };
    replace(
      host,
      head,
      h("div", { class: "compare-line" }, pickers(app, route, chosen, named), windows),
      warningsOf(chosen, sides).map((text) => h("p", { class: "warning" }, text)),
      h(
        "section",
        { id: "at-changes", "aria-labelledby": "changes-title" },
        h("h2", { id: "changes-title", class: "hidden" }, "Changes"),
        note,
        sides.length > 0 && asked.length < 2 ? figuresTable(sides) : null,
        asked.length > 1 ? place : null,
      ),
      drawn ? h("section", { id: "at-overlays", "aria-label": "Sides over each other" }, drawn.element) : null,
    );
    if (baseline && asked.length > 1) void fill(baseline);
    const ends = [
      printing(host, () => shown?.toPaper() ?? (() => {})),
      bindKeys({
        x: () => (chosen.length > 1 ? swap() : false),
        w: () => host.querySelector<HTMLElement>("#part-run")?.click(),
        h: () => host.querySelector<HTMLElement>("#part-hold")?.click(),
      }),
      () => drawn?.end(),
      () => shown?.end(),
    ];
    return () => {
      ended = true;
      ends.forEach((end) => end());
    };
  };
  return Promise.resolve({
    title,
    sections: asked.length > 1 ? SECTIONS : [],
    exports: [...swapAction, ...exports],
    draw,
  });
}
