// The line of facts below the title.

import { type App, versionPage } from "../app";
import { type Child, h } from "../dom";
import { day, listed, plural, span } from "../format";
import type { Run } from "./model";

/** Says what was chosen of runs; nothing of whole ones. */
export function chosenText(chosen: readonly string[]): Child {
  const names = [...new Set(chosen)];
  return names.length > 0 ? [h("b", { class: "chosen" }, "Chosen: ", names.join(", ")), ". "] : null;
}

/** The most files that are named; all of them stand among all figures. */
const MOST_FILES = 2;

function sourceText(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  return `from ${names.length > MOST_FILES ? plural(names.length, "file") : listed(names)}`;
}

/** Returns the facts of a run: when, how long, how much, and, where there is room, with what. */
export function facts(app: App, { row, data, mostLoad, hasCpu }: Run): Child {
  const time = new Date(row.t0).toISOString().slice(11, 19);
  const missing = [mostLoad === null ? "load" : "", hasCpu ? "" : "CPU"].filter(Boolean);
  const by = app.store.tests.find(({ name }) => name === row.test)?.by;
  const tags = Object.entries(row.tags).map(([name, value]): Child => {
    const page = `tag:${name}` === by ? versionPage(app, by, value) : null;
    return [`${name} `, page === null ? value : h("a", { href: page, rel: "noopener noreferrer" }, value)];
  });
  const chosen = row.chosen ?? [];
  const short = [`${day(row.t0)}, ${time} UTC`, span(row.duration), plural(row.requests, "request")];
  const more: Child[] = [
    mostLoad === null ? null : `up to ${plural(Math.round(mostLoad), "thread")}`,
    row.tool,
    ...tags,
    missing.length ? `no ${missing.join(", no ")} in the log` : null,
    sourceText(data.sources ?? []),
  ].filter((part) => part !== null && part !== "");
  return [chosenText(chosen), short.join(", "), h("span", { class: "more-facts" }, more.map((part) => [", ", part]))];
}
