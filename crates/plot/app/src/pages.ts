// Which page shows a state, and what is said of one that the store does not have.

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

/** A state that names what is not in the store: a page, test or run. */
function unknown({ store }: App, noun: string, id: string | null): Promise<View> {
  const title = id ?? noun.charAt(0).toUpperCase() + noun.slice(1);
  const head = pageHead({ path: [{ text: store.name, href: link("home") }], title, facts: "", actions: [] });
  const said = id === null ? `This address names no ${noun}.` : `This store has no such ${noun}.`;
  return Promise.resolve({ title, draw: (host) => replace(host, head, message(said, h("a", { href: link("home") }, "Home: all runs and tests"))) });
}

/** Loads what a state needs. */
export function viewOf(app: App, route: Route): Promise<View> {
  switch (route.page) {
    case "home":
      return homePage(app, route);
    case "test": {
      const test = app.tests.get(route.id ?? "") ?? testNamed(app, route.id ?? "");
      return test ? testPage(app, route, test) : unknown(app, "test", route.id);
    }
    case "run": {
      const run = app.runs.get(route.id ?? "");
      return run ? runView(app, route, run) : unknown(app, "run", route.id);
    }
    case "compare":
      return comparePage(app, route);
    case "trend":
      return trendPage(app, route);
    case "unknown":
      return unknown(app, "page", route.id);
  }
}
