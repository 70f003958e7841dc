// The run of a test that still runs: its states as the server announces them, and what a reader chose meanwhile.

import type { App } from "./app";
import { h } from "./dom";
import { plural, stamp } from "./format";
import { loadLive } from "./load";
import { parseRoute } from "./router";
import type { Action } from "./shell/head";
import type { Stage } from "./charts/stage";
import type { RunRow } from "./types";

/** How long a page waits that its reader holds, in ms. */
const HELD = 300;

/** A run that grows while it is shown. */
export class Live {
  /** What stands beside the title. */
  readonly pill = h("span", { class: "pill live", role: "status" });
  /** The number of the state that is shown. */
  private shown: number;
  private newest: number;
  private paused = false;
  private ended = false;
  private lost: number | null = null;
  private loading = false;
  /** The second at which the reader's cursor stands; null for the newest. */
  private second: number | null = null;
  private pinned = false;

  /** `id` is the name of the run in links. */
  constructor(
    private readonly app: App,
    readonly id: string,
    state: number,
    private readonly redraw: () => Promise<void>,
  ) {
    this.shown = this.newest = state;
    this.say();
    document.addEventListener("visibilitychange", () => void this.update());
  }

  /** The run in the list that is shown. */
  private get row(): RunRow {
    return this.app.runs.get(this.id) as RunRow;
  }

  /** Shows a state once nothing is in the way. */
  announce(state: number): void {
    this.newest = state;
    void this.update();
  }

  /** Says since when the connection to the server is lost; null if it is not. */
  lose(since: number | null): void {
    this.lost = since;
    this.say();
  }

  /** Says that the test has ended. */
  end(): void {
    this.ended = true;
    this.say();
  }

  /** Resolves once the reader has not paused the view, and does nothing that another one would disturb. */
  free(): Promise<void> {
    return untilFree(() => this.paused);
  }

  /** The button that freezes the view. */
  pause(): Action {
    const text = (): string => (this.paused ? "Go on" : "Pause");
    return {
      text: text(),
      run: (button) => {
        this.paused = !this.paused;
        button.textContent = text();
        this.say();
        void this.update();
      },
    };
  }

  /** The line below the title. */
  facts(): string[] {
    const { t0, requests } = this.row;
    const begun = new Date(t0).toISOString().slice(11, 19);
    return [`Started ${begun} UTC, ${plural(requests, "request")} so far. A second appears once it is complete.`];
  }

  /** Puts the cursor of newly drawn charts where it stood: at the newest second until the reader points elsewhere. */
  place(stage: Stage): void {
    const newest = stage.whole.to - 1;
    let own = true;
    const put = (second: number): void => {
      own = true;
      stage.point(second);
      own = false;
    };
    put(this.second ?? newest);
    stage.pinned = this.pinned && stage.cursor === this.second;
    stage.watch((second) => {
      if (own) return;
      [this.second, this.pinned] = [second, stage.pinned];
      if (second === null) queueMicrotask(() => stage.cursor === null && put(newest));
    });
    // Whether a click has pinned it is known after it.
    stage.onPinned = (pinned) => (this.pinned = pinned);
  }

  /** Shows the newest state, if the page is looked at, and its reader does nothing that this would disturb. */
  private async update(): Promise<void> {
    const { page, id } = parseRoute(location.hash);
    const seen = page === "run" && id === this.id && document.visibilityState === "visible";
    if (this.loading || !seen || this.paused || this.ended || this.newest === this.shown) return;
    this.loading = true;
    await this.free();
    if (this.ended) return;
    const state = this.newest;
    try {
      const row = await loadLive(this.id, `runs/live-${state}.js`);
      Object.assign(this.row, row);
      await this.redraw();
    } catch {
      // The server has only the newest states: the next one comes within seconds.
    }
    this.shown = state;
    this.loading = false;
    this.say();
    void this.update();
  }

  private say(): void {
    const at = stamp(Math.floor(this.row.duration));
    const clock = this.lost === null ? "" : new Date(this.lost).toTimeString().slice(0, 8);
    const state =
      this.ended
        ? "ended"
        : this.lost !== null
          ? `connection lost since ${clock}`
          : this.paused
            ? `paused at ${at}`
            : `live, ${at}`;
    if (this.pill.textContent !== state) this.pill.textContent = state;
    this.pill.dataset["state"] = state.split(/[ ,]/)[0] ?? "";
  }
}

let pressed = 0;
addEventListenerIfPage("pointerdown", () => (pressed += 1));
for (const end of ["pointerup", "pointercancel"]) addEventListenerIfPage(end, () => (pressed = 0));

/** Listens to the window; without one, as in tests, does nothing. */
function addEventListenerIfPage(name: string, listener: () => void): void {
  if (typeof window !== "undefined") addEventListener(name, listener, true);
}

/** Resolves once the reader does nothing that another view would disturb. */
export async function untilFree(paused = (): boolean => false): Promise<void> {
  while (paused() || isHeld()) await new Promise((done) => setTimeout(done, HELD));
}

/** Returns true while the reader drags, selects text, or has a menu open. */
function isHeld(): boolean {
  const selection = getSelection();
  return pressed > 0 || (selection !== null && !selection.isCollapsed) || document.querySelector("main .menu[open]") !== null;
}

/**
 * Keeps what the reader chose on a page while it is drawn anew: the scroll, the focus, open parts, the order of tables,
 * picked labels, and by what labels are filtered. Call what it returns afterwards.
 */
export function keepChoices(main: HTMLElement): () => void {
  const [left, top] = [scrollX, scrollY];
  main.style.setProperty("min-height", `${main.offsetHeight}px`);
  const parts = new Map([...main.querySelectorAll("details")].map((part) => [partName(part), part.open]));
  const tables = [...main.querySelectorAll("table")].map((table) => {
    const heads = [...table.querySelectorAll("thead th")];
    const at = heads.findIndex((head) => head.hasAttribute("aria-sort"));
    return { at, order: heads[at]?.getAttribute("aria-sort") ?? null };
  });
  const picked = [...main.querySelectorAll('table button[aria-pressed="true"]')].map((button) => button.textContent);
  const unfolding = (): HTMLButtonElement[] => [...main.querySelectorAll<HTMLButtonElement>("button[aria-expanded]")];
  const unfolded = unfolding().map((button) => button.getAttribute("aria-expanded"));
  const box = (): HTMLInputElement | null => main.querySelector(".label-filter input");
  const filter = box()?.value ?? "";
  const focused = pathOf(main, document.activeElement);
  const bar = main.querySelector(".run-bar.seen") !== null;
  return () => {
    for (const part of main.querySelectorAll("details")) part.open = parts.get(partName(part)) ?? part.open;
    [...main.querySelectorAll("table")].forEach((table, nth) => {
      const { at = -1, order = null } = tables[nth] ?? {};
      const head = (): Element | undefined => table.querySelectorAll("thead th")[at];
      for (let clicks = 0; clicks < 2 && order !== null && head()?.getAttribute("aria-sort") !== order; clicks += 1)
        head()?.querySelector("button")?.click();
    });
    for (const label of picked) {
      const buttons = [...main.querySelectorAll<HTMLButtonElement>('table button[aria-pressed="false"]')];
      buttons.find((button) => button.textContent === label)?.click();
    }
    unfolding().forEach((button, nth) => {
      if (unfolded[nth] === "true" && button.getAttribute("aria-expanded") === "false") button.click();
    });
    const again = filter === "" ? null : box();
    if (again) {
      again.value = filter;
      again.dispatchEvent(new Event("input"));
    }
    if (focused) elementAt(main, focused)?.focus({ preventScroll: true });
    if (bar) {
      const next = main.querySelector(".run-bar");
      next?.classList.add("seen");
      next?.removeAttribute("inert");
    }
    scrollTo(left, top);
    // Charts are drawn once the page's width is known, and parts when they have opened.
    setTimeout(() => main.style.removeProperty("min-height"), 150);
  };
}

function partName(part: HTMLElement): string {
  return `${part.closest("[id]")?.id ?? ""} ${part.querySelector("summary")?.firstChild?.textContent ?? ""}`;
}

/** Returns the place of an element within another as numbers of children; null if it is not within. */
function pathOf(main: HTMLElement, element: Element | null): { path: number[]; tag: string } | null {
  if (!element || element === main || !main.contains(element)) return null;
  const path: number[] = [];
  for (let at: Element = element; at !== main; at = at.parentElement as Element)
    path.unshift([...(at.parentElement as Element).children].indexOf(at));
  return { path, tag: element.tagName };
}

function elementAt(main: HTMLElement, { path, tag }: { path: number[]; tag: string }): HTMLElement | null {
  const found = path.reduce<Element | undefined>((at, nth) => at?.children[nth], main);
  return found?.tagName === tag ? (found as HTMLElement) : null;
}
