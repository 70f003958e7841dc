// The runs that are ticked to be compared: the first is the baseline.

import type { App } from "../app";
import { printSides, sidesOfTicked } from "../compare/sides";
import { link } from "../router";
import { recall, remember } from "../remember";

const chosen = new Set<string>();
const listeners = new Set<() => void>();
let app: Pick<App, "runs"> = { runs: new Map() };

function changed(): void {
  remember("basket", chosen.size > 0 ? JSON.stringify([...chosen]) : null);
  for (const listener of listeners) listener();
}

/** Takes up the kept choice, as far as its runs are still there. */
export function startBasket(store: Pick<App, "runs">): void {
  app = store;
  const { runs } = app;
  try {
    const kept: unknown = JSON.parse(recall("basket") ?? "[]");
    if (Array.isArray(kept)) for (const id of kept) if (typeof id === "string" && runs.has(id)) chosen.add(id);
  } catch {
    remember("basket", null);
  }
}

/** True if a run is ticked. */
export function isChosen(id: string): boolean {
  return chosen.has(id);
}

/** The ids of the ticked runs, in the order in which they were. */
export function chosenRuns(): string[] {
  return [...chosen];
}

/** Ticks a run or takes it out. */
export function choose(id: string, wanted: boolean): void {
  if (wanted) chosen.add(id);
  else chosen.delete(id);
  changed();
}

/** Takes out all runs. */
export function emptyBasket(): void {
  chosen.clear();
  changed();
}

/** The link that compares the ticked runs: repeats are one side. */
export function compareLink(): string {
  return link("compare", null, { ...printSides(sidesOfTicked([...chosen], app.runs)) });
}

/** Calls back whenever the choice changes, until the returned function is called. */
export function onBasket(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
