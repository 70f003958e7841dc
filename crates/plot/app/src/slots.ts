// How a framework looks: its slot gives colour, marker and dash, the same in every medium.

import { type Attributes, s } from "./dom";
import type { FrameworkSlot } from "./types";

export interface Look {
  /** The CSS colour: a variable of tokens.css. */
  color: string;
  /** The path of the marker in a box from -6 to 6, its area much the same for all. */
  marker: string;
  /** True where the marker is drawn as an outline. */
  hollow: boolean;
  /** `stroke-dasharray` on paper; "" is solid. */
  dash: string;
  /** True where lines are dashed on the screen, too: the colour is that of another line. */
  dashed: boolean;
}

const CIRCLE = "M-5 0A5 5 0 1 1 5 0A5 5 0 1 1 -5 0Z";
const SQUARE = "M-4.5 -4.5H4.5V4.5H-4.5Z";
const MARKERS = [
  CIRCLE,
  SQUARE,
  "M0 -5.5L5.5 4.5H-5.5Z",
  "M0 -6L6 0L0 6L-6 0Z",
  "M0 5.5L5.5 -4.5H-5.5Z",
  "M-1.9 -5.5H1.9V-1.9H5.5V1.9H1.9V5.5H-1.9V1.9H-5.5V-1.9H-1.9Z",
  "M-4 0A4 4 0 1 1 4 0A4 4 0 1 1 -4 0Z",
  "M-3.7 -3.7H3.7V3.7H-3.7Z",
];
const DASHES = ["", "7 3", "2 2.5", "9 3 2 3", "5 2 1 2 1 2", "12 3", "4 4", "1 3"];

/** The look of a slot, which counts from 0. From 16 on all are grey. */
export function look(slot: number): Look {
  if (slot < 0 || slot >= 2 * MARKERS.length) return { color: "var(--axis)", marker: CIRCLE, hollow: true, dash: "2 2", dashed: true };
  const place = slot % MARKERS.length;
  return {
    color: `var(--slot-${place + 1})`,
    marker: MARKERS[place] ?? CIRCLE,
    hollow: slot >= 6,
    dash: DASHES[place] ?? "",
    dashed: slot >= MARKERS.length,
  };
}

/** The look of something else of the same framework: its colour, but another marker and dash. The first one is as it is. */
export function variant(first: Look, nth: number): Look {
  if (nth === 0) return first;
  const shape = Math.max(MARKERS.indexOf(first.marker), 0) + 2 * Math.floor(nth / 2);
  const dashes = DASHES.filter((dash) => dash !== first.dash && dash !== "");
  return {
    color: first.color,
    marker: MARKERS[shape % MARKERS.length] ?? first.marker,
    hollow: nth % 2 === 1 ? !first.hollow : first.hollow,
    dash: dashes[(nth - 1) % dashes.length] ?? "2 2",
    dashed: true,
  };
}

const slots = new Map<string, number>();

/** Keeps the slots of a store. */
export function setSlots(frameworks: readonly FrameworkSlot[]): void {
  slots.clear();
  for (const { name, slot } of frameworks) slots.set(name, slot);
}

/** The look of a framework of the store. */
export function lookOf(framework: string): Look {
  return look(slots.get(framework) ?? -1);
}

/** A marker as a path, to be placed in a chart by its `transform`. */
export function markerPath(style: Look, attributes: Attributes = {}): SVGPathElement {
  const paint: Record<string, string | number> = style.hollow
    ? { fill: "var(--page)", stroke: style.color, "stroke-width": 2, "paint-order": "normal" }
    : { fill: style.color };
  return s("path", { d: style.marker, style: paint, ...attributes });
}

/** A framework's marker as a small picture for texts and tables; decoration, since the name stands beside it. */
export function marker(framework: string): SVGSVGElement {
  return lookMarker(lookOf(framework));
}

/** The marker of a look as a small picture. */
export function lookMarker(style: Look): SVGSVGElement {
  return s(
    "svg",
    { class: "marker", viewBox: "-6 -6 12 12", width: 12, height: 12, "aria-hidden": "true" },
    markerPath(style),
  );
}
