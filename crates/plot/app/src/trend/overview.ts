// The trends of all tests: what changed, newest first, and each framework's throughput in small.

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
import { alerts, amount, type ShortAlert, shortAlerts } from "./alerts";
import { figureName, figureText, look, SIGNS, wayName } from "./figures";
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
    const throughput = trend.figures.find(({ figure }) => figure === "throughput");
    const last = throughput?.values.findLast((value) => value !== null);
    return { trend, throughput, text: throughput ? figureText(throughput.figure, throughput.unit)(last) : "–" };
  });
  const texts = aligned(rows.map(({ text }) => text));
  return h(
    "tbody",
    null,
    h("tr", { class: "trend-test" }, h("th", { scope: "rowgroup", colspan: 5 }, h("a", { href: link("trend", test.id) }, test.name))),
    rows.map(({ trend, throughput }, at) =>
      h(
        "tr",
        null,
        h("th", { scope: "row", class: "col-name" }, h("a", { href: link("trend", test.id, { framework: trend.framework }), class: "row-link", title: trend.framework }, marker(trend.framework), trend.framework)),
        h("td", { class: "col-spark" }, throughput ? trendSpark(trend.framework, throughput) : null),
        h("td", { class: "number" }, texts[at]),
        h("td", { class: "number quiet" }, count(trend.versions.length)),
        h("td", { class: "col-change" }, lastChange(trend, data.least)),
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
        h("th", { scope: "col", class: "col-spark" }, "Throughput over versions"),
        numberHead("Newest", "/s"),
        numberHead("Versions"),
        h("th", { scope: "col", class: "col-change" }, "Last change"),
      ),
    ),
    trends.map(testRows),
  );
}

function lastChange(trend: FrameworkTrend, least: number): Child {
  if (trend.versions.length < least) return h("span", { class: "quiet" }, `${least - trend.versions.length} more needed`);
  const newest = [...alerts(trend)].sort((a, b) => b.version - a.version)[0];
  const [first] = newest?.changes ?? [];
  if (newest && first)
    return h("span", { class: `trend-mark ${look(newest.direction)}`, title: newest.lead + newest.text }, `${SIGNS[newest.direction]} ${figureName(first.figure)} ${amount(first)}`);
  return h("span", { class: "quiet" }, trend.drifts.length > 0 ? "drifts" : "none");
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
