// The rules that a run was checked against: those that failed are seen, those that passed are folded.

import { h } from "../dom";
import { plural, stamp } from "../format";
import { scrolling } from "../table";
import type { RuleRow } from "../types";

/** Returns the section of rules; null without rules. */
export function rules(found: readonly RuleRow[]): HTMLElement | null {
  if (found.length === 0) return null;
  const failed = found.filter(({ passed }) => !passed);
  const passed = found.filter(({ passed }) => passed);
  const all = plural(found.length, "rule");
  return h(
    "section",
    { id: "at-rules", class: "rules", "aria-label": "Rules" },
    failed.length > 0 ? [h("p", { class: "fail" }, `✗ ${failed.length} of ${all} failed`), table("Rules that failed", failed)] : null,
    passed.length > 0
      ? h(
          "details",
          { class: "fold" },
          h("summary", {}, failed.length > 0 ? `✓ ${passed.length} of ${all} passed` : `✓ ${all} passed`),
          table("Rules that passed", passed),
        )
      : null,
  );
}

function table(label: string, rows: readonly RuleRow[]): HTMLElement {
  const [spans, notes] = [rows.some(({ span }) => span !== null), rows.some(({ note }) => note !== null)];
  const head = (name: string, look: string | null = null): HTMLElement => h("th", { scope: "col", class: look }, name);
  const row = ({ rule, passed, value, limit, span, note }: RuleRow): HTMLElement =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: passed ? null : "fail" }, passed ? "✓ " : "✗ "), rule),
      h("td", { class: "number" }, value ?? "–"),
      h("td", { class: "number" }, limit ?? "–"),
      spans ? h("td", {}, span ? `${stamp(span[0])} to ${stamp(span[1])}` : "") : null,
      notes ? h("td", { class: "wrap" }, note ?? "") : null,
    );
  return scrolling(
    label,
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h("tr", {}, head("Rule"), head("Value", "number"), head("Limit", "number"), spans ? head("Seconds") : null, notes ? head("Note") : null),
      ),
      h("tbody", {}, rows.map(row)),
    ),
  );
}
