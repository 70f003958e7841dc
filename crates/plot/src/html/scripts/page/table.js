// Tables that can be sorted by a click on a heading, or Enter on it.
// @ts-check

import { compareCells, nextOrder } from "../data/order.js";
import { html } from "../draw/elements.js";

/** @param {HTMLTableElement} table */
export function sortable(table) {
  table.querySelectorAll("thead th").forEach((heading, column) => {
    const button = html("button", { type: "button" }, ...heading.childNodes);
    heading.replaceChildren(button);
    button.addEventListener("click", () => sort(table, /** @type {HTMLTableCellElement} */ (heading), column));
  });
}

/**
 * @param {HTMLTableElement} table
 * @param {HTMLTableCellElement} heading
 * @param {number} column
 */
function sort(table, heading, column) {
  const number = heading.classList.contains("number");
  const best = heading.dataset.best === "ascending" ? "ascending" : "descending";
  const order = nextOrder(heading.getAttribute("aria-sort"), best);
  table.querySelectorAll("th").forEach((each) => each.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", order);
  const [body] = table.tBodies;
  const key = (/** @type {HTMLTableRowElement} */ row) =>
    row.cells[column].dataset.value ?? row.cells[column].textContent ?? "";
  const rows = [...body.rows].map((row) => ({ row, key: key(row) }));
  rows.sort((a, b) => compareCells(a.key, b.key, number, order === "ascending" ? 1 : -1));
  body.replaceChildren(...rows.map(({ row }) => row));
}
