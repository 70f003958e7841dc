// A chart's frame: title and note, buttons for its data, the drawing, and the list of names and values beside it.

import { h, replace, s, visible } from "../dom";
import { csv, save } from "../save";
import { type Action, menu } from "../shell/head";
import { type DataTable, type Legend, savePng, svgFile } from "./export";

/** What a frame asks its chart for. */
export interface FigureOptions {
  /** The beginning of the names of its files. */
  file: string;
  title: string;
  note?: string;
  height: number;
  /** The exact values, each second or step a row. */
  exact: () => DataTable;
  /** Adds to the drawing what only a picture of its own needs, and returns what takes it away. */
  alone?: () => () => void;
  /** The values as drawn, if these are fewer. */
  drawn?: () => DataTable;
}

/** An entry of the list beside a chart. Its value changes, its place does not. */
export interface Entry {
  name: string;
  key: SVGSVGElement | null;
  /** True for what stands still, such as an average. */
  quiet?: boolean;
  /** Its distance from the top of the list in pixels, if it does not follow the entry before. */
  top?: number;
}

/** The frame of a chart. */
export class Figure {
  readonly root: HTMLElement;
  readonly svg: SVGSVGElement;
  /** What stands beside the drawing: the list, and the key of colours if there is one. */
  readonly side: HTMLElement;
  private readonly list: HTMLElement;
  private readonly note: HTMLElement;
  private readonly heading: HTMLElement;
  private readonly held: HTMLElement;
  private values: HTMLElement[] = [];
  private entries: Entry[] = [];

  constructor(private readonly options: FigureOptions) {
    this.svg = s("svg", { class: "plot", height: options.height, role: "img", "aria-label": options.title });
    this.heading = h("h3", {}, options.title);
    this.note = h("span", { class: "chart-note" }, options.note);
    this.list = h("dl", { class: "chart-list" });
    this.side = h("div", { class: "chart-side" }, this.list);
    this.held = h("div", { class: "chart-table", hidden: true });
    this.held.setAttribute("tabindex", "0");
    const actions: Action[] = [
      { text: "CSV", run: () => this.save("csv") },
      { text: "SVG", run: () => this.save("svg") },
      { text: "PNG", run: () => this.save("png") },
      { text: "table", run: () => this.toggle() },
    ];
    const buttons = actions.map(({ text, run }) => h("button", { type: "button", onclick: run }, text));
    const tools = h(
      "div",
      { class: "chart-tools", role: "group", "aria-label": `${options.title}: data` },
      h("div", { class: "chart-buttons" }, buttons),
      menu("⋯", `${options.title}: data`, actions, "plain"),
    );
    this.root = h(
      "figure",
      { class: "chart" },
      h("div", { class: "chart-head" }, this.heading, this.note, tools),
      h("div", { class: "chart-body" }, h("div", { class: "chart-plot" }, this.svg), this.side),
      this.held,
    );
  }

  /** Sets the names of the list. Without any, the drawing takes its place. */
  name(entries: Entry[]): void {
    this.entries = entries;
    this.values = entries.map(() => h("dd", {}));
    const rows = entries.map(({ name, key, quiet, top }, at) =>
      h(
        "div",
        { class: quiet ? "quiet" : null, style: top === undefined ? {} : { "--top": `${top}px` }, "data-top": top },
        h("dt", {}, key, name),
        this.values[at],
      ),
    );
    replace(this.list, rows);
  }

  /** Sets the values of the list. */
  showValues(values: string[]): void {
    this.values.forEach((place, at) => {
      const text = values[at] ?? "";
      if (place.textContent !== text) place.textContent = text;
    });
  }

  /** Says what the drawing shows, for those who can't see it. */
  describe(sentence: string): void {
    this.svg.setAttribute("aria-label", visible(`${this.heading.textContent}. ${sentence}`));
  }

  /** Changes the title and the note. */
  retitle(title: string, note: string): void {
    replace(this.heading, title);
    replace(this.note, note);
  }

  /** Writes the table again if it is open. */
  refresh(): void {
    if (this.held.hidden) return;
    const { columns, rows } = (this.options.drawn ?? this.options.exact)();
    const cell = (value: string | number | null): string =>
      value === null ? "–" : typeof value === "number" ? String(Math.round(value * 1000) / 1000) : value;
    replace(
      this.held,
      h(
        "table",
        {},
        h("caption", {}, this.heading.textContent),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            columns.map((column) => h("th", { scope: "col" }, column)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((row) =>
            h(
              "tr",
              {},
              row.map((value) => h("td", {}, cell(value))),
            ),
          ),
        ),
      ),
    );
  }

  private toggle(): void {
    this.held.hidden = !this.held.hidden;
    this.refresh();
    if (this.held.hidden) replace(this.held);
  }

  private save(kind: "csv" | "svg" | "png"): void {
    const name = `${this.options.file}.${kind}`;
    if (kind === "csv") {
      const { columns, rows } = this.options.exact();
      return save(name, csv([columns, ...rows]));
    }
    const restore = this.options.alone?.();
    const list: Legend[] = this.entries.map(({ name, key }, at) => ({
      name,
      key,
      value: this.values[at]?.textContent ?? "",
    }));
    const picture = svgFile(
      this.svg,
      [this.heading.textContent, this.note.textContent].filter(Boolean).join("  "),
      list,
    );
    restore?.();
    if (kind === "svg") save(name, picture, "image/svg+xml");
    else savePng(name, picture);
  }
}
