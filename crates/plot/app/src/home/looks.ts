// The lines that need a look, as they stand at home and on a test's page.

import { type Child, h } from "../dom";
import { count } from "../format";
import type { Line } from "./attention";

/** How many lines are shown at once. */
const MOST_LINES = 3;

const SIGNS: Record<Line["sign"], string> = { worse: "↘", better: "↗", changed: "→", fail: "✗" };

/** Draws lines that need a look, the first few unfolded; nothing without any. */
export function lookLines(lines: readonly Line[]): Child {
  const item = ({ sign, subject, text, href, target }: Line): HTMLElement =>
    h(
      "li",
      { class: "look" },
      h("span", { class: `sign ${sign}`, "aria-hidden": "true" }, SIGNS[sign]),
      h("span", { class: "look-text" }, h("b", null, subject), text),
      h("a", { href, "aria-label": `${target} of ${subject}` }, target),
    );
  const rest = lines.slice(MOST_LINES);
  if (lines.length === 0) return null;
  return h(
    "section",
    { class: "looks", "aria-label": "What needs a look" },
    h("ul", null, lines.slice(0, MOST_LINES).map(item)),
    rest.length > 0
      ? h("details", { class: "looks-more" }, h("summary", null, `${count(rest.length)} more`), h("ul", null, rest.map(item)))
      : null,
  );
}
