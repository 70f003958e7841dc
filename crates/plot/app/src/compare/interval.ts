// A change with its intervals on the axis of the table. Places are in percent, so that the drawing fits any width.

import { type Child, s } from "../dom";
import type { ChangeRow } from "../types";
import { type ChangeAxis, placeOn, type Stretch, stretch } from "./axis";
import { isShown, outcomeOf, rowText } from "./figures";

const HEIGHT = 28;
const MIDDLE = HEIGHT / 2;
const LABELS = 16;

const percent = (value: number): string => `${value}%`;

/** The axis, for the head of a column. */
export function axisPicture(axis: ChangeAxis): SVGSVGElement {
  return s(
    "svg",
    { class: "interval-axis", width: "100%", height: LABELS, "aria-hidden": "true" },
    axis.ticks.map(({ at, text }) => s("text", { x: percent(placeOn(axis, at)), y: LABELS - 4, "text-anchor": "middle" }, text)),
  );
}

/** An arrow at an end of the axis: the interval goes on. */
function arrow(place: number, left: boolean): SVGElement {
  const d = left ? "M2 -4.5L-6 0L2 4.5Z" : "M-2 -4.5L6 0L-2 4.5Z";
  return s("svg", { x: percent(place), y: MIDDLE, overflow: "visible" }, s("path", { d, class: "interval-arrow" }));
}

function bar(name: string, { from, to, beyondLow, beyondHigh }: Stretch, caps: boolean): Child {
  const cap = (at: number): SVGElement =>
    s("line", { class: name, x1: percent(at), x2: percent(at), y1: MIDDLE - 4, y2: MIDDLE + 4 });
  return [
    s("line", { class: name, x1: percent(from), x2: percent(to), y1: MIDDLE, y2: MIDDLE }),
    beyondLow ? arrow(from, true) : caps ? cap(from) : null,
    beyondHigh ? arrow(to, false) : caps ? cap(to) : null,
  ];
}

function grid(axis: ChangeAxis): Child {
  const line = (at: number): SVGElement => {
    const x = percent(placeOn(axis, at));
    return s("line", { class: at === 0 ? "interval-zero" : "interval-grid", x1: x, x2: x, y1: 0, y2: HEIGHT });
  };
  return axis.ticks.map(({ at }) => line(at));
}

/** The place of a row without an interval. */
export function emptyPicture(axis: ChangeAxis): SVGSVGElement {
  return s("svg", { class: "interval", width: "100%", height: HEIGHT, "aria-hidden": "true" }, grid(axis));
}

/** Draws a row: thin the interval that decides, thick the figure's own, filled where a change is shown. */
export function intervalPicture(row: ChangeRow, axis: ChangeAxis, notes: readonly string[]): SVGSVGElement {
  const { verdict } = outcomeOf(row);
  const { change_percent: change, change_percent_low: low, change_percent_high: high, joint_percent: joint } = row;
  const own: [number, number] | null = low !== null && high !== null ? [low, high] : null;
  const drawn = verdict !== "unknown" && change !== null && (own !== null || joint !== null);
  const within = drawn && change >= axis.low && change <= axis.high;
  const look = isShown(verdict) ? `shown ${verdict}` : "not-shown";
  return s(
    "svg",
    { class: `interval ${look}`, width: "100%", height: HEIGHT, role: "img", "aria-label": rowText(row, notes) },
    grid(axis),
    drawn && joint ? bar("interval-thin", stretch(axis, joint), true) : null,
    drawn && own ? bar("interval-thick", stretch(axis, own), false) : null,
    within ? s("circle", { class: "interval-point", cx: percent(placeOn(axis, change)), cy: MIDDLE, r: 4.5 }) : null,
  );
}
