// The head and the foot of each sheet of paper: what the page is of, the version and the date.

import { day } from "../format";

/** A text as CSS writes it. */
const quoted = (text: string): string => `"${text.replace(/\s+/g, " ").trim().replace(/["\\]/g, "\\$&")}"`;

/** The rules of the margins of sheets: the head from the second sheet on, since the first one has the title. */
export function marginsOf(title: string, version: string, t: number): string {
  const font = "font: 9px sans-serif";
  return `@page { @top-left { content: ${quoted(title)}; ${font} } @bottom-left { content: ${quoted(`perfpipe ${version}, printed ${day(t)}`)}; ${font} } } @page :first { @top-left { content: none } }`;
}

/** Writes the margins anew before each print. */
export function startPaper(version: string): void {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  addEventListener("beforeprint", () => sheet.replaceSync(marginsOf(document.querySelector("h1")?.textContent ?? "", version, Date.now())));
}
