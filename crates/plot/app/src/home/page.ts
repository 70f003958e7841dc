// Home: what is here, who leads, what went wrong?

import { type App, liveId } from "../app";
import { h, replace } from "../dom";
import { ago, count, days, plural } from "../format";
import { bindRows, runCells, runTable } from "../list/table";
import { filterRuns, parseFilters, parseSort, printSort, sortRuns, tagValues } from "../list/filter";
import { loadTest } from "../load";
import { MEASURES, type MeasureName, measureOf } from "../measures";
import { changed, type Route } from "../router";
import { csv, save } from "../save";
import { chosenText } from "../run/facts";
import { chosenRuns, compareLink, emptyBasket, onBasket } from "../shell/basket";
import { type Action, COPY_LINK, pageHead } from "../shell/head";
import { failure, message } from "../shell/states";
import type { View } from "../view";
import { attention, type LoadedTest } from "./attention";
import { filterChips, nothingFound } from "./filters";
import { lookLines } from "./looks";
import { matrix, paperMatrix, phoneMatrix, tieNote, wideMatrix } from "./matrix";

/** How many runs are shown first, and how many more at a time. */
const ROWS = 50;
const PHONE = matchMedia("(max-width: 639.98px)");

interface Loaded {
  tests: LoadedTest[];
  errors: unknown[];
}

/** Loads the tests' files; those that can't be read are told, the others shown. */
export async function loadTests({ store }: App): Promise<Loaded> {
  const loaded = await Promise.allSettled(store.tests.map(({ id }) => loadTest(id)));
  const tests: LoadedTest[] = [];
  const errors: unknown[] = [];
  store.tests.forEach((test, at) => {
    const result = loaded[at];
    if (result?.status === "fulfilled") tests.push({ test, data: result.value });
    else if (result) errors.push(result.reason);
  });
  return { tests, errors };
}

function measureLinks(route: Route, chosen: MeasureName, names: readonly MeasureName[]): HTMLElement {
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": "Measure" },
    MEASURES.filter(({ id }) => names.includes(id)).map(({ id, name }) =>
      h(
        "a",
        {
          id: `measure-${id}`,
          href: changed(route, { measure: id === "throughput" ? null : id, at: null }),
          "aria-current": id === chosen ? "true" : null,
        },
        name,
      ),
    ),
  );
}

function matrixSection(app: App, route: Route, { tests, errors }: Loaded): { element: HTMLElement; end: () => void } | null {
  if (app.store.runs.length < 2 || app.store.tests.length === 0) return null;
  const measure = measureOf(route.query.get("measure"));
  const table = matrix(tests, app.runs, measure);
  const hasCpu = app.store.runs.some(({ cpu }) => cpu !== null);
  const names = MEASURES.map(({ id }) => id).filter((id) => hasCpu || id !== "per-cpu");
  const note = tieNote(table, measure);
  const place = h("div", { class: "matrix-place" });
  const wanted = route.query.get("matrix");
  const shown = table.columns.find(({ test }) => test.id === wanted) ?? table.columns[0];
  const tabs = (): HTMLElement =>
    h(
      "div",
      { class: "segments tabs", role: "group", "aria-label": "Test" },
      table.columns.map(({ test }) =>
        h(
          "a",
          {
            id: `matrix-${test.id}`,
            href: changed(route, { matrix: test.id, at: null }),
            "aria-current": test === shown?.test ? "true" : null,
          },
          test.name,
        ),
      ),
    );
  const draw = (): void => {
    if (!shown) replace(place);
    else if (PHONE.matches) replace(place, tabs(), phoneMatrix(table, measure, shown));
    else replace(place, wideMatrix(table, measure));
  };
  const toPaper = (): void => replace(place, paperMatrix(table, measure));
  PHONE.addEventListener("change", draw);
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", draw);
  draw();
  const end = (): void => {
    PHONE.removeEventListener("change", draw);
    removeEventListener("beforeprint", toPaper);
    removeEventListener("afterprint", draw);
  };
  const element = h(
    "section",
    { id: "at-matrix", "aria-labelledby": "matrix-title" },
    h(
      "div",
      { class: "section-line" },
      h("h2", { id: "matrix-title" }, "Frameworks × tests"),
      h("p", { class: "note" }, `${measure.about}, median of repeats`, note ? `. ${note}` : ""),
      measureLinks(route, measure.id, names),
    ),
    place,
    errors.map((error) => failure(error, "The other tests and all runs are shown.")),
  );
  return { element, end };
}

function runsSection(app: App, route: Route): HTMLElement {
  const { runs } = app.store;
  const filters = parseFilters(route.query);
  const sort = parseSort(route.query.get("sort"));
  const found = sortRuns(filterRuns(runs, filters), sort);
  const most = Math.max(ROWS, Number(route.query.get("rows")) || 0);
  const shown = found.slice(0, most);
  const more = Math.min(ROWS, found.length - shown.length);
  return h(
    "section",
    { id: "at-runs", "aria-labelledby": "runs-title" },
    h(
      "div",
      { class: "section-line" },
      h("h2", { id: "runs-title" }, "Runs"),
      filterChips(runs, filters, (values) => changed(route, { ...values, rows: null, at: null })),
      basketButtons(),
    ),
    found.length === 0
      ? nothingFound(runs, filters, (values) => changed(route, { ...values, rows: null, at: null }))
      : runTable({
          runs: shown,
          sort,
          sortLink: (next) => changed(route, { sort: printSort(next), at: null }),
          label: "Table of runs",
          live: liveId(app),
        }),
    h(
      "p",
      { class: "foot" },
      h(
        "span",
        null,
        `${count(shown.length)} of ${plural(runs.length, "run")}`,
        more > 0 ? ["  ", h("a", { id: "more", href: changed(route, { rows: most + ROWS, at: null }) }, `Show ${more} more`)] : null,
      ),
      h("span", null, `perfpipe ${app.store.version}`),
    ),
  );
}

function basketButtons(): HTMLElement {
  const place = h("span", { class: "basket", role: "status" });
  const draw = (): void => {
    const number = chosenRuns().length;
    replace(
      place,
      number > 0 ? h("button", { type: "button", class: "button", onclick: clear }, "Clear") : null,
      number > 1 ? h("a", { href: compareLink(), class: "button first" }, `Compare ${number} runs`) : null,
      number === 1 ? h("span", { class: "note" }, "Tick another run to compare") : null,
    );
  };
  const clear = (): void => {
    emptyBasket();
    for (const box of document.querySelectorAll<HTMLInputElement>(".runs .tick input")) box.checked = false;
  };
  place.addEventListener("basket", draw);
  draw();
  return place;
}

function facts(app: App, now: number): string {
  const { runs } = app.store;
  const [first, last] = [runs[0], runs.at(-1)];
  if (!first || !last) return "No runs";
  const constant = [...tagValues(runs).constant].map(([tag, value]) => `${tag} ${value}`);
  const tools = new Set(runs.map(({ tool }) => tool));
  const tool = tools.size === 1 && last.tool ? [last.tool] : [];
  return `${[days(first.t0, last.t0), ...tool, ...constant].join(", ")}. Newest run ${ago(last.t0, now)}.`;
}

/** Loads home. */
export async function homePage(app: App, route: Route): Promise<View> {
  const loaded = await loadTests(app);
  const { store } = app;
  const found = (): readonly (typeof store.runs)[number][] => filterRuns(store.runs, parseFilters(route.query));
  const exports: Action[] = [
    { text: "Runs as CSV", run: () => save(`${store.name}-runs.csv`, csv(runCells(found()))) },
  ];
  return {
    title: store.name,
    exports,
    draw: (host) => {
      const { points = 0 } = store;
      const extent = [
        plural(store.runs.length, "run"),
        plural(store.frameworks.length, "framework"),
        plural(store.tests.length, "test"),
        ...(points > 0 ? [`${plural(points, "point")} of sweeps`] : []),
      ];
      const head = pageHead({
        path: [],
        title: store.name,
        about: extent.join(", "),
        facts: [chosenText(store.runs.flatMap(({ chosen }) => chosen ?? [])), facts(app, Date.now())],
        actions: [COPY_LINK],
        exports,
      });
      if (store.runs.length === 0) {
        if (points > 0) {
          const sweep = h("code", null, "perfpipe sweep");
          replace(host, head, message(`This store has no runs, and ${plural(points, "point")} of sweeps.`, [sweep, " shows them: pages are of runs."]));
          return;
        }
        const command = h("code", null, "perfpipe ingest LOG --store STORE");
        replace(host, head, message("This store is empty.", ["Fill it: ", command, ", then write the site again."]));
        return;
      }
      const table = matrixSection(app, route, loaded);
      const runs = runsSection(app, route);
      replace(host, head, lookLines(attention(loaded.tests, store.runs)), table?.element, runs);
      const ends = [
        bindRows(runs),
        onBasket(() => runs.querySelector(".basket")?.dispatchEvent(new Event("basket"))),
        () => table?.end(),
      ];
      return () => ends.forEach((end) => end());
    },
  };
}

