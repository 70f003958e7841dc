// The charts of a framework's trend, one above another over one axis, with their cursor, keys and paper.

import { h, replace } from "../dom";
import { listed, plural } from "../format";
import { printing } from "../run/printing";
import { bindKeys } from "../shell/keys";
import type { FrameworkTrend, TrendFigure } from "../types";
import { TrendChart } from "./chart";
import { briefDay, figureName, sorted } from "./figures";
import { TrendStage } from "./stage";

/** How long the cursor rests before its values are announced, in ms. */
const PAUSE = 300;

export interface Charts {
  element: HTMLElement;
  /** Draws the charts, once they are in the page: what a link names below them has its place then. */
  show: () => void;
  /** Puts the cursor to a version and keeps it there. */
  keep: (version: number) => void;
  end: () => void;
}

export interface ChartsOptions {
  file: string;
  byDate: boolean;
  /** With fewer versions nothing can be marked, nor called unchanged. */
  least: number;
  /** Called with a version that the reader opens. */
  open: (version: number) => void;
  /** Called with the version that is pinned, or null. */
  pin: (version: number | null) => void;
}

/** What is folded: CPU and failures only unless they change. */
function foldTitle(figures: readonly TrendFigure[]): string {
  const name = listed(figures.map(({ figure }) => figureName(figure)));
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Draws the charts; they take their width once they are in the page. */
export function trendCharts(trend: FrameworkTrend, options: ChartsOptions): Charts {
  const stage = new TrendStage(trend, options.byDate, options.open, options.pin);
  const { open, folded } = sorted(trend);
  const chart = (list: readonly TrendFigure[]) => (figure: TrendFigure, at: number): TrendChart =>
    new TrendChart(stage, figure, { file: options.file, judged: trend.versions.length >= options.least, axis: at === list.length - 1, first: at === 0 });
  const first = open.map(chart(open));
  const others = folded.map(chart(folded));
  stage.panels.push(...first, ...others);
  const spoken = h("div", { class: "hidden", "aria-live": "polite" });
  const group = h(
    "div",
    { class: "trend-charts", tabindex: 0, role: "group", "aria-label": "Charts over versions: arrow keys go from version to version, Enter opens one below" },
    first.map(({ figure }) => figure.root),
  );
  const fold =
    others.length > 0
      ? h(
          "details",
          { class: "fold trend-fold" },
          h("summary", null, foldTitle(folded), h("small", null, trend.versions.length < options.least ? "too few versions" : "no change by more than chance")),
          h("div", { class: "trend-charts" }, others.map(({ figure }) => figure.root)),
        )
      : null;
  // Its width is that of the charts, and its height never changes: what is drawn can't call for another drawing.
  const ruler = h("div");
  const element = h("div", { class: "trend" }, ruler, group, fold, spoken);

  let timer = 0;
  stage.watch((version) => {
    clearTimeout(timer);
    if (version === null) return;
    const at = trend.versions[version];
    const words = first.map((one) => one.words(version)).join(", ");
    timer = window.setTimeout(() => replace(spoken, `Version ${at?.name ?? ""}, ${briefDay(at?.t0 ?? 0, true)}: ${words}.`), PAUSE);
  });
  group.addEventListener("focus", () => {
    if (stage.cursor === null && group.matches(":focus-visible")) stage.keep(trend.versions.length - 1);
  });

  const fit = (width: number, paper = false): void => {
    element.classList.toggle("narrow", width < 620 && !paper);
    element.classList.toggle("paper", paper);
    stage.fit(width, paper);
  };
  let drawn = 0;
  const show = (): void => {
    if (ruler.clientWidth === drawn || ruler.clientWidth === 0) return;
    drawn = ruler.clientWidth;
    fit(drawn);
  };
  const observer = new ResizeObserver(show);
  observer.observe(ruler);
  const endPrinting = printing(element, (paper) => {
    fit(paper, true);
    return () => fit(ruler.clientWidth);
  });

  const step =
    (by: 1 | -1) =>
    (event: KeyboardEvent): void | false => {
      // A table that scrolls sideways keeps its arrow keys.
      if ((event.target as Element).closest(".scroll, .chart-table")) return false;
      stage.step(by * (event.shiftKey ? 10 : 1));
    };
  const unbind = bindKeys({
    ArrowLeft: step(-1),
    ArrowRight: step(1),
    Escape: () => {
      if (stage.cursor === null) return false;
      stage.keep(null);
    },
    Enter: (event) => {
      const target = event.target as Element;
      if (stage.cursor === null || target.closest("a, button, summary, input, select")) return false;
      stage.open(stage.cursor);
    },
  });
  return {
    element,
    show,
    keep: (version) => stage.keep(version),
    end: () => {
      clearTimeout(timer);
      observer.disconnect();
      endPrinting();
      unbind();
    },
  };
}

/** How many versions a trend lacks, in words. */
export function tooFew(number: number, least: number): string {
  return `${plural(least, "version")} are needed, ${least - number} more.`;
}
