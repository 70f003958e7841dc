// The page of a run: what happened, and where.

import { h, replace } from "../dom";
import { bindKeys } from "../shell/keys";
import { axisEnd } from "../charts/scale";
import { Stage, type Window } from "../charts/stage";
import type { RunData, RunRow } from "../types";
import { RunBar } from "./bar";
import { failures } from "./failures";
import { findings } from "./findings";
import { folds } from "./folds";
import { runKeys } from "./keys";
import { labelLines, labels } from "./labels";
import { Run, type RunState } from "./model";
import { failedRules, rulesSoFar } from "./rules";
import { Overview } from "./overview";
import type { Live } from "../live";
import { printing } from "./printing";
import { Responses } from "./responses";
import { failureNote, Tiles } from "./tiles";
import { timeCharts } from "./timecharts";
import { WindowChoice, WindowText } from "./windows";

/** How long the cursor rests before its values are announced, in ms. */
const REST = 300;

/** The seconds whose figures stand with those of a live run. */
const LATEST = 10;

/**
 * Draws a run into `host`. `go` is called with the window that the reader chose. `repeats` are all runs of the same
 * framework and test; their range stands in the tiles. A run that is `live` grows: its axis has room for more. Returns a function that removes all listeners.
 */
export function showRun(
  host: HTMLElement,
  row: RunRow,
  data: RunData,
  state: RunState,
  go: (state: RunState) => void,
  repeats: RunRow[] = [],
  live: Live | null = null,
): () => void {
  const run = new Run(row, data);
  const rules = data.rules ?? [];
  let window = run.windowOf(state);
  let figures = run.figures(window);

  const choose = (next: Window | null): void => {
    const wanted = next && run.windowOf(next);
    window = wanted ?? null;
    show();
    go(window ? { from: window.from, to: window.to } : {});
  };

  const stage = new Stage(run.drawn, choose, data.head.clock ?? null);
  const tiles = new Tiles(run, repeats, live ? [] : rules, live ? LATEST : null);
  const choice = new WindowChoice(run, choose);
  const barChoice = new WindowChoice(run, choose);
  const text = new WindowText(run, () => choose(null));
  const at = h("span", { class: "window-at" });
  const overview = new Overview(run, stage, choose);
  const charts = timeCharts(run, stage, () => figures);
  const responses = new Responses(run, stage);
  const bar = new RunBar(run, barChoice, tiles.root);
  const failed = failureNote(run);
  const spoken = h("div", { class: "hidden", "aria-live": "polite" });
  // A single second has figures, but no course.
  const drawn = run.drawn.to - run.drawn.from > 1;
  const content: HTMLElement = h(
    "div",
    { class: "run" },
    bar.root,
    (data.damage ?? []).map((text) => h("p", { class: "fail" }, `✗ ${text}`)),
    h("div", { class: "rules" }, live ? rulesSoFar(run, rules) : failedRules(run, rules)),
    // What stands out is known at the end.
    live ? null : findings(run, choose),
    drawn ? h("div", { class: "window-line" }, choice.root, text.root, at) : null,
    tiles.root,
    failed,
    drawn ? [overview.root, charts.root] : null,
    drawn && run.whole.requests > run.whole.failures ? responses.root : null,
    labels(run, (picked) => charts.times.overlay(labelLines(run, picked))),
    failures(run),
    h(
      "div",
      { class: "folds" },
      folds(run, stage, () => width, live ? [] : rules),
    ),
    spoken,
  );
  replace(host, content);

  let width = 0;
  const show = (): void => {
    figures = run.figures(window);
    tiles.show(figures, window === null);
    bar.show(figures);
    // How long failures took is known of the whole run; its room stays.
    failed?.classList.toggle("unseen", window !== null);
    text.show(window);
    for (const buttons of [choice, barChoice]) buttons.show(window);
    stage.show(live && !window ? { from: run.drawn.from, to: axisEnd(run.drawn.to) } : run.drawnOf(window));
    overview.draw(window ?? run.drawn);
    responses.draw(window, width);
  };

  let timer = 0;
  stage.watch((second) => {
    const { clock: start } = data.head;
    const time = new Date(typeof start === "number" ? (start + (second ?? 0)) * 1000 : row.t0 + (second ?? 0) * 1000);
    const clock = time.toISOString().slice(11, 19);
    replace(at, second === null ? null : ["at ", h("b", {}, `second ${second}, ${clock}`)]);
    clearTimeout(timer);
    timer = setTimeout(() => (spoken.textContent = second === null ? "" : spokenValues(content, run.stamp(second))), REST);
  });

  const observer = new ResizeObserver(() => {
    const next = bar.root.clientWidth;
    if (next === width || next === 0) return;
    const first = width === 0;
    width = next;
    content.classList.toggle("narrow", width < 620);
    stage.fit(width);
    show();
    if (first) live?.place(stage);
  });
  // The bar's place is as wide as the page and has no height, so that drawing does not resize it.
  observer.observe(bar.root);
  const print = printing(content, (paper) => {
    const screen = width;
    const fit = (next: number): void => {
      width = next;
      stage.fit(width);
      show();
    };
    fit(paper);
    return () => fit(screen);
  });
  const unbind = bindKeys(runKeys(run, stage, () => window, choose));
  return () => {
    observer.disconnect();
    print();
    bar.stop();
    unbind();
    clearTimeout(timer);
    replace(host);
  };
}

/** Returns the values beside the charts as a sentence. */
function spokenValues(content: HTMLElement, time: string): string {
  const values = [...content.querySelectorAll(".time-charts .chart-list > div:not(.quiet)")].map(
    (row) => `${row.querySelector("dt")?.textContent ?? ""} ${row.querySelector("dd")?.textContent ?? ""}`,
  );
  return `${time}: ${values.join(", ")}`;
}
