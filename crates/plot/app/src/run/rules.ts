// The rules that a run was checked against: those that failed are seen at once, those that passed are folded.

import { h } from "../dom";
import { plural } from "../format";
import { scrolling } from "../table";
import type { RuleRow } from "../types";
import type { Run } from "./model";
import { folded } from "./section";

/** Returns the rules that failed; null if none did. */
export function failedRules(run: Run, rules: readonly RuleRow[]): HTMLElement | null {
  const failed = rules.filter(({ passed }) => !passed);
  return failed.length > 0 ? table(run, "Rules that failed", failed) : null;
}

/** Returns the rules that passed, folded; null if none did. */
export function passedRules(run: Run, rules: readonly RuleRow[]): HTMLElement | null {
  const passed = rules.filter(({ passed }) => passed);
  if (passed.length === 0) return null;
  return folded("rules", "Rules", `${passed.length} of ${plural(rules.length, "rule")} passed`, (host) =>
    host.append(table(run, "Rules that passed", passed)),
  );
}

/** Returns the rules of a test that is running: each may fail or pass at its end. */
export function rulesSoFar(run: Run, rules: readonly RuleRow[]): HTMLElement | null {
  return rules.length > 0 ? table(run, "Rules so far", rules, "Rule, so far") : null;
}

function table(run: Run, label: string, rows: readonly RuleRow[], name = "Rule"): HTMLElement {
  const [spans, notes] = [rows.some(({ span }) => span !== null), rows.some(({ note }) => note !== null)];
  const head = (name: string, look: string | null = null): HTMLElement => h("th", { scope: "col", class: look }, name);
  const row = ({ rule, passed, value, limit, span, note }: RuleRow): HTMLElement =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: passed ? null : "fail" }, passed ? "✓ " : "✗ "), rule),
      h("td", { class: "number" }, value ?? "–"),
      h("td", { class: "number" }, limit ?? "–"),
      spans ? h("td", {}, span ? `${run.stamp(span[0])} to ${run.stamp(span[1])}` : "") : null,
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
        h("tr", {}, head(name), head("Value", "number"), head("Limit", "number"), spans ? head("Seconds") : null, notes ? head("Note") : null),
      ),
      h("tbody", {}, rows.map(row)),
    ),
  );
}
