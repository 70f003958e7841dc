// The rules that a run was checked against: those on a tile's figure stand in the tile, others that failed in a line above; all are folded below.

import { h } from "../dom";
import { plural } from "../format";
import { scrolling } from "../table";
import type { RuleRow } from "../types";
import type { Run } from "./model";
import { folded } from "./section";

/** The tile that has the figure of a rule on the whole run; null if none has. */
const TILES: [tile: string, rule: RegExp][] = [
  ["Throughput", /^throughput$/],
  ["p50", /^p50$/],
  ["p95", /^p95$/],
  ["p99", /^p99$/],
  ["Failures", /^failures(_percent)?$/],
  ["CPU", /^cpu(_mean)?$/],
];

/** Returns the rules on the figures of tiles by the name of the tile: `MEASURE OPERATOR LIMIT`, of all labels and seconds. */
export function tileRules(rules: readonly RuleRow[]): Map<string, RuleRow[]> {
  const found = new Map<string, RuleRow[]>();
  for (const row of rules) {
    const [, measure = ""] = /^(\S+) [<>=!]=? \S+$/.exec(row.rule) ?? [];
    const [tile] = TILES.find(([, name]) => name.test(measure)) ?? [];
    // A number of failures is not their share.
    if (tile === undefined || (measure === "failures" && !row.rule.endsWith("%"))) continue;
    found.set(tile, [...(found.get(tile) ?? []), row]);
  }
  return found;
}

/** Returns the rules that failed and stand in no tile, in a line that unfolds to all that failed; null without any. */
export function failedRules(run: Run, rules: readonly RuleRow[]): HTMLElement | null {
  const inTiles = [...tileRules(rules).values()].flat();
  const failed = rules.filter(({ passed }) => !passed);
  const others = failed.filter((rule) => !inTiles.includes(rule));
  if (others.length === 0) return null;
  const text = ({ rule, value, note }: RuleRow): string => `${rule} (${value === null ? (note ?? "no value") : `is ${value}`})`;
  return h(
    "details",
    { class: "rules-line" },
    h("summary", {}, h("b", { class: "fail" }, "✗ Failed: "), others.map(text).join("; ")),
    table(run, "Rules that failed", failed),
  );
}

/** Returns all rules, folded, those that failed first; null without any. */
export function allRules(run: Run, rules: readonly RuleRow[]): HTMLElement | null {
  const passed = rules.filter(({ passed }) => passed);
  if (rules.length === 0) return null;
  return folded("rules", "Rules", `${passed.length} of ${plural(rules.length, "rule")} passed`, (host) =>
    host.append(table(run, "Rules", [...rules.filter((rule) => !rule.passed), ...passed])),
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
