// The keys of charts: how a series looks, as a small picture beside its name.

import { s } from "../dom";

let patterns = 0;

/** Makes a hatching, to be put into a drawing, and returns it with the paint that refers to it. */
export function hatching(kind: "fail" | "gap"): { defs: SVGDefsElement; paint: string } {
  const id = `hatch-${(patterns += 1)}`;
  const pattern = s(
    "pattern",
    { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect", { class: `hatch-ground`, width: 5, height: 5 }),
    s("path", { class: `hatch-${kind}`, d: "M1.25 0V5" }),
  );
  return { defs: s("defs", {}, pattern), paint: `url(#${id})` };
}

function picture(...content: (SVGElement | null)[]): SVGSVGElement {
  return s("svg", { class: "key", width: 12, height: 10, viewBox: "0 0 12 10", "aria-hidden": "true" }, content);
}

/** The key of bars. */
export function barKey(look: string): SVGSVGElement {
  return picture(s("rect", { class: look, width: 12, height: 9 }));
}

/** The key of hatched areas. */
export function hatchKey(): SVGSVGElement {
  const { defs, paint } = hatching("fail");
  return picture(defs, s("rect", { fill: paint, width: 12, height: 9 }));
}

/** The key of a line. */
export function lineKey(look: string, dash = ""): SVGSVGElement {
  return picture(s("path", { class: look, d: "M0 5H12", "stroke-dasharray": dash || null }));
}
