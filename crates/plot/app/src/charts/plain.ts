// What charts have in common that are not over time: an axis of values, and the words of the place pointed at.

import { replace, s } from "../dom";
import { Figure, type FigureOptions } from "./figure";
import { px } from "./paths";
import type { Axis } from "./scale";

/** The room around a plot in pixels. */
export const ROOM = { above: 16, below: 22, left: 46 };

/** A place of a chart that can be pointed at. */
export interface Place {
  x: number;
  words: string;
}

/** A chart with its own horizontal axis. */
export abstract class PlainChart {
  readonly figure: Figure;
  protected readonly plot = s("g");
  protected readonly height: number;
  protected width = 1;
  private readonly cursor = s("g", { "data-cursor": true });
  private places: Place[] = [];
  private at = -1;

  /** `right` is the room at the right of the plot in pixels. */
  constructor(
    readonly options: FigureOptions,
    private readonly right = 12,
  ) {
    this.figure = new Figure({ ...options, height: options.height + ROOM.above + ROOM.below });
    this.height = options.height;
    const { svg, root } = this.figure;
    root.classList.add("plain-chart");
    for (const group of [this.plot, this.cursor])
      group.setAttribute("transform", `translate(${ROOM.left} ${ROOM.above})`);
    svg.append(this.plot, this.cursor);
    svg.addEventListener("pointermove", (event) =>
      this.point(event.clientX - svg.getBoundingClientRect().left - ROOM.left),
    );
    svg.addEventListener("pointerleave", () => this.point(null));
  }

  /** Draws the content and returns the places that can be pointed at. */
  protected abstract content(): Place[];

  /** Draws the chart into a width. */
  fit(width: number): void {
    this.width = Math.max(width - ROOM.left - this.right, 60);
    this.figure.svg.setAttribute("width", String(width));
    replace(this.plot);
    this.places = this.content();
    this.point(null);
    this.figure.refresh();
  }

  /** Draws the axis of values with its hairlines. */
  protected values(axis: Axis): void {
    for (const { at, text } of axis.ticks) {
      const y = px(axis.y(at));
      this.plot.append(
        s("path", { class: at === 0 ? "base" : "hairline", d: `M0 ${y}H${this.width}` }),
        s("text", { class: "tick", x: -7, y: y + 4, "text-anchor": "end" }, text),
      );
    }
  }

  /** Writes a text below the plot. */
  protected below(x: number, text: string, anchor = "middle"): void {
    this.plot.append(s("text", { class: "tick", x: px(x), y: this.height + 15, "text-anchor": anchor }, text));
  }

  private point(x: number | null): void {
    let nearest = -1;
    if (x !== null)
      this.places.forEach(
        (place, at) =>
          (nearest < 0 || Math.abs(place.x - x) < Math.abs((this.places[nearest]?.x ?? 0) - x)) && (nearest = at),
      );
    if (nearest === this.at && nearest >= 0) return;
    this.at = nearest;
    replace(this.cursor);
    const place = this.places[nearest];
    this.figure.retitle(this.options.title, place?.words ?? this.options.note ?? "");
    if (place) this.cursor.append(s("path", { class: "cursor-line", d: `M${px(place.x)} 0V${this.height}` }));
  }
}
