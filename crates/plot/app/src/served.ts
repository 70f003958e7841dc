// A page that a server shows: it follows the server's events, and takes newer lists of runs and states of a running test.

import { type App, appOf, liveId } from "./app";
import { loadTests } from "./home/page";
import { Live, untilFree } from "./live";
import { loadList, loadRun } from "./load";
import { link, parseRoute } from "./router";
import { setSlots } from "./slots";

/** How long a lost connection may be gone before it is said, in ms: the server ends each after a minute. */
const PATIENCE = 2000;

/** What changes on the page. */
export interface Shown {
  /** Draws the page that is shown anew; what the reader chose stays. */
  again: () => Promise<void>;
  /** Draws what stands beside the pages anew, for another list of runs. */
  renewed: () => Promise<void>;
  /** Says something on whatever page is shown; null takes it back. */
  say: (sentence: string | null) => void;
}

let live: Live | null = null;

/** The run of the test that is running, if it has this id. */
export function liveRun(id: string): Live | null {
  return live?.id === id ? live : null;
}

/** Follows the server, if one shows the page. */
export function startServed(app: App, shown: Shown): void {
  const follow = (): void => {
    const { live: found } = app.store.served ?? {};
    const row = found && app.runs.get(found.run);
    live = row ? new Live(app, row.id, found.state, shown.again) : null;
  };
  follow();
  if (!app.store.served) return;

  let stored: string | null = null;

  /** Takes another list. A run that has ended is shown as it is stored once its reader is free. Calls back once all is there. */
  const renew = async (list: number, loaded: () => void): Promise<void> => {
    const next = appOf(await loadList(list));
    const { store } = next;
    const before = liveId(app);
    const ended = before !== null && liveId({ store }) === null;
    const isLive = (): boolean => parseRoute(location.hash).page === "run" && parseRoute(location.hash).id === before;
    if (ended) live?.end();
    // The server may be gone by the time that the reader is free.
    await loadTests(next);
    if (ended && isLive() && stored !== null) await loadRun(stored);
    loaded();
    await (isLive() ? live?.free() : untilFree());
    Object.assign(app, next);
    setSlots(store.frameworks);
    if (liveId(app) !== before) follow();
    if (ended && isLive() && stored !== null)
      history.replaceState(null, "", link("run", stored, Object.fromEntries(parseRoute(location.hash).query)));
    await shown.again();
    await shown.renewed();
  };

  let wanted = app.store.served.list;
  let work = Promise.resolve();
  let arriving = Promise.resolve();
  let hasEnded = false;
  let timer = 0;
  const source = new EventSource("events");
  const lose = (since: number | null): void => {
    if (live) live.lose(since);
    else shown.say(since === null ? null : `The server can't be reached since ${new Date(since).toTimeString().slice(0, 8)}: what is shown may be old.`);
  };
  source.addEventListener("open", () => {
    clearTimeout(timer);
    timer = 0;
    lose(null);
  });
  source.addEventListener("list", ({ data }) => {
    const list = Number(data);
    if (list === wanted) return;
    wanted = list;
    // A list that can't be read is followed by another one.
    arriving = new Promise((done) => {
      work = work.then(() => renew(list, done)).catch(() => done());
    });
  });
  source.addEventListener("live", ({ data }) => live?.announce(Number(data)));
  source.addEventListener("stored", ({ data }) => (stored = String(data)));
  source.addEventListener("ended", ({ data }) => {
    live?.end();
    hasEnded = true;
    clearTimeout(timer);
    shown.say(String(data));
    // The server waits until the page has what it shows.
    void arriving.then(() => source.close());
  });
  // The browser connects again by itself, and says each time that it failed.
  source.addEventListener("error", () => {
    if (timer !== 0 || hasEnded) return;
    const since = Date.now();
    timer = setTimeout(() => lose(since), PATIENCE);
  });
}
