// The choice of a side: a button with its name, which opens a list with a search. Each entry is a link.

import { h, replace } from "../dom";
import { count } from "../format";
import { lookMarker, lookOf, type Look } from "../slots";
import { type Choice, findChoices } from "./choices";

/** The most entries shown at once. */
const MOST = 40;
/** The width of the list with its margin, as the style sheet has it. */
const PANEL = 384;

export interface Picker {
  /** Its name in the page, so that the focus finds it again. */
  id: string;
  /** The name of the side; null where one is still to be chosen. */
  name: string | null;
  look: Look | null;
  about: string;
  /** What it is for those who don't see its place. */
  label: string;
  /** True if it is the first one, to which the others are compared. */
  baseline: boolean;
  /** Asked for when the list opens. */
  choices: () => readonly Choice[];
  /** The kinds whose single repeats are offered without a search. */
  open: ReadonlySet<string>;
  /** The ids of the side, to mark it in the list. */
  ids: readonly string[];
  /** The link that chooses. */
  href: (ids: string[]) => string;
  /** What else can be done with the side. */
  links: { text: string; href: string }[];
}

function entry({ text, about, framework, runs }: Choice, { href, ids }: Picker): HTMLElement {
  const own = runs.map(({ id }) => id);
  const current = own.length === ids.length && own.every((id) => ids.includes(id));
  return h(
    "li",
    null,
    h(
      "a",
      { href: href(own), "aria-current": current ? "true" : null },
      lookMarker(lookOf(framework)),
      h("span", { class: "hit-text" }, text),
      h("span", { class: "hit-about" }, about),
    ),
  );
}

/** Draws a picker. */
export function picker(options: Picker): HTMLElement {
  const { id, name, look, about, label, baseline, links } = options;
  const input = h("input", {
    type: "search",
    placeholder: "Framework, test, version or #2",
    "aria-label": "Find what to compare",
    autocomplete: "off",
    spellcheck: "false",
  });
  const status = h("p", { class: "found", role: "status" });
  const list = h("div", { class: "picker-list" });
  const show = (): void => {
    const found = findChoices(options.choices(), input.value, options.open);
    const shown = found.slice(0, MOST);
    const tests = [...new Set(shown.map(({ test }) => test))];
    replace(
      list,
      tests.map((test) => [
        h("p", { class: "picker-head" }, test),
        h("ul", { class: "hits", "aria-label": test }, shown.filter((choice) => choice.test === test).map((choice) => entry(choice, options))),
      ]),
    );
    const more = found.length > MOST ? `The first ${MOST} of ${count(found.length)}: type to find others` : "";
    status.textContent = found.length === 0 ? "Nothing found" : more;
  };
  const summary = h(
    "summary",
    { id, class: baseline ? "button picker-button baseline" : "button picker-button" },
    h("span", { class: "hidden" }, `${label}: `),
    look ? lookMarker(look) : null,
    name === null ? about : [h("span", { class: "picker-name" }, name), about ? [" ", h("span", { class: "quiet" }, about)] : null],
    h("span", { class: "picker-sign", "aria-hidden": "true" }, " ▾"),
  );
  const panel = h(
    "div",
    { class: "picker-panel" },
    h("div", { class: "search-field" }, input),
    links.length > 0 ? h("p", { class: "picker-links" }, links.map(({ text, href }) => h("a", { href }, text))) : null,
    status,
    list,
  );
  const details = h("details", { class: "menu picker" }, summary, panel);
  const outside = (event: Event): void => {
    if (!details.contains(event.target as Node)) details.open = false;
  };
  details.addEventListener("toggle", () => {
    if (!details.open) return document.removeEventListener("pointerdown", outside);
    document.addEventListener("pointerdown", outside);
    panel.classList.toggle("to-left", details.getBoundingClientRect().left + PANEL > document.documentElement.clientWidth);
    input.value = "";
    show();
    input.focus();
  });
  input.addEventListener("input", show);
  details.addEventListener("keydown", (event) => {
    if (!details.open) return;
    const all = [...list.querySelectorAll("a")];
    const at = all.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "ArrowDown") all[at + 1]?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? all[at - 1] : input)?.focus();
    else if (event.key === "Enter" && document.activeElement === input) all[0]?.click();
    else if (event.key === "Escape") {
      details.open = false;
      summary.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  // The list goes with its choice; the button keeps the focus, and the list closes if nothing changes.
  panel.addEventListener("click", (event) => {
    if (!(event.target as Element).closest("a")) return;
    summary.focus();
    details.open = false;
  });
  return details;
}
