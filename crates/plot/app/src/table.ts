// Cells of tables: numbers that align at the decimal point, heads with units.

import { type Child, h } from "./dom";
import { paddings } from "./format";

/** The texts of a column, each padded by invisible digits so that decimal points stand below each other. */
export function aligned(texts: readonly string[]): Child[][] {
  const pads = paddings(texts);
  return texts.map((text, at) => [text, pads[at] ? h("span", { class: "pad", "aria-hidden": "true" }, pads[at]) : null]);
}

/** The head of a column of numbers, its unit on a second line. */
export function numberHead(name: string, unit = "", title?: string): HTMLTableCellElement {
  return h("th", { scope: "col", class: "number", title }, name, unit ? [h("br"), unit] : null);
}

/** An absent value with its reason. */
export function absent(reason: string): HTMLElement {
  return h("span", { class: "absent", title: reason }, "–", h("span", { class: "hidden" }, ` ${reason}`));
}

/** A table that scrolls in itself where it is too wide. */
export function scrolling(label: string, table: HTMLTableElement): HTMLElement {
  return h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 }, table);
}
