// Which page shows a state, and pages that are still to come.

import { type App, runName, testNamed } from "./app";
import { h, replace } from "./dom";
import { plural } from "./format";
import { homePage, loadTests } from "./home/page";
import { attention } from "./home/attention";
import { link, type Route } from "./router";
import { runView } from "./run/view";
import { COPY_LINK, pageHead, PRINT } from "./shell/head";
import { message } from "./shell/states";
import { testPage } from "./test/page";
import type { View } from "./view";

/** A state that names what is not in the store. */
function unknown(app: App, what: string): View {
  const head = pageHead({ path: [{ text: app.store.name, href: link("home") }], title: what, facts: "", actions: [] });
  return {
    title: what,
    draw: (host) =>
      replace(host, head, message("This store has no such page.", h("a", { href: link("home") }, "All runs and tests"))),
  };
}

async function trendPage(app: App, route: Route): Promise<View> {
  const { tests } = await loadTests(app);
  const lines = attention(tests, []).filter(({ target }) => target === "Trend");
  const test = app.tests.get(route.id ?? "");
  return {
    title: "Trends",
    test: test?.name ?? null,
    draw: (host) =>
      replace(
        host,
        pageHead({
          path: [{ text: app.store.name, href: link("home") }],
          title: test ? `Trend of ${test.name}` : "Trends",
          facts: plural(lines.length, "change"),
          actions: [COPY_LINK, PRINT],
        }),
        h("ul", { class: "plain-list" }, lines.map((line) => h("li", null, h("b", null, line.subject), line.text))),
      ),
  };
}

async function comparePage(app: App, route: Route): Promise<View> {
  const ids = ["a", "b"].flatMap((side) => route.query.getAll(side).flatMap((text) => text.split(",")));
  const runs = ids.flatMap((id) => app.runs.get(id) ?? []);
  return {
    title: "Compare",
    draw: (host) =>
      replace(
        host,
        pageHead({
          path: [{ text: app.store.name, href: link("home") }],
          title: "Compare",
          facts: runs.length > 0 ? `${plural(runs.length, "run")}, the first is the baseline` : "Tick two runs at home",
          actions: [COPY_LINK],
        }),
        h(
          "ul",
          { class: "plain-list" },
          runs.map((run) => h("li", null, h("a", { href: link("run", run.id) }, `${run.framework} ${runName(run)}`))),
        ),
      ),
  };
}

/** Loads what a state needs. */
export function viewOf(app: App, route: Route): Promise<View> {
  switch (route.page) {
    case "home":
      return homePage(app, route);
    case "test": {
      const test = app.tests.get(route.id ?? "") ?? testNamed(app, route.id ?? "");
      return test ? testPage(app, route, test) : Promise.resolve(unknown(app, `Test ${route.id ?? ""}`));
    }
    case "run": {
      const run = app.runs.get(route.id ?? "");
      return run ? runView(app, route, run) : Promise.resolve(unknown(app, `Run ${route.id ?? ""}`));
    }
    case "compare":
      return comparePage(app, route);
    case "trend":
      return trendPage(app, route);
  }
}
