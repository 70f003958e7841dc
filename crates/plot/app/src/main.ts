// The app: receives data, draws the frame, and shows the state that the address names.

import { type App, appOf } from "./app";
import { h, replace, visible } from "./dom";
import { changeCount } from "./home/attention";
import { loadTests } from "./home/page";
import { keepChoices } from "./live";
import { loadStore, receive } from "./load";
import { viewOf } from "./pages";
import { parseRoute, type Route } from "./router";
import { startServed } from "./served";
import { startBasket } from "./shell/basket";
import { frame, type Frame } from "./shell/frame";
import { startKeys } from "./shell/keys";
import { failure, waitFor } from "./shell/states";
import { startPaper } from "./shell/paper";
import { startTheme, themeOfLink } from "./shell/theme";
import type { Section } from "./shell/sidebar";
import { setSlots } from "./slots";

const WAITED: Record<Route["page"], string> = {
  home: "the tests",
  test: "the test",
  run: "1 run",
  compare: "the runs",
  trend: "the trends",
  unknown: "the page",
};

/** Shows states, one after the other; a state that comes late is dropped. */
class Pages {
  private shown: Route | null = null;
  private end: () => void = () => {};
  private turn = 0;
  private sections: readonly Section[] = [];

  constructor(
    private readonly app: App,
    private readonly frame: Frame,
  ) {}

  /** Draws the page that is shown with its newest data; what the reader chose stays. */
  async again(): Promise<void> {
    const restore = keepChoices(this.frame.main);
    await this.show(true);
    restore();
  }

  async show(again = false): Promise<void> {
    const route = parseRoute(location.hash);
    const turn = ++this.turn;
    themeOfLink(route.query.get("theme"));
    const { main } = this.frame;
    const same = this.shown?.page === route.page && this.shown.id === route.id;
    try {
      const view = await waitFor(main, WAITED[route.page], viewOf(this.app, route));
      if (turn !== this.turn) return;
      const focused = document.activeElement?.id ?? "";
      this.end();
      this.end = view.draw(main) ?? (() => {});
      const sections = view.sections ?? [];
      const isSame = again && sections.map(({ id }) => id).join() === this.sections.map(({ id }) => id).join();
      this.sections = sections;
      if (isSame) return;
      document.title = visible(`${view.title} – perfpipe`);
      this.frame.exports(view.exports ?? []);
      this.frame.place({ route, test: view.test ?? null, framework: view.framework, sections });
      if (!again) this.settle(route, same, focused);
    } catch (error) {
      if (turn !== this.turn) return;
      this.end();
      this.end = () => {};
      replace(main, failure(error, "All other pages work."));
    }
    this.shown = route;
  }

  /** Brings the focus and the scroll to where the reader expects them. */
  private settle(route: Route, same: boolean, focused: string): void {
    const section = route.query.get("at");
    this.frame.uncover();
    if (section !== null) document.getElementById(`at-${section}`)?.scrollIntoView();
    else if (!same && this.shown) scrollTo(0, 0);
    if (same && focused) document.getElementById(focused)?.focus({ preventScroll: true });
    else if (!same && this.shown) this.frame.main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }
}

/** Shows the state that the store names first, unless the address names one. What it says of the theme is kept. */
function toStart(start: string | undefined): void {
  const found = /^#?(\?.*)?$/s.exec(location.hash);
  if (start !== undefined && found) history.replaceState(null, "", start + (found[1] ?? ""));
}

async function start(): Promise<void> {
  try {
    const app = appOf(await loadStore());
    setSlots(app.store.frameworks);
    toStart(app.store.start);
    startBasket(app);
    startKeys();
    startPaper(app.store.version);
    const drawn = frame(app);
    const pages = new Pages(app, drawn);
    const count = async (): Promise<void> => drawn.changes(changeCount((await loadTests(app)).tests));
    startServed(app, {
      again: async () => {
        toStart(app.store.start);
        await pages.again();
      },
      renewed: count,
      say: drawn.say,
    });
    addEventListener("hashchange", () => void pages.show());
    await pages.show();
    await count();
  } catch (error) {
    replace(document.body, h("main", { id: "main" }, failure(error, "Without it nothing can be shown.")));
  }
}

receive();
startTheme();
addEventListener("DOMContentLoaded", () => void start());
