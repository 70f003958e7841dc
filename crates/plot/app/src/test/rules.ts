// The rules that the runs of a test were checked against: the verdict of all, and the rules of each run, broken ones first.

import { type Child, h } from "../dom";
import { plural } from "../format";
import { loadRun } from "../load";
import { link } from "../router";
import { marker } from "../slots";
import { scrolling } from "../table";
import type { RuleRow, RunRow } from "../types";

/** A rule of a run. */
export interface RunRule {
  run: RunRow;
  rule: RuleRow;
}

/** Says how many rules of all runs failed; null without rules. */
export function verdictOf(runs: readonly RunRow[]): HTMLElement | null {
  const verdicts = runs.flatMap(({ verdict }) => verdict ?? []);
  if (verdicts.length === 0) return null;
  const failed = verdicts.reduce((sum, verdict) => sum + verdict.failed, 0);
  const all = plural(
    verdicts.reduce((sum, verdict) => sum + verdict.failed + verdict.passed, 0),
    "rule",
  );
  return failed > 0
    ? h("span", { class: "pill failed-rules" }, `✗ ${failed} of ${all} failed`)
    : h("span", { class: "pill" }, `✓ ${all} passed`);
}

/** Loads the rules of all runs. */
export async function rulesOf(runs: readonly RunRow[]): Promise<RunRule[]> {
  const loaded = await Promise.all(runs.map(async (run) => ((await loadRun(run.id)).rules ?? []).map((rule) => ({ run, rule }))));
  return loaded.flat().sort((a, b) => Number(a.rule.passed) - Number(b.rule.passed));
}

/** Shows the rules of runs as a table. */
export function rulesTable(rules: readonly RunRule[]): Child {
  const notes = rules.some(({ rule }) => rule.note !== null);
  const heads = ["Rule", "Run", "Value", "Limit", ...(notes ? ["Note"] : [])];
  return scrolling(
    "Rules",
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((name) => h("th", { scope: "col", class: name === "Value" || name === "Limit" ? "number" : null }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        rules.map(({ run, rule: { rule, passed, value, limit, note } }) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, h("span", { class: passed ? null : "fail" }, passed ? "✓ " : "✗ "), rule),
            h("td", null, h("a", { href: link("run", run.id) }, marker(run.framework), `${run.framework} #${run.repeat}`)),
            h("td", { class: "number" }, value ?? "–"),
            h("td", { class: "number" }, limit ?? "–"),
            notes ? h("td", { class: "wrap" }, note ?? "") : null,
          ),
        ),
      ),
    ),
  );
}
