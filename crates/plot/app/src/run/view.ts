// A run's page within the app: its head, its actions, and where the sidebar leads.

import { type App, go, numbered, runName } from "../app";
import { h, replace } from "../dom";
import { plural } from "../format";
import { loadRun } from "../load";
import { changed, link, type Route } from "../router";
import { liveRun } from "../served";
import { csv, save } from "../save";
import { choose, isChosen } from "../shell/basket";
import { type Action, COPY_LINK, pageHead, PRINT } from "../shell/head";
import { bindKeys } from "../shell/keys";
import type { Section } from "../shell/sidebar";
import { marker } from "../slots";
import type { RunData, RunRow } from "../types";
import type { View } from "../view";
import { facts } from "./facts";
import { Run, type RunState } from "./model";
import { showRun } from "./page";

/** Returns the page of a run of the store. */
export async function runView(app: App, route: Route, row: RunRow): Promise<View> {
  const data = await loadRun(row.id);
  const run = new Run(row, data);
  const repeats = app.store.runs
    .filter(({ framework, test }) => framework === row.framework && test === row.test)
    .sort((a, b) => (a.repeat || Infinity) - (b.repeat || Infinity) || a.t0 - b.t0);
  const at = repeats.findIndex(({ id }) => id === row.id);
  const [before, after] = [repeats[at - 1], repeats[at + 1]];
  const to = (other: RunRow): void => go(link("run", other.id));
  const compared = (): string => (isChosen(row.id) ? "✓ Compared" : "+ Compare");
  const live = liveRun(row.id);
  const actions: Action[] = [
    ...(live ? [live.pause()] : []),
    ...(before ? [{ text: `◂ ${numbered("", before).trim()}`, run: () => to(before) }] : []),
    ...(after ? [{ text: `${numbered("", after).trim() || "live"} ▸`, run: () => to(after) }] : []),
  ];
  if (!live)
    actions.push({
      text: compared(),
      run: (button) => {
        choose(row.id, !isChosen(row.id));
        button.textContent = compared();
      },
    });
  const exports: Action[] = [
    { text: "Seconds (CSV)", run: () => save(`${row.id}-seconds.csv`, csv(seconds(data))) },
    COPY_LINK,
  ];
  const test = app.store.tests.find(({ name }) => name === row.test);
  const draw = (host: HTMLElement): (() => void) => {
    const place = h("div");
    const head = pageHead({
      path: [
        { text: app.store.name, href: link("home") },
        { text: row.test, href: link("test", test?.id) },
      ],
      title: [
        marker(row.framework),
        numbered(row.framework, row),
        row.partial ? h("span", { class: "about" }, " partial") : null,
      ],
      verdict: live?.pill ?? verdict(row),
      facts: live?.facts() ?? facts(app, run),
      actions: [...actions, PRINT],
      exports,
    });
    replace(host, head, place);
    const state: RunState = {};
    const [from, end] = [numberOf(route.query.get("from")), numberOf(route.query.get("to"))];
    if (from !== null) state.from = from;
    if (end !== null) state.to = end;
    // A link names the seconds that are shown, not those of which it asked.
    const window = run.windowOf(state);
    if (window?.from !== state.from || window?.to !== state.to)
      history.replaceState(null, "", changed(route, { from: window?.from ?? null, to: window?.to ?? null }));
    const stop = showRun(
      place,
      row,
      data,
      state,
      (next) => history.pushState(null, "", changed(route, { from: next.from ?? null, to: next.to ?? null })),
      repeats,
      live,
    );
    const unbind = bindKeys({
      ...(after ? { n: () => to(after) } : {}),
      ...(before ? { p: () => to(before) } : {}),
      x: () => choose(row.id, !isChosen(row.id)),
    });
    return () => {
      stop();
      unbind();
    };
  };
  return {
    title: `${row.framework} ${runName(row)}`,
    test: row.test,
    framework: row.framework,
    sections: sections(run),
    exports: [...(live ? [] : actions.slice(-1)), ...exports],
    draw,
  };
}

function numberOf(text: string | null): number | null {
  const value = Number(text);
  return text !== null && text !== "" && Number.isFinite(value) ? value : null;
}

function verdict({ verdict }: RunRow): HTMLElement | null {
  if (!verdict) return null;
  const all = verdict.passed + verdict.failed;
  return verdict.failed > 0
    ? h("span", { class: "pill failed-rules" }, `✗ ${verdict.failed} of ${plural(all, "rule")} failed`)
    : h("span", { class: "pill" }, `✓ ${plural(all, "rule")} passed`);
}

function sections(run: Run): Section[] {
  const { detail } = run.data;
  const drawn = run.drawn.to - run.drawn.from > 1;
  const all: (Section | null)[] = [
    drawn ? { id: "charts", name: "Charts" } : null,
    drawn && run.whole.requests > run.whole.failures ? { id: "responses", name: "Response times" } : null,
    { id: "labels", name: "Labels" },
    run.whole.failures ? { id: "failures", name: "Failures" } : null,
    (detail.sweep?.loads.length ?? 0) > 1 ? { id: "load", name: "Load steps" } : null,
    run.data.rules?.length ? { id: "rules", name: "Rules" } : null,
    { id: "figures", name: "All figures" },
  ];
  return all.filter((section) => section !== null);
}

/** Returns all series by second, exact. */
function seconds({ head, series }: RunData): (string | number | null)[][] {
  const server = series.server ?? [];
  const names = [
    "second",
    "successes",
    "failures",
    "load",
    "cpu",
    ...head.percentiles.map((percent) => `p${percent} ms`),
    ...server.map(({ name, unit }) => (unit ? `${name} ${unit}` : name)),
  ];
  const lists = [
    series.successes,
    series.failures,
    series.load,
    series.cpu,
    ...series.elapsed,
    ...server.map(({ values }) => values),
  ];
  return [names, ...series.successes.map((_, at) => [head.first + at, ...lists.map((list) => list[at] ?? null)])];
}
