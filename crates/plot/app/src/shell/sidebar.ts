// The sidebar: search, pages, tests, and what is on this page.

import type { App } from "../app";
import { type Child, h, replace, s } from "../dom";
import { count } from "../format";
import { link, type Route } from "../router";
import { marker } from "../slots";
import { chosenRuns, compareLink, onBasket } from "./basket";
import { showHelp } from "./help";
import { searchField } from "./search";

/** A part of the page that the sidebar leads to. */
export interface Section {
  id: string;
  name: string;
}

/** What the sidebar is told of the open page. */
export interface Place {
  route: Route;
  /** The open test, or that of the open run. */
  test: string | null;
  /** The open run's framework. */
  framework?: string | undefined;
  sections: readonly Section[];
}

/** The mark of perfpipe. */
export function logo(): SVGSVGElement {
  const bar = (x: number, y: number, load: number): SVGElement =>
    s("rect", { x, y, width: 3, height: 15 - y, style: { fill: `var(--load-${load})` } });
  return s(
    "svg",
    { class: "logo", viewBox: "0 0 17 16", width: 18, height: 17, "aria-hidden": "true" },
    [bar(1, 10, 3), bar(5, 7, 5), bar(9, 2, 7)],
    s("path", { d: "M14.5 1V15", "stroke-width": 1.5, "stroke-dasharray": "2 1.5", style: { stroke: "var(--text)" } }),
  );
}

function item(href: string, text: Child, about: Child, current: boolean): HTMLElement {
  return h(
    "li",
    null,
    h(
      "a",
      { href, "aria-current": current ? "page" : null },
      h("span", { class: "item-text" }, text),
      about === "" ? null : h("span", { class: "item-about" }, about),
    ),
  );
}

export interface Sidebar {
  element: HTMLElement;
  /** Shows where the reader is. */
  place: (place: Place) => void;
  /** Says how many changes the trends have. */
  changes: (number: number) => void;
}

/** Makes the sidebar; `fold` folds it. */
export function sidebar(app: App, fold: () => void): Sidebar {
  const lists = h("div", { class: "lists" });
  let shown: Place | null = null;
  let found = 0;
  const frameworksOf = (test: string): string[] => [
    ...new Set(app.store.runs.filter((run) => run.test === test).map((run) => run.framework)),
  ];
  const testItems = (): Child => {
    const counts = new Map<string, number>();
    for (const run of app.store.runs) counts.set(run.test, (counts.get(run.test) ?? 0) + 1);
    return app.store.tests.map(({ id, name }) => {
      const open = shown?.test === name;
      const entry = item(
        link("test", id),
        name,
        count(counts.get(name) ?? 0),
        open && shown?.route.page === "test" && shown.route.id === id,
      );
      if (!open) return entry;
      entry.append(
        h(
          "ul",
          { class: "inner", "aria-label": `Frameworks of ${name}` },
          frameworksOf(name).map((framework) =>
            item(
              link("home", null, { test: name, framework }),
              [marker(framework), framework],
              "",
              shown?.route.page === "run" && shown.framework === framework,
            ),
          ),
        ),
      );
      return entry;
    });
  };
  const draw = (): void => {
    if (!shown) return;
    const { route, sections } = shown;
    const { page } = route;
    const at = route.query.get("at");
    const compared = chosenRuns().length;
    const changes = found > 0 ? `${found} change${found === 1 ? "" : "s"}` : "";
    replace(
      lists,
      h(
        "ul",
        null,
        item(link("home"), "Home", count(app.store.runs.length), page === "home"),
        // A single run is compared with none, and has no trend.
        app.store.runs.length > 1
          ? [
              item(compared > 0 ? compareLink() : link("compare"), "Compare", compared > 0 ? count(compared) : "", page === "compare"),
              item(link("trend"), "Trends", changes, page === "trend"),
            ]
          : null,
      ),
      app.store.tests.length > 0 ? [h("h2", null, "Tests"), h("ul", null, testItems())] : null,
      sections.length > 0
        ? [
            h("h2", null, "On this page"),
            h(
              "ul",
              { class: "sections" },
              sections.map(({ id, name }) => {
                const query = new URLSearchParams(route.query);
                query.set("at", id);
                const href = link(page, route.id, Object.fromEntries([...query.keys()].map((key) => [key, query.getAll(key)])));
                return item(href, name, "", at === id);
              }),
            ),
          ]
        : null,
    );
  };
  onBasket(draw);

  const element = h(
    "nav",
    { class: "sidebar", id: "sidebar", "aria-label": "Pages" },
    h(
      "div",
      { class: "brand" },
      h("a", { href: link("home"), class: "name" }, logo(), "perfpipe"),
      h("button", { type: "button", class: "plain fold", "aria-label": "Fold the sidebar", title: "Fold ( [ )", onclick: fold }, "«"),
    ),
    searchField(app, (searching) => lists.toggleAttribute("hidden", searching)),
    lists,
    h("button", { type: "button", class: "button keys-button", onclick: showHelp }, "Keys", h("kbd", { "aria-hidden": "true" }, "?")),
  );
  return {
    element,
    place: (place) => {
      shown = place;
      draw();
    },
    changes: (number) => {
      found = number;
      draw();
    },
  };
}
