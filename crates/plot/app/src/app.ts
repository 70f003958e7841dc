// What all pages share: the store, its runs by id, and how to go to another state.

import type { RunRow, StoreData, TestRow } from "./types";

/** The store as it is shown: a server may have a newer list, which replaces what is in here. */
export interface App {
  store: StoreData;
  runs: ReadonlyMap<string, RunRow>;
  tests: ReadonlyMap<string, TestRow>;
}

/** Finds runs and tests of a store by id. */
export function appOf(store: StoreData): App {
  return {
    store,
    runs: new Map(store.runs.map((run) => [run.id, run])),
    tests: new Map(store.tests.map((test) => [test.id, test])),
  };
}

/** The test of a name. */
export function testNamed({ store }: App, name: string): TestRow | undefined {
  return store.tests.find((test) => test.name === name);
}

/** The id of the run of a test that is running; null if there is none. */
export function liveId({ store }: Pick<App, "store">): string | null {
  return store.served?.live?.run ?? null;
}

/** Goes to a link of the app, as a click on it would. */
export function go(href: string): void {
  location.hash = href;
}

/** The link to a version's own page; null if versions of this kind have none: days and runs are in the store alone. */
export function versionPage({ store }: Pick<App, "store">, by: string, version: string): string | null {
  const { versionUrl } = store;
  if (versionUrl === undefined || !/^https?:\/\/[a-z0-9[][^/\\@?#{]*\//i.test(versionUrl) || !by.startsWith("tag:")) return null;
  return versionUrl.replace("{}", () => encodeURIComponent(version));
}

/** The name of a run: `shop #2`, below its framework's. */
export function runName(run: RunRow): string {
  return numbered(run.test, run);
}

/** A name with the number of a run, which one that is still running has not. */
export function numbered(name: string, { repeat }: Pick<RunRow, "repeat">): string {
  return repeat > 0 ? `${name} #${repeat}` : name;
}

/** Failures in percent of the requests. */
export function failuresOf(run: RunRow): number | null {
  return run.requests > 0 ? (100 * run.failures) / run.requests : null;
}

/** The share of failures in percent above which a framework is not ranked. */
export const FAILURE_LIMIT = 1;
