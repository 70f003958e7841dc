// Data files are scripts that call `perfpipe.…`, since a page from file:// may load scripts but not fetch its neighbours.

import { h } from "./dom";
import type { RunData, RunRow, StoreData, TestData, TrendData } from "./types";

/** The newest format of data that this page reads. */
export const FORMAT = 2;

/** A file that can't be shown: its name, and why. */
export class LoadError extends Error {
  constructor(
    readonly file: string,
    readonly reason: string,
  ) {
    super(`${file}: ${reason}`);
  }
}

interface Waiting<T> {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (error: LoadError) => void;
}

/** What arrives or has arrived, by file. */
const files = new Map<string, Waiting<unknown>>();
/** The files whose scripts have called; unpacking may go on. */
const arrived = new Set<string>();
/** What unpacks files that nobody has asked for yet, since they stand in the page. */
const packed = new Map<string, () => void>();
let storeVersion: string | null = null;

function waiting<T>(file: string): Waiting<T> {
  let entry = files.get(file) as Waiting<T> | undefined;
  if (!entry) {
    let resolve!: Waiting<T>["resolve"];
    let reject!: Waiting<T>["reject"];
    const promise = new Promise<T>((good, bad) => ([resolve, reject] = [good, bad]));
    promise.catch(() => {}); // Whoever asked for the file gets the error.
    entry = { promise, resolve, reject };
    files.set(file, entry as Waiting<unknown>);
  }
  return entry;
}

function checked<T extends { format: number }>(file: string, data: T, version: string | null): T {
  if (data.format > FORMAT)
    throw new LoadError(
      file,
      `written by perfpipe ${version ?? "of a newer version"} in format ${data.format}; this page reads up to ${FORMAT}`,
    );
  return data;
}

/** Inflates base64 of zlib-deflated bytes. */
export function inflated(packed: string): Response {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")));
}

/** Inflates base64 of zlib-deflated JSON. */
export async function unpack<T>(packed: string): Promise<T> {
  return JSON.parse(await inflated(packed).text()) as T;
}

/** The list of all runs. */
const STORE = "runs.js";

/** The row of the run that grows, as its newest file has it. */
let liveRow: RunRow | null = null;

/** The files of runs and tests, by `run ID` and `test ID`. */
const paths = new Map<string, string>();

const runFile = (id: string): string => paths.get(`run ${id}`) ?? `runs/${id}`;
const testFile = (id: string): string => paths.get(`test ${id}`) ?? `tests/${id}`;
const trendFile = (id: string): string => paths.get(`trend ${id}`) ?? `tests/${id}-trend`;

/** The figures that comparisons are made of, by the file of their run: packed, for the engine alone. */
const figures = new Map<string, string>();

/** The program that compares, as WebAssembly. */
const ENGINE = "engine.js";

function settle<T>(file: string, make: () => T | Promise<T>): void {
  const { resolve, reject } = waiting<T>(file);
  arrived.add(file);
  const failed = (error: unknown): void =>
    reject(error instanceof LoadError ? error : new LoadError(file, `its data are damaged (${String(error)})`));
  try {
    Promise.resolve(make()).then(resolve, failed);
  } catch (error) {
    failed(error);
  }
}

/** Settles a file once it is asked for. */
function settleLater<T>(file: string, make: () => Promise<T>): void {
  if (files.has(file)) settle(file, make);
  else packed.set(file, () => settle(file, make));
}

/** Leaves a run its own tags alone: one may be called as a member of all objects is. */
function bareTags(run: RunRow): void {
  run.tags = Object.assign(Object.create(null) as object, run.tags);
}

/** Defines `window.perfpipe`, which the data files call. */
export function receive(): void {
  const perfpipe = {
    store(data: StoreData) {
      storeVersion = data.version;
      data.runs.forEach(bareTags);
      paths.clear();
      data.runs.forEach(({ id, file }) => paths.set(`run ${id}`, file));
      data.tests.forEach(({ id, file }) => paths.set(`test ${id}`, file));
      settle(STORE, () => checked(STORE, data, data.version));
    },
    test(id: string, data: TestData) {
      settle(testFile(id), () => checked(testFile(id), data, storeVersion));
    },
    trend(id: string, data: TrendData) {
      settle(trendFile(id), () => checked(trendFile(id), data, storeVersion));
    },
    engine(packed: string) {
      settleLater(ENGINE, async () => inflated(packed).arrayBuffer());
    },
    run(id: string, packed: string, ofRun: string) {
      figures.set(runFile(id), ofRun);
      settleLater(runFile(id), async () => checked(runFile(id), await unpack<RunData>(packed), storeVersion));
    },
    live(row: RunRow) {
      bareTags(row);
      paths.set(`run ${row.id}`, row.file);
      liveRow = row;
    },
  };
  Object.assign(window, { perfpipe });
}

/** Adds a file's script by an address, unless it has been added or its data are there. A file that failed is tried again. */
function load<T>(file: string, src = file): Promise<T> {
  packed.get(file)?.();
  packed.delete(file);
  const known = files.get(file);
  if (known) return known.promise as Promise<T>;
  const { promise, reject } = waiting<T>(file);
  const failed = (reason: string): void => reject(new LoadError(file, reason));
  promise.catch(() => files.delete(file) && arrived.delete(file));
  const script = h("script", {
    src,
    onerror: () => failed("it is not there or can't be read"),
    // A script runs before its load event: if it has not called by then, it never will.
    onload: () => {
      if (!arrived.has(file)) failed("it holds no data of this name");
    },
  });
  document.head.append(script);
  void promise.finally(() => script.remove()).catch(() => {});
  return promise;
}

/** The store; it stands in the page as a script, so that it need not be asked for. */
export function loadStore(): Promise<StoreData> {
  const { promise, reject } = waiting<StoreData>(STORE);
  const give = (): void => reject(new LoadError(STORE, "it is not there or can't be read"));
  if (document.readyState === "complete") give();
  else addEventListener("load", give, { once: true });
  return promise;
}

/** The list that a server has by a number, in place of the one that is shown. */
export function loadList(list: number): Promise<StoreData> {
  files.delete(STORE);
  arrived.delete(STORE);
  return load(STORE, `${STORE}?list=${list}`);
}

/** What the command computed of a test. */
export function loadTest(id: string): Promise<TestData> {
  return load(testFile(id));
}

/** All that is shown of a run. */
export function loadRun(id: string): Promise<RunData> {
  return load(runFile(id));
}

/** Takes another file of a run that grows, and forgets the one before. Returns the row of the run as of then. */
export async function loadLive(id: string, file: string): Promise<RunRow> {
  const before = runFile(id);
  try {
    await load<RunData>(file);
  } catch (error) {
    paths.set(`run ${id}`, before);
    throw error;
  }
  if (before !== file) {
    files.delete(before);
    arrived.delete(before);
    figures.delete(before);
  }
  if (liveRow?.file !== file) throw new LoadError(file, "it is of another run");
  return liveRow;
}

/** The trend of a test, given the file that `TestData.trend` names. */
export function loadTrend(id: string, file: string): Promise<TrendData> {
  paths.set(`trend ${id}`, file);
  return load(file);
}

/** The figures of a run that comparisons are made of, as bytes for the engine. */
export async function loadFigures(id: string): Promise<Uint8Array> {
  await loadRun(id);
  const packed = figures.get(runFile(id));
  if (packed === undefined) throw new LoadError(runFile(id), "it has no figures to compare");
  return new Uint8Array(await inflated(packed).arrayBuffer());
}

/** The program that compares, as bytes of WebAssembly. */
export function loadEngine(): Promise<ArrayBuffer> {
  return load(ENGINE);
}
