// The filters above the runs: a list each, shown as chips. A change is a link.

import { FAILURE_LIMIT, go } from "../app";
import { type Child, h } from "../dom";
import { count } from "../format";
import { dropOne, type Filters, printFilters, tagValues, type Verdict } from "../list/filter";
import { message } from "../shell/states";
import type { RunRow } from "../types";

type Link = (values: ReturnType<typeof printFilters>) => string;

interface Option {
  value: string;
  text: string;
}

function chip(id: string, name: string, options: readonly Option[], chosen: string | null, pick: (value: string | null) => void): Child {
  if (options.length < 2 && chosen === null && id !== "verdict") return null;
  const known = options.some(({ value }) => value === chosen);
  const all = chosen === null || known ? options : [{ value: chosen, text: chosen }, ...options];
  const select = h(
    "select",
    {
      id: `filter-${id}`,
      class: chosen === null ? "chip" : "chip chosen",
      "aria-label": name,
      onchange: () => pick(select.value === "" ? null : select.value),
    },
    h("option", { value: "" }, `${name}: any`),
    all.map(({ value, text }) => h("option", { value, selected: value === chosen }, `${name}: ${text}`)),
  );
  return select;
}

const plain = (values: Iterable<string>): Option[] => [...values].map((value) => ({ value, text: value }));

/** Draws the filters; `href` gives the link of changed ones. On phones they are folded. */
export function filterChips(runs: readonly RunRow[], filters: Filters, href: Link): HTMLElement {
  const pick = (changes: Partial<Filters>): void => go(href(printFilters({ ...filters, ...changes })));
  const rules: Option[] = [
    { value: "passed", text: "passes" },
    { value: "failed", text: "breaks a rule" },
  ];
  const hasRules = runs.some(({ verdict }) => verdict !== null);
  const verdicts = [...(hasRules ? rules : []), { value: "failures", text: `> ${FAILURE_LIMIT} % fail` }];
  const unique = (of: (run: RunRow) => string): Option[] => plain(new Set(runs.map(of)));
  const tags = [...tagValues(runs).various].map(([tag, values]) =>
    chip(`tag-${tag}`, tag, plain([...values].reverse()), filters.tags.get(tag) ?? null, (value) => {
      const next = new Map(filters.tags);
      if (value === null) next.delete(tag);
      else next.set(tag, value);
      pick({ tags: next });
    }),
  );
  const active = Number(filters.test !== null) + Number(filters.framework !== null) + Number(filters.verdict !== null) + filters.tags.size;
  const chips = h(
    "span",
    { class: "chips", id: "chips" },
    chip("test", "Test", unique((run) => run.test), filters.test, (test) => pick({ test })),
    chip("framework", "Framework", unique((run) => run.framework), filters.framework, (framework) => pick({ framework })),
    tags,
    chip("verdict", "Verdict", verdicts, filters.verdict, (verdict) => pick({ verdict: verdict as Verdict | null })),
    active > 0
      ? h("a", { href: href(printFilters({ test: null, framework: null, verdict: null, tags: new Map() })), class: "clear" }, "Clear")
      : null,
  );
  const toggle = h(
    "button",
    {
      type: "button",
      class: "button filter-button",
      "aria-expanded": String(active > 0),
      "aria-controls": "chips",
      onclick: () => {
        const open = chips.classList.toggle("open");
        toggle.setAttribute("aria-expanded", String(open));
      },
    },
    active > 0 ? `Filter (${active})` : "Filter",
  );
  chips.classList.toggle("open", active > 0);
  return h("div", { class: "filters" }, toggle, chips);
}

/** What is shown where no run passes the filters: which of them to drop. */
export function nothingFound(runs: readonly RunRow[], filters: Filters, href: Link): HTMLElement {
  const choices = dropOne(runs, filters);
  const helpful = choices.filter((choice) => choice.count > 0);
  if (helpful.length === 0) {
    const none = printFilters({ test: null, framework: null, verdict: null, tags: new Map() });
    return message("No run is found.", h("a", { href: href(none) }, `Drop all filters: ${count(runs.length)} runs`));
  }
  return message(
    "No run passes all filters.",
    ...helpful.map(({ name, without, count: number }) => [
      "Drop ",
      h("a", { href: href(printFilters(without)) }, name),
      `: ${count(number)} found`,
    ]),
  );
}
