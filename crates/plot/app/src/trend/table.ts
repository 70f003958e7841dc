// The versions, newest first: figures, runs, and what changed with each. Two that are ticked can be compared.

import { type App, versionPage } from "../app";
import { type Child, h, replace } from "../dom";
import { change, clock, count, day, plural } from "../format";
import { link } from "../router";
import type { Bindings } from "../shell/keys";
import { aligned, numberHead, scrolling } from "../table";
import type { FrameworkTrend, TrendFigure } from "../types";
import { alerts, amount, mainChanges, sidesLink, tied } from "./alerts";
import { figureName, figureText, look, shortName, tableName } from "./figures";

/** How many versions are shown first, and how many more at a time. */
const ROWS = 50;
/** The figures with a column, and those that phones have below a version's name. */
const SMALL = ["throughput", "p95"];
const COLUMNS = ["throughput", "p50", "p95", "p99", "failures", "CPU"];

export interface VersionTable {
  element: HTMLElement;
  /** Marks the row of a version. */
  mark: (version: number | null) => void;
  /** Shows a version's row and brings the focus there. */
  open: (version: number) => void;
  /** `j` and `k` go from row to row, `x` ticks, `c` compares. */
  keys: Bindings;
}

/** The figures of the columns. */
export function columnsOf({ figures }: FrameworkTrend): TrendFigure[] {
  return COLUMNS.flatMap((name) => figures.find(({ figure, values }) => figureName(figure) === name && values.some((value) => value !== null)) ?? []);
}

/** All figures of the versions, exact. */
export function versionCells({ versions, figures }: FrameworkTrend): (string | number | null)[][] {
  return [
    ["version", "first run", "runs", ...figures.map(({ figure, unit }) => (unit ? `${figureName(figure)} (${unit})` : figureName(figure)))],
    ...versions.map(({ name, t0, runs }, at) => [name, new Date(t0).toISOString(), runs.join(" "), ...figures.map(({ values }) => values[at] ?? null)]),
  ];
}

/** The two ticked versions, the older one first, once there are two. A third one takes the place of the first. */
export function ticked(chosen: readonly number[], version: number, wanted: boolean): number[] {
  const others = chosen.filter((one) => one !== version);
  return wanted ? [...others, version].slice(-2) : others;
}

/** Draws the table of versions. */
export function versionTable(app: App, trend: FrameworkTrend, by: string, pin: (version: number) => void): VersionTable {
  const { versions } = trend;
  const newest = versions.map((_, at) => versions.length - 1 - at);
  const columns = columnsOf(trend).map((figure) => {
    const name = figureName(figure.figure);
    const text = figureText(figure.figure, figure.unit);
    return { name, unit: figure.unit === "1/s" ? "/s" : figure.unit, texts: aligned(newest.map((at) => text(figure.values[at]))) };
  });
  const found = new Map(alerts(trend).map((one) => [one.version, one]));
  const [throughput] = trend.figures.filter(({ figure }) => figure === "throughput");
  const base = throughput?.levels[0]?.level;
  const against = aligned(
    newest.map((at) => {
      const value = throughput?.values[at];
      return value !== null && value !== undefined && base ? change(100 * (value / base - 1)) : "–";
    }),
  );
  const rows = new Map<number, HTMLTableRowElement>();
  const boxes = new Map<number, HTMLInputElement>();
  let chosen: number[] = [];
  let marked: number | null = null;
  const compare = h("span", { class: "trend-compare", role: "status" });
  const told = (): void => {
    const [older, newer] = [...chosen].sort((a, b) => a - b).map((at) => versions[at]);
    for (const [at, box] of boxes) box.checked = chosen.includes(at);
    replace(
      compare,
      older && newer
        ? h("a", { class: "button first", href: sidesLink(older.runs, newer.runs) }, `Compare ${shortName(older.name)} with ${shortName(newer.name)}`)
        : h("span", { class: "note" }, older ? "Tick another version to compare" : "Tick two versions to compare them"),
    );
  };
  const tick = (at: number, name: string): HTMLElement => {
    const box = h("input", {
      type: "checkbox",
      "aria-label": `Compare version ${shortName(name)}`,
      onchange: () => {
        chosen = ticked(chosen, at, box.checked);
        told();
      },
    });
    boxes.set(at, box);
    return h("td", { class: "col-tick" }, h("label", { class: "tick" }, box));
  };
  const markers = (at: number): Child => {
    const alert = found.get(at);
    if (!alert) return null;
    const text = (one: (typeof alert.changes)[number]): string => tied(`${figureName(one.figure)} ${amount(one)}`);
    const { first, others } = mainChanges(alert.changes);
    return h("span", { class: `trend-mark ${look(alert.direction)}`, title: alert.changes.map(text).join(", ") }, first.map(text).join(", "), others > 0 ? `, ${others} more` : "");
  };
  const runLink = (id: string): Child => {
    const run = app.runs.get(id);
    return run ? h("a", { href: link("run", id), "aria-label": `Run ${run.repeat}` }, `#${run.repeat}`) : h("span", { class: "quiet", title: "This run is not in the store" }, id);
  };
  const page = (name: string): Child => {
    const href = versionPage(app, by, name);
    return href === null ? null : h("a", { class: "trend-page", href, rel: "noopener noreferrer", "aria-label": `Page of ${shortName(name)}`, title: href }, "↗");
  };
  const small = (place: number): HTMLElement =>
    h("span", { class: "trend-small" }, columns.filter(({ name }) => SMALL.includes(name)).map(({ name, unit, texts }, at) => [at > 0 ? ", " : "", name === "throughput" ? "" : `${name} `, texts[place]?.[0], unit === "/s" ? unit : ` ${unit}`]));
  const row = (at: number, place: number): HTMLTableRowElement => {
    const version = versions[at];
    const element = h(
      "tr",
      { class: found.has(at) ? `trend-first ${look(found.get(at)?.direction ?? "more")}` : null, tabindex: -1, "data-version": at, "aria-current": at === marked ? "true" : null },
      tick(at, version?.name ?? ""),
      h("th", { scope: "row", class: "col-version" }, h("button", { type: "button", class: "trend-name", title: version?.name, onclick: () => pin(at) }, tableName(version?.name ?? "")), page(version?.name ?? ""), markers(at), small(place)),
      h("td", { class: "quiet" }, `${day(version?.t0 ?? 0)}, ${clock(version?.t0 ?? 0)}`),
      h("td", { class: "trend-run-links" }, (version?.runs ?? []).slice(0, 6).map((id) => [runLink(id), " "]), (version?.runs.length ?? 0) > 6 ? h("span", { class: "quiet" }, `and ${count((version?.runs.length ?? 0) - 6)}`) : null),
      columns.map(({ name, texts }, column) => [
        h("td", { class: "number" }, texts[place]),
        column === 0 && name === "throughput" && base ? h("td", { class: "number quiet" }, against[place]) : null,
      ]),
    );
    rows.set(at, element);
    return element;
  };
  const body = h("tbody");
  const foot = h("p", { class: "foot" });
  const show = (number: number): void => {
    const shown = Math.min(number, newest.length);
    for (let place = body.childElementCount; place < shown; place += 1) body.append(row(newest[place] ?? 0, place));
    const more = Math.min(ROWS, newest.length - shown);
    replace(
      foot,
      h("span", null, `${count(shown)} of ${plural(newest.length, "version")}`),
      more > 0 ? h("button", { type: "button", class: "button", onclick: () => show(shown + ROWS) }, `Show ${more} more`) : null,
      h("span", { class: "foot-end" }, `perfpipe ${app.store.version}`),
    );
    told();
  };
  show(ROWS);
  const table = h(
    "table",
    { class: "trend-versions", "aria-label": "Versions" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col", class: "col-tick" }, h("span", { class: "hidden" }, "Compare")),
        h("th", { scope: "col", class: "col-version" }, "Version"),
        h("th", { scope: "col", "aria-sort": "descending" }, "First run, UTC ↓"),
        h("th", { scope: "col" }, "Runs"),
        columns.map(({ name, unit }, column) => [
          numberHead(name.charAt(0) === "p" ? name : name.charAt(0).toUpperCase() + name.slice(1), unit),
          column === 0 && name === "throughput" && base ? numberHead("against the", "first level, %") : null,
        ]),
      ),
    ),
    body,
  );
  const mark = (version: number | null): void => {
    if (marked !== null) rows.get(marked)?.removeAttribute("aria-current");
    marked = version;
    if (version !== null) rows.get(version)?.setAttribute("aria-current", "true");
  };
  const current = (): number => [...body.children].findIndex((one) => one.contains(document.activeElement));
  const move = (by: number): void => {
    const at = current();
    const next = body.children[at < 0 ? 0 : Math.min(body.childElementCount - 1, Math.max(0, at + by))];
    next?.querySelector<HTMLElement>(".trend-name")?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  return {
    keys: {
      j: () => move(1),
      k: () => move(-1),
      x: () => body.children[current()]?.querySelector("input")?.click(),
      c: () => compare.querySelector("a")?.click(),
    },
    element: h(
      "section",
      { id: "at-versions", "aria-labelledby": "versions-title" },
      h("div", { class: "section-line" }, h("h2", { id: "versions-title" }, "Versions"), compare),
      scrolling("Table of versions", table),
      foot,
    ),
    mark,
    open: (version) => {
      const place = newest.indexOf(version);
      if (place >= body.childElementCount) show(Math.ceil((place + 1) / ROWS) * ROWS);
      mark(version);
      rows.get(version)?.scrollIntoView({ block: "center" });
      rows.get(version)?.focus({ preventScroll: true });
    },
  };
}
