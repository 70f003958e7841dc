// A test: who is fastest, and is that sure?

import { type App, go, liveId } from "../app";
import { type Child, h, replace } from "../dom";
import { plural } from "../format";
import { testAttention } from "../home/attention";
import { lookLines } from "../home/looks";
import { loadTest } from "../load";
import { bindRows, runCells, runTable } from "../list/table";
import { parseSort, printSort, sortRuns } from "../list/filter";
import { chosenText } from "../run/facts";
import { changed, link, type Route } from "../router";
import { csv, save } from "../save";
import { type Action, COPY_LINK, pageHead, PRINT } from "../shell/head";
import type { Section } from "../shell/sidebar";
import { scrolling } from "../table";
import type { RunRow, TestData, TestRow } from "../types";
import type { View } from "../view";
import { folded } from "./folds";
import { leagueCells, leagueTable } from "./league";
import { overlays } from "./overlays";
import { verdictOf } from "./rules";
import { conditions, groupedFindings, testFacts, tieSentence } from "./sentences";

const SECTIONS: readonly Section[] = [
  { id: "league", name: "League" },
  { id: "overlays", name: "Over time" },
  { id: "rules", name: "Rules" },
  { id: "failures", name: "Failures" },
  { id: "labels", name: "Labels" },
  { id: "runs", name: "Runs" },
];

function findings(runs: readonly RunRow[]): Child {
  const groups = groupedFindings(runs);
  const line = ({ subject, text }: (typeof groups)[number]): HTMLElement => h("li", null, h("b", null, subject), ` ${text}.`);
  if (groups.length === 0) return null;
  return h("ul", { class: "test-findings", "aria-label": "What stands out" }, groups.map(line));
}

/** All runs of a test against its first framework, each framework a side of its own. */
function compareAll({ league }: TestData): string {
  const [a, ...b] = league.map(({ runs }) => runs.join(","));
  return link("compare", null, { a, b });
}

/** Loads a test. */
export async function testPage(app: App, route: Route, test: TestRow): Promise<View> {
  const data = await loadTest(test.id);
  const runs = app.store.runs.filter((run) => run.test === test.name);
  const { league } = data;
  const exports: Action[] = [
    { text: "League as CSV", run: () => save(`${test.name}-league.csv`, csv(leagueCells(league, data.goals))) },
    { text: "Runs as CSV", run: () => save(`${test.name}-runs.csv`, csv(runCells(runs))) },
  ];
  const actions: Action[] = [
    ...(league.length > 1 ? [{ text: "Compare all", run: () => go(compareAll(data)) }] : []),
    ...(data.trend ? [{ text: "Trend", run: () => go(link("trend", test.id)) }] : []),
    COPY_LINK,
    PRINT,
  ];
  return {
    title: test.name,
    test: test.name,
    sections: SECTIONS.filter(({ id }) => id !== "rules" || runs.some(({ verdict }) => verdict !== null)),
    exports,
    draw: (host) => {
      const sort = parseSort(route.query.get("sort"));
      const table = h(
        "details",
        { class: "fold", id: "at-runs", open: route.query.get("at") === "runs" || route.query.has("sort") },
        h("summary", null, "Runs", h("small", null, plural(runs.length, "run"))),
        runTable({
          runs: sortRuns(runs, sort),
          sort,
          sortLink: (next) => changed(route, { sort: printSort(next), at: null }),
          label: `Table of runs of ${test.name}`,
          live: liveId(app),
        }),
      );
      const folds = folded(league, runs, route.query.get("at"));
      const drawn = overlays(league, test.name);
      replace(
        host,
        pageHead({
          path: [{ text: app.store.name, href: link("home") }],
          title: test.name,
          verdict: verdictOf(runs),
          facts: [chosenText(runs.flatMap(({ chosen }) => chosen ?? [])), testFacts(league, runs)],
          actions,
          exports,
        }),
        lookLines(testAttention({ test, data })),
        h(
          "section",
          { id: "at-league", "aria-labelledby": "league-title" },
          conditions(runs).map((text) => h("p", { class: "warning" }, text)),
          h(
            "div",
            { class: "section-line" },
            h("h2", { id: "league-title" }, "League"),
            h("p", { class: "note" }, tieSentence(league)),
          ),
          scrolling("Table of the league", leagueTable(app, league, data.goals)),
        ),
        findings(runs),
        h("section", { id: "at-overlays", "aria-label": "Frameworks over each other" }, drawn.element),
        h(
          "section",
          { class: "folds" },
          folds.elements,
          table,
          data.notes.length > 0
            ? h("details", { class: "fold" }, h("summary", null, "How ranks are told apart"), h("ul", { class: "plain-list" }, data.notes.map((note) => h("li", null, note))))
            : null,
        ),
      );
      const endRows = bindRows(table);
      return () => {
        endRows();
        folds.end();
        drawn.end();
      };
    },
  };
}
