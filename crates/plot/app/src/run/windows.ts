// The choice of the window: whole run, phases, zoom.

import { h, replace } from "../dom";
import type { Window } from "../charts/stage";
import { around, harmful } from "./findings";
import type { Run } from "./model";

/** Buttons that choose the window. */
export class WindowChoice {
  readonly root: HTMLElement;
  private readonly buttons: { button: HTMLButtonElement; holds: (window: Window | null) => boolean }[] = [];

  constructor(run: Run, choose: (window: Window | null) => void) {
    const add = (text: string, window: Window | null, holds: (window: Window | null) => boolean): HTMLElement => {
      const button = h("button", { type: "button", "aria-pressed": "false", onclick: () => choose(window) }, text);
      this.buttons.push({ button, holds });
      return button;
    };
    const title = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
    this.root = h(
      "div",
      { class: "segments", role: "group", "aria-label": "Window" },
      add("Whole", null, (window) => window === null),
      run.phases.map((phase) =>
        add(title(phase.name), { from: phase.from, to: phase.to }, (window) => run.phaseOf(window) === phase),
      ),
      add("Zoom", firstZoom(run), (window) => window !== null && run.phaseOf(window) === null),
    );
  }

  /** Marks the window that is shown. */
  show(window: Window | null): void {
    for (const { button, holds } of this.buttons) button.setAttribute("aria-pressed", String(holds(window)));
  }
}

/** Says which seconds are shown, with a way back. */
export class WindowText {
  readonly root = h("span", { class: "window-text" });

  constructor(
    private readonly run: Run,
    private readonly back: () => void,
  ) {}

  /** Tells the window that is shown. */
  show(window: Window | null): void {
    const end = this.run.data.head.first + this.run.row.duration;
    // A window has whole seconds, the run has not.
    const { from, to } = window ? { from: window.from, to: Math.min(window.to, Math.ceil(end)) } : { from: this.run.drawn.from, to: end };
    const text = `${this.run.stamp(from)} to ${this.run.stamp(to)}, all requests`;
    const back = h(
      "button",
      { type: "button", class: "link", onclick: this.back },
      "Back to the whole ",
      h("kbd", {}, "Esc"),
    );
    replace(this.root, text, window ? [" ", back] : null);
  }
}

/** Returns the window of the zoom button: around the first finding that is not the whole run, or the middle half. */
function firstZoom(run: Run): Window {
  const { from, to } = run.drawn;
  const short = harmful(run.data.findings).find(({ first, last }) => last + 1 - first < (to - from) / 2);
  const quarter = Math.floor((to - from) / 4);
  return short ? around(run, short) : { from: from + quarter, to: Math.max(to - quarter, from + quarter + 1) };
}
