// The trends of all tests: what changed, newest first, and for each framework in small the figure that changed, or its throughput.

import type { App } from "../app";
import { type Child, h, replace } from "../dom";
import { count, days, listed, plural } from "../format";
import { loadTests } from "../home/page";
import { loadTrend } from "../load";
import { link } from "../router";
import { COPY_LINK, pageHead, PRINT } from "../shell/head";
import { failure, message } from "../shell/states";
import { marker } from "../slots";
import { aligned, numberHead, scrolling } from "../table";
import type { FrameworkTrend, TestRow, TrendData } from "../types";
import type { View } from "../view";
import { amount, type ChangedFigure, type ShortAlert, shortAlerts, standingChange } from "./alerts";
import { figureText, figureTitle, look, shortName, SIGNS, versionName, wayName } from "./figures";
import { trendSpark } from "./spark";

/** How many changes are shown before the others are unfolded. */
const MOST = 6;

interface TestTrend {
  test: TestRow;
  data: TrendData;
}

function alertItem({ test, alert }: { test: TestRow; alert: ShortAlert }): HTMLElement {
  const { framework, direction, lead, text } = alert;
  return h(
    "li",
    { class: `trend-alert ${look(direction)}` },
    h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[direction]),
    h("p", null, h("span", { class: "trend-of" }, marker(framework), `${framework} · ${test.name}`), " ", h("b", null, lead), text),
    h("a", { href: link("trend", test.id, { framework }), "aria-label": `Trend of ${framework} in ${test.name}` }, "Trend"),
  );
}

function testRows({ test, data }: TestTrend): HTMLTableSectionElement {
  const rows = data.frameworks.map((trend) => {
    const standing = standingChange(trend);
    const throughput = trend.figures.find(({ figure }) => figure === "throughput");
    const figure = standing?.figure ?? trend.figures.find(({ drifts }) => drifts.length > 0) ?? throughput;
    const last = figure?.values.findLast((value) => value !== null);
    return { trend, standing, throughput, figure, text: figure ? figureText(figure.figure, figure.unit)(last) : "–" };
  });
  const texts = aligned(rows.map(({ text }) => text));
  return h(
    "tbody",
    null,
    h("tr", { class: "trend-test" }, h("th", { scope: "rowgroup", colspan: 6 }, h("a", { href: link("trend", test.id) }, test.name))),
    rows.map(({ trend, standing, throughput, figure }, at) =>
      h(
        "tr",
        null,
        h("th", { scope: "row", class: "col-name" }, h("a", { href: link("trend", test.id, { framework: trend.framework }), class: "row-link", title: trend.framework }, marker(trend.framework), trend.framework)),
        h("td", { class: standing ? "col-figure" : "col-figure quiet" }, figure ? (figure === throughput ? "Throughput, /s" : figureTitle(figure)) : null),
        h("td", { class: "col-spark" }, figure ? trendSpark(trend.framework, figure) : null),
        h("td", { class: "number" }, texts[at]),
        h("td", { class: "number quiet" }, count(trend.versions.length)),
        h("td", { class: "col-change" }, changeText(trend, standing, data.least)),
      ),
    ),
  );
}

function testTable(trends: readonly TestTrend[]): HTMLTableElement {
  return h(
    "table",
    { class: "trend-tests", "aria-label": "Frameworks by test" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col", class: "col-name" }, "Framework"),
        h("th", { scope: "col", class: "col-figure" }, "Figure"),
        h("th", { scope: "col", class: "col-spark" }, "Over versions"),
        numberHead("Newest"),
        numberHead("Versions"),
        h("th", { scope: "col", class: "col-change" }, "Change"),
      ),
    ),
    trends.map(testRows),
  );
}

function changeText(trend: FrameworkTrend, standing: ChangedFigure | null, least: number): Child {
  if (trend.versions.length < least) return h("span", { class: "quiet" }, `${least - trend.versions.length} more needed`);
  if (!standing) return h("span", { class: "quiet" }, trend.drifts.length > 0 ? "drifts" : "none");
  const { figure, change } = standing;
  const since = versionName(shortName(trend.versions[change.version]?.name ?? ""));
  return [
    h("span", { class: `trend-mark ${look(change.direction)}` }, `${SIGNS[change.direction]} ${amount({ ...figure, ...change })}`),
    h("span", { class: "quiet" }, ` since ${since}`),
  ];
}

/** Loads the trends of all tests. */
export async function trendOverview(app: App, howTo: () => Child[]): Promise<View> {
  const { tests, errors } = await loadTests(app);
  const withTrend = tests.flatMap(({ test, data }) => (data.trend === null ? [] : { test, file: data.trend }));
  const loaded = await Promise.allSettled(withTrend.map(({ test, file }) => loadTrend(test.id, file)));
  const found: TestTrend[] = [];
  withTrend.forEach(({ test }, at) => {
    const result = loaded[at];
    if (result?.status === "fulfilled") found.push({ test, data: result.value });
    else if (result) errors.push(result.reason);
  });
  const changes = tests
    .flatMap(({ test, data }) => shortAlerts(data.changes).map((alert) => ({ test, alert })))
    .sort((a, b) => b.alert.t0 - a.alert.t0);
  const ways = [...new Set(found.map(({ data }) => data.by))];
  const versions = found.flatMap(({ data }) => data.frameworks.flatMap((trend) => trend.versions.map(({ t0 }) => t0)));
  const extent = versions.length > 0 ? `, ${days(Math.min(...versions), Math.max(...versions))}` : "";
  const facts =
    found.length > 0 ? `By ${listed(ways.map(wayName))}: ${plural(found.length, "test")} of ${count(app.store.tests.length)} with a trend${extent}.` : "";
  const rest = changes.slice(MOST);
  return {
    title: "Trends",
    sections: found.length > 0 ? [{ id: "changes", name: "Changes" }, { id: "tests", name: "Tests" }] : [],
    draw: (host) =>
      replace(
        host,
        pageHead({ path: [{ text: app.store.name, href: link("home") }], title: "Trends", facts, actions: [COPY_LINK, PRINT] }),
        withTrend.length === 0 ? message("No test has a trend: the runs of each are of one version.", ...howTo()) : null,
        found.length > 0
          ? h(
              "section",
              { id: "at-changes", class: "trend-alerts", "aria-label": "Changes" },
              changes.length === 0 ? h("p", { class: "trend-none" }, "No figure changes its level by more than chance.") : h("ul", null, changes.slice(0, MOST).map(alertItem)),
              rest.length > 0 ? h("details", { class: "looks-more" }, h("summary", null, `${count(rest.length)} older`), h("ul", null, rest.map(alertItem))) : null,
            )
          : null,
        found.length > 0
          ? h(
              "section",
              { id: "at-tests", "aria-labelledby": "tests-title" },
              h("div", { class: "section-line" }, h("h2", { id: "tests-title" }, "Tests")),
              scrolling("Trends of the tests", testTable(found)),
            )
          : null,
        errors.map((error) => failure(error, "The other tests are shown.")),
      ),
  };
}
