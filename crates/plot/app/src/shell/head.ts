// The head of a page: its path as the title, a verdict, what can be done, and a line of facts.

import { type Child, h } from "../dom";
import { themeButton } from "./theme";

export interface Action {
  text: string;
  run: (button: HTMLButtonElement) => void;
}

export interface Head {
  /** Pages above this one, the store first. */
  path: { text: string; href: string }[];
  title: Child;
  /** Beside the title, lighter. */
  about?: Child;
  verdict?: Child;
  facts: Child;
  actions: Action[];
  /** What the menu Export offers. */
  exports?: Action[];
}

function button({ text, run }: Action): HTMLButtonElement {
  const element = h("button", { type: "button", class: "button" }, text);
  element.addEventListener("click", () => run(element));
  return element;
}

/** A button that opens a list of actions; it closes at Escape, a choice, or a click elsewhere. */
export function menu(text: string, label: string, actions: readonly Action[], look = "button"): HTMLElement {
  const list = h("div", { class: "menu-list" }, actions.map(button));
  const details = h("details", { class: "menu" }, h("summary", { class: look, "aria-label": label }, text), list);
  list.addEventListener("click", () => (details.open = false));
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    details.open = false;
    details.querySelector("summary")?.focus();
    event.stopPropagation();
  });
  const outside = (event: Event): void => {
    if (!details.contains(event.target as Node)) details.open = false;
  };
  details.addEventListener("toggle", () => {
    if (details.open) document.addEventListener("pointerdown", outside);
    else document.removeEventListener("pointerdown", outside);
  });
  return details;
}

/** Copies the link of the shown state. */
export const COPY_LINK: Action = {
  text: "Copy link",
  run: (element) => {
    const done = (text: string): void => {
      element.textContent = text;
      setTimeout(() => (element.textContent = "Copy link"), 1500);
    };
    navigator.clipboard.writeText(location.href).then(
      () => done("Copied"),
      () => done("Not allowed"),
    );
  },
};

/** Prints the page. */
export const PRINT: Action = { text: "Print", run: () => print() };

/** Draws the head of a page. */
export function pageHead({ path, title, about, verdict, facts, actions, exports = [] }: Head): HTMLElement {
  return h(
    "header",
    { class: "page-head" },
    h(
      "div",
      { class: "title-line" },
      h(
        "h1",
        { tabindex: -1 },
        path.map(({ text, href }) => [h("a", { href, class: "above" }, text), h("span", { class: "above" }, " › ")]),
        title,
        about ? [" ", h("span", { class: "about" }, about)] : null,
      ),
      verdict ? h("div", { class: "verdict" }, verdict) : null,
      h(
        "div",
        { class: "actions" },
        actions.map(button),
        exports.length > 0 ? menu("Export ▾", "Export", exports) : null,
        themeButton(),
      ),
    ),
    h("p", { class: "facts" }, facts),
  );
}
