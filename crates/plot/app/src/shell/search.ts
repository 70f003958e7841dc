// Search in the sidebar: pages and runs whose names hold all words.

import { type App, runName } from "../app";
import { h, replace } from "../dom";
import { clock, count, day } from "../format";
import { link } from "../router";
import { marker } from "../slots";

const MOST = 12;

export interface Hit {
  href: string;
  text: string;
  /** Lighter, behind the text. */
  about: string;
  framework: string | null;
}

/** Tests, frameworks and runs that hold all words of a text, the newest runs first. */
export function find({ store }: Pick<App, "store">, text: string): Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const holds = (subject: string): boolean => words.every((word) => subject.toLowerCase().includes(word));
  const tests = store.tests
    .filter(({ name }) => holds(name))
    .map(({ id, name }) => ({ href: link("test", id), text: name, about: "test", framework: null }));
  const frameworks = store.frameworks
    .filter(({ name }) => holds(name))
    .map(({ name }) => ({ href: link("home", null, { framework: name }), text: name, about: "framework", framework: name }));
  const runs = [...store.runs]
    .reverse()
    .filter((run) => holds(`${run.framework} ${runName(run)} ${Object.entries(run.tags).flat().join(" ")} ${run.id}`))
    .map((run) => ({
      href: link("run", run.id),
      text: `${run.framework} ${runName(run)}`,
      about: `${day(run.t0)}, ${clock(run.t0)}`,
      framework: run.framework,
    }));
  return [...tests, ...frameworks, ...runs];
}

/** The field, with its results below while there is text; `found` tells whether there is. */
export function searchField(app: App, found: (searching: boolean) => void): HTMLElement {
  const input = h("input", {
    type: "search",
    id: "search",
    placeholder: "Find a run or test",
    "aria-label": "Find a run or test",
    autocomplete: "off",
    spellcheck: "false",
  });
  const status = h("p", { class: "found", role: "status" });
  const list = h("ul", { class: "hits" });
  const links = (): HTMLAnchorElement[] => [...list.querySelectorAll("a")];
  const show = (): void => {
    const hits = find(app, input.value);
    const searching = input.value.trim() !== "";
    found(searching);
    replace(
      list,
      hits.slice(0, MOST).map((hit) =>
        h(
          "li",
          null,
          h(
            "a",
            { href: hit.href },
            hit.framework ? marker(hit.framework) : null,
            h("span", { class: "hit-text" }, hit.text),
            h("span", { class: "hit-about" }, hit.about),
          ),
        ),
      ),
    );
    const first = hits.length > MOST ? `, the first ${MOST} shown` : "";
    status.textContent = !searching ? "" : hits.length === 0 ? "Nothing found" : `${count(hits.length)} found${first}`;
  };
  const leave = (): void => {
    input.value = "";
    show();
  };
  input.addEventListener("input", show);
  const box = h(
    "div",
    { class: "search", role: "search" },
    h("div", { class: "search-field" }, input, h("kbd", { "aria-hidden": "true" }, "/")),
    status,
    list,
  );
  box.addEventListener("keydown", (event) => {
    const all = links();
    const at = all.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "ArrowDown") all[at + 1]?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? all[at - 1] : input)?.focus();
    else if (event.key === "Enter" && document.activeElement === input) all[0]?.click();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", leave);
  return box;
}
