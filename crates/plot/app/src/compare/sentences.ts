// What is compared, and what keeps it from being fair, in sentences.

import { clock, days, listed, plural, rangeText, span, threadsText } from "../format";
import { conditions } from "../test/sentences";
import type { RunRow } from "../types";
import { type Chosen, idsOf, type NamedSide } from "./sides";

/** Up to so many sides are named in the title. */
const MOST_NAMED = 4;

/** The title: spring and vapor against node. */
export function titleOf(names: readonly string[]): string {
  const [baseline, ...others] = names;
  if (baseline === undefined) return "Compare";
  if (others.length === 0) return baseline;
  if (others.every((name) => name === baseline)) return `${baseline} against itself`;
  return `${others.length < MOST_NAMED ? listed(others) : `${others.length} sides`} against ${baseline}`;
}

/** The line of facts: test, tool, days, length and load of the runs. */
export function compareFacts(runs: readonly RunRow[]): string {
  if (runs.length === 0) return "Two runs, or the repeats of two frameworks";
  const starts = runs.map(({ t0 }) => t0);
  const [first, last] = [Math.min(...starts), Math.max(...starts)];
  const loads = runs.flatMap(({ load }) => load ?? []);
  const time = runs.length === 1 ? `${days(first, last)}, ${clock(first)} UTC` : days(first, last);
  const facts = [
    listed([...new Set(runs.map(({ test }) => test))]),
    plural(new Set(runs).size, "run"),
    listed([...new Set(runs.flatMap(({ tool }) => tool ?? []))]),
    time,
    `${rangeText(runs.map(({ duration }) => duration), span)} a run`,
    loads.length > 0 ? threadsText(loads) : "",
  ];
  return facts.filter(Boolean).join(", ");
}

/** The message where all sides are the same runs. */
export function sameText(runs: readonly RunRow[], sides: number): string {
  return `The same run${runs.length === 1 ? "" : "s"} on ${sides === 2 ? "both" : "all"} sides: nothing to compare.`;
}

/** Up to so many values of a tag are named. */
const MOST_VALUES = 3;

/** Tags whose values are not the same on all sides: "commit a1b2c3d (go), 4e5f6a7 (node)". */
export function differingTags(sides: readonly NamedSide[]): string[] {
  const tags = [...new Set(sides.flatMap(({ runs }) => runs.flatMap((run) => Object.keys(run.tags))))];
  return tags.flatMap((tag) => {
    const values = sides.map(({ runs }) => [...new Set(runs.map((run) => run.tags[tag] ?? "none"))].sort());
    if (values.every((list) => list.join("\n") === values[0]?.join("\n"))) return [];
    const text = (list: readonly string[]): string => (list.length > MOST_VALUES ? plural(list.length, "value") : list.join(" and "));
    return `${tag} ${values.map((list, at) => `${text(list)} (${sides[at]?.name ?? ""})`).join(", ")}`;
  });
}

/** What to know before the table is believed: runs that are gone, other tests, loads or lengths, runs on two sides. */
export function warningsOf(chosen: readonly Chosen[], sides: readonly NamedSide[]): string[] {
  const present = chosen.filter(({ runs }) => runs.length > 0).length;
  const missing = chosen.flatMap((side) => side.missing);
  const runs = sides.flatMap((side) => side.runs);
  const tests = [...new Set(runs.map(({ test }) => test))];
  const [baseline] = sides;
  const shared = sides.slice(1).filter((side) => side.runs.some((run) => baseline?.runs.includes(run)));
  return [
    ...(missing.length > 0 ? [`${missing.length === 1 ? "A run" : plural(missing.length, "run")} of this link ${missing.length === 1 ? "is" : "are"} not in this store, or no longer: ${listed(missing)}.`] : []),
    ...(sides.length > 1 && sides.length < present ? ["A side is named twice: it is compared once."] : []),
    ...(tests.length > 1 ? [`Different tests: ${listed(tests)}. A change may come from the work, not from who does it.`] : []),
    ...(sides.length > 1 ? conditions([...new Set(runs)]) : []),
    ...shared.map(({ name }) => `${name} and the baseline have runs in common: they are not independent.`),
  ];
}

/** What stands on the button of a side besides its name. */
export function sideAbout(chosen: Chosen, name: string): string {
  const { runs } = chosen;
  const tests = [...new Set(runs.map(({ test }) => test))];
  const test = name.includes(" · ") ? [] : [listed(tests)];
  const [only] = runs;
  const number = runs.length === 1 && only ? (name.endsWith(`#${only.repeat}`) ? [] : [`#${only.repeat}`]) : [plural(runs.length, "repeat")];
  return runs.length === 0 ? `${plural(idsOf(chosen).length, "run")} not in this store` : [...test, ...number].join(", ");
}
