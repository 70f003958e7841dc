// Which page shows a state, and pages that are still to come.

import { type App, testNamed } from "./app";
import { comparePage } from "./compare/page";
import { h, replace } from "./dom";
import { homePage } from "./home/page";
import { link, type Route } from "./router";
import { runView } from "./run/view";
import { pageHead } from "./shell/head";
import { message } from "./shell/states";
import { testPage } from "./test/page";
import { trendPage } from "./trend/page";
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
