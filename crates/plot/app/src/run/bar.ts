// The bar that stays in view when the tiles are scrolled away: the window and its figures.

import { numbered } from "../app";
import type { PartFigures } from "../data/part";
import { h, replace } from "../dom";
import { marker } from "../slots";
import type { Run } from "./model";
import { shortFigures } from "./tiles";
import type { WindowChoice } from "./windows";

/** The bar. It is seen while `tiles` is not. */
export class RunBar {
  readonly root: HTMLElement;
  private readonly figures = h("div", { class: "bar-figures" });
  private readonly observer: IntersectionObserver;

  constructor(run: Run, choice: WindowChoice, tiles: HTMLElement) {
    const { row } = run;
    const top = h("button", { type: "button", class: "button", onclick: () => scrollTo({ top: 0 }) }, "Top");
    const bar = h(
      "div",
      { class: "run-bar", inert: true },
      h("span", { class: "bar-name" }, marker(row.framework), numbered(row.framework, row)),
      choice.root,
      this.figures,
      top,
    );
    this.root = h("div", { class: "run-bar-place" }, bar);
    this.observer = new IntersectionObserver(([entry]) => {
      const seen = entry !== undefined && !entry.isIntersecting && entry.boundingClientRect.top < 0;
      bar.classList.toggle("seen", seen);
      bar.toggleAttribute("inert", !seen);
    });
    this.observer.observe(tiles);
  }

  /** Shows the figures of a window. */
  show(figures: PartFigures): void {
    replace(this.figures, shortFigures(figures));
  }

  /** Stops watching the page. */
  stop(): void {
    this.observer.disconnect();
  }
}
