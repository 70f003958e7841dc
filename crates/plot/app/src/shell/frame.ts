// The frame of all pages: skip link, bar of narrow windows, sidebar, and the place of the page.

import { type App, go } from "../app";
import { h, replace } from "../dom";
import { recall, remember } from "../remember";
import { link } from "../router";
import { compareLink } from "./basket";
import { type Action, COPY_LINK, menu, PRINT } from "./head";
import { showHelp } from "./help";
import { bindKeys } from "./keys";
import { logo, type Place, sidebar } from "./sidebar";
import { nextTheme } from "./theme";

/** Below this width the sidebar is folded and opens over the page. */
const NARROW = matchMedia("(max-width: 1023.98px)");

export interface Frame {
  /** Where a page is drawn. */
  main: HTMLElement;
  place: (place: Place) => void;
  changes: (number: number) => void;
  /** Offers what a page exports in the menu of narrow windows. */
  exports: (actions: readonly Action[]) => void;
  /** Folds the sidebar where it covers the page. */
  uncover: () => void;
  /** Says something on whatever page is shown; null takes it back. */
  say: (sentence: string | null) => void;
}

/** Draws the frame into the page's body. */
export function frame(app: App): Frame {
  const root = document.documentElement;
  let opener: HTMLElement | null = null;
  const isOpen = (): boolean => root.dataset["sidebar"] === "open";
  const set = (open: boolean): void => {
    root.dataset["sidebar"] = open ? "open" : "folded";
    button.setAttribute("aria-expanded", String(open));
    cover.hidden = !(open && NARROW.matches);
    if (!NARROW.matches) remember("sidebar", open ? null : "folded");
  };
  const toggle = (): void => {
    if (isOpen()) {
      set(false);
      (opener ?? button).focus();
    } else {
      opener = document.activeElement instanceof HTMLElement && document.activeElement !== document.body ? document.activeElement : null;
      set(true);
      if (NARROW.matches) side.element.querySelector("input")?.focus();
    }
  };
  const search = (): void => {
    if (!isOpen()) toggle();
    side.element.querySelector("input")?.focus();
  };

  const side = sidebar(app, toggle);
  const main = h("main", { id: "main", tabindex: -1 });
  const button = h(
    "button",
    { type: "button", class: "plain", "aria-label": "Pages", "aria-controls": "sidebar", onclick: toggle },
    "☰",
  );
  const more = h("div", { class: "more" });
  const bar = h(
    "header",
    { class: "bar" },
    button,
    h("a", { href: link("home"), class: "name" }, logo(), "perfpipe"),
    h("button", { type: "button", class: "plain search-button", "aria-label": "Search", onclick: search }, "⌕"),
    more,
  );
  const cover = h("div", { class: "cover", onclick: toggle });
  const skip = h(
    "a",
    {
      href: "#main",
      class: "skip",
      onclick: (event: Event) => {
        event.preventDefault();
        main.focus();
      },
    },
    "Skip to the page",
  );
  const said = h("span");
  const notice = h(
    "div",
    { class: "notice", role: "status" },
    said,
    h("button", { type: "button", class: "plain", "aria-label": "Close", onclick: () => say(null) }, "✕"),
  );
  const say = (sentence: string | null): void => {
    notice.hidden = sentence === null;
    replace(said, sentence);
  };
  say(null);
  replace(document.body, skip, bar, side.element, cover, main, notice);
  const fit = (): void => set(!NARROW.matches && recall("sidebar") !== "folded");
  NARROW.addEventListener("change", fit);
  fit();

  side.element.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && NARROW.matches && !event.defaultPrevented) toggle();
  });
  bindKeys({
    "/": search,
    "[": toggle,
    "?": showHelp,
    "g h": () => go(link("home")),
    "g t": () => go(link("test", app.store.tests[0]?.id)),
    "g c": () => go(compareLink()),
    "g r": () => go(link("trend")),
  });
  return {
    main,
    say,
    place: side.place,
    changes: side.changes,
    exports: (actions) => {
      const theme: Action = { text: "Theme", run: () => void nextTheme() };
      const keys: Action = { text: "Keys", run: showHelp };
      replace(more, menu("⋯", "More", [...new Set([COPY_LINK, ...actions, PRINT, theme, keys])], "plain"));
    },
    uncover: () => {
      if (NARROW.matches) set(false);
    },
  };
}
