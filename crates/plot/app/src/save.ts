// Files that the reader saves: CSV has exact values, but no text that a spreadsheet would run.

import { h } from "./dom";

type Cell = string | number | boolean | null | undefined;

/** What a spreadsheet takes as the beginning of a formula, as OWASP lists it. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/**
 * A text that begins as a formula gets an apostrophe before it, since names come from logs and such a file is opened in a
 * spreadsheet. The command's own CSV, which programs read, has texts as they are.
 */
const harmless = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

function quoted(cell: Cell): string {
  const text = typeof cell === "string" ? harmless(cell) : String(cell ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** Rows as CSV, the first of them the names of the columns. */
export function csv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

/** Offers a text as a file. */
export function save(name: string, text: string, type = "text/csv"): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const anchor = h("a", { href: url, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
