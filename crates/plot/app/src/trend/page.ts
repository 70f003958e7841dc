// Trends: did it change, when, by how much?

import type { App } from "../app";
import { type Child, h, replace } from "../dom";
import { days, plural } from "../format";
import { loadTest, loadTrend } from "../load";
import { changed, link, type Route } from "../router";
import { csv, save } from "../save";
import { type Action, COPY_LINK, pageHead, PRINT } from "../shell/head";
import { bindKeys } from "../shell/keys";
import type { Section } from "../shell/sidebar";
import { failure, message } from "../shell/states";
import { marker } from "../slots";
import type { FrameworkTrend, TestRow, TrendData } from "../types";
import type { View } from "../view";
import { type Alert, alerts, shownFirst, unchanged } from "./alerts";
import { tooFew, trendCharts } from "./charts";
import { look, moves, SIGNS, sorted, wayName } from "./figures";
import { trendOverview } from "./overview";
import { versionCells, versionTable } from "./table";

/** How runs get versions. */
function howTo(): Child[] {
  return [
    ["Name the version of each log as it is ingested: ", h("code", null, "--tag commit=3f2a9c1"), "."],
    ["Say what makes a version when the site is written: ", h("code", null, "perfpipe site --by tag:commit"), "."],
  ];
}

/** What the points are. */
export function facts(trend: FrameworkTrend, by: string): string {
  const { versions } = trend;
  const runs = versions.reduce((sum, version) => sum + version.runs.length, 0);
  const [first, last] = [versions[0], versions.at(-1)];
  const extent = first && last ? `, ${days(first.t0, last.t0)}` : "";
  const one = by === "day" || by === "run" ? by : "version";
  const points = runs > versions.length ? ` Each large point is a ${one}, each small one a run.` : ` Each point is a ${one}.`;
  return `By ${wayName(by)}: ${plural(versions.length, one)}, ${plural(runs, "run")}${extent}.${points}`;
}

function alertLine({ direction, lead, text, href }: Alert): HTMLElement {
  return h(
    "li",
    { class: `trend-alert ${look(direction)}` },
    h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[direction]),
    h("p", null, h("b", null, lead), text),
    h("a", { href, "aria-label": `Compare before with after: ${lead}`, title: "The runs before against those since" }, "Compare"),
  );
}

function alertLines(trend: FrameworkTrend, least: number): Child {
  const found = alerts(trend);
  const still = trend.figures.filter((figure) => !moves(figure) && figure.values.some((value) => value !== null));
  const few = trend.versions.length < least;
  return h(
    "section",
    { id: "at-changes", class: "trend-alerts", "aria-label": "Changes" },
    few ? h("p", { class: "trend-none" }, h("b", null, tooFew(trend.versions.length, least)), " Before, a change of level can’t be told from chance.") : null,
    found.length > 0 || trend.drifts.length > 0
      ? h("ul", null, found.map(alertLine), trend.drifts.map((text) => h("li", { class: "trend-alert drift" }, h("span", { class: "sign", "aria-hidden": "true" }, "→"), h("p", null, /[.!?]$/.test(text) ? text : `${text}.`))))
      : null,
    few
      ? null
      : found.length === 0 && trend.drifts.length === 0
        ? h("p", { class: "trend-none" }, "No figure changes its level by more than chance.")
        : still.length > 0
          ? h("p", { class: "trend-none" }, `No change by more than chance: ${unchanged(still)}.`)
          : null,
  );
}

function segments(label: string, items: { id: string; text: Child; href: string; chosen: boolean }[]): HTMLElement {
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": label },
    items.map(({ id, text, href, chosen }) => h("a", { id, href, "aria-current": chosen ? "true" : null }, text)),
  );
}

/** The newest version of a framework's change for the worse, said in the control that chooses. */
function changeSign(trend: FrameworkTrend): Child {
  const [first] = alerts(trend);
  return first ? h("span", { class: `sign ${look(first.direction)}`, title: first.lead }, SIGNS[first.direction]) : null;
}

function controls(route: Route, frameworks: readonly FrameworkTrend[], shown: FrameworkTrend, byDate: boolean): HTMLElement {
  return h(
    "div",
    { class: "trend-controls" },
    frameworks.length > 1
      ? segments(
          "Framework",
          frameworks.map((trend) => ({
            id: `framework-${trend.framework}`,
            text: [marker(trend.framework), trend.framework, changeSign(trend)],
            href: changed(route, { framework: trend.framework, version: null, at: null }),
            chosen: trend === shown,
          })),
        )
      : null,
    segments("Axis", [
      { id: "x-version", text: "By version", href: changed(route, { x: null, at: null }), chosen: !byDate },
      { id: "x-date", text: "By date", href: changed(route, { x: "date", at: null }), chosen: byDate },
    ]),
  );
}

/** How long the cursor rests before the link names its version, in ms. */
const REST = 300;

const SECTIONS: readonly Section[] = [
  { id: "changes", name: "Changes" },
  { id: "charts", name: "Charts" },
  { id: "versions", name: "Versions" },
];

function frameworkView(app: App, route: Route, test: TestRow, data: TrendData, trend: FrameworkTrend): View {
  const byDate = route.query.get("x") === "date";
  const file = `${test.name}-${trend.framework}-trend`;
  const exports: Action[] = [{ text: "Versions as CSV", run: () => save(`${file}.csv`, csv(versionCells(trend))) }];
  return {
    title: `Trend of ${trend.framework} in ${test.name}`,
    test: test.name,
    framework: trend.framework,
    sections: SECTIONS,
    exports,
    draw: (host) => {
      let timer = 0;
      const keep = (version: number | null): void => {
        table.mark(version);
        const name = version === null ? null : (trend.versions[version]?.name ?? null);
        // Browsers refuse many changes of the address in a row, such as those of a held key.
        clearTimeout(timer);
        timer = window.setTimeout(() => history.replaceState(null, "", changed(route, { version: name, at: null })), REST);
      };
      const table = versionTable(app, trend, data.by, (version) => charts.keep(version));
      const charts = trendCharts(trend, { file, byDate, least: data.least, open: table.open, pin: keep });
      const hasBand = trend.figures.some(({ levels }) => levels.some(({ band }) => band !== null));
      const drawn = sorted(trend);
      replace(
        host,
        pageHead({
          path: [
            { text: test.name, href: link("test", test.id) },
            { text: "Trends", href: link("trend") },
          ],
          title: [marker(trend.framework), trend.framework],
          about: test.name,
          facts: facts(trend, data.by),
          actions: [COPY_LINK, PRINT],
          exports,
        }),
        alertLines(trend, data.least),
        controls(route, data.frameworks, trend, byDate),
        drawn.open.length + drawn.folded.length > 0
          ? h("section", { id: "at-charts", "aria-labelledby": "charts-title" }, h("h2", { id: "charts-title", class: "hidden" }, "Charts"), charts.element)
          : message("No figure of these runs has a value."),
        hasBand ? h("p", { class: "note trend-key" }, "Straight line: the level. Grey: where a version lies by chance (99 %) if the level stays. Thin bars: the 99 % interval by the scatter of the repeats.") : null,
        table.element,
      );
      charts.show();
      const pinned = trend.versions.findIndex(({ name }) => name === route.query.get("version"));
      if (pinned >= 0) charts.keep(pinned);
      const unbind = bindKeys(table.keys);
      return () => {
        clearTimeout(timer);
        unbind();
        charts.end();
      };
    },
  };
}

function plainHead(test: TestRow, text: string): HTMLElement {
  return pageHead({
    path: [
      { text: test.name, href: link("test", test.id) },
      { text: "Trends", href: link("trend") },
    ],
    title: test.name,
    facts: text,
    actions: [],
  });
}

async function testTrend(app: App, route: Route, test: TestRow): Promise<View> {
  const { trend: file } = await loadTest(test.id);
  const state = (...content: Child[]): View => ({
    title: `Trend of ${test.name}`,
    test: test.name,
    draw: (host) => replace(host, plainHead(test, ""), content),
  });
  if (file === null) return state(message("This test has no trend: all of its runs are of one version.", ...howTo()));
  let data: TrendData;
  try {
    data = await loadTrend(test.id, file);
  } catch (error) {
    return state(failure(error, "The test’s league and its runs are shown without it."), h("p", null, h("a", { href: link("test", test.id) }, `To the test ${test.name}`)));
  }
  const wanted = route.query.get("framework");
  const shown = data.frameworks.find(({ framework }) => framework === wanted) ?? shownFirst(data.frameworks);
  if (!shown) return state(message("This trend has no versions.", ...howTo()));
  return frameworkView(app, route, test, data, shown);
}

/** Loads the trends: of all tests, or of the one that the route names. */
export async function trendPage(app: App, route: Route): Promise<View> {
  if (route.id === null) return trendOverview(app, howTo);
  const test = app.tests.get(route.id) ?? app.store.tests.find(({ name }) => name === route.id);
  if (test) return testTrend(app, route, test);
  return {
    title: "Trends",
    draw: (host) =>
      replace(
        host,
        pageHead({ path: [{ text: "Trends", href: link("trend") }], title: route.id ?? "", facts: "", actions: [] }),
        message("This store has no such test.", h("a", { href: link("trend") }, `All trends of ${plural(app.store.tests.length, "test")}`)),
      ),
  };
}
