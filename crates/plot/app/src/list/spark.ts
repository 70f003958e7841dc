// A run in small: successes over time, failures as ticks above.

import { s } from "../dom";
import type { Spark } from "../types";

const WIDTH = 96;
const HEIGHT = 18;
/** The room above for failures. */
const STRIP = 3;

/** Draws a run in small; decoration, since the figures stand beside it. */
export function sparkline({ heights, failed }: Spark): SVGSVGElement {
  const step = WIDTH / Math.max(1, heights.length - 1);
  const y = (value: number): number => HEIGHT - 0.5 - (value / 100) * (HEIGHT - STRIP - 1.5);
  const areas: string[] = [];
  const lines: string[] = [];
  let points: string[] = [];
  let start = 0;
  const close = (end: number): void => {
    if (points.length > 0) {
      lines.push(`M${points.join("L")}`);
      areas.push(`M${(start * step).toFixed(1)} ${HEIGHT}L${points.join("L")}L${(end * step).toFixed(1)} ${HEIGHT}Z`);
    }
    points = [];
  };
  heights.forEach((value, at) => {
    if (value === null) close(at - 1);
    else {
      if (points.length === 0) start = at;
      points.push(`${(at * step).toFixed(1)} ${y(value).toFixed(1)}`);
    }
  });
  close(heights.length - 1);
  const tick = WIDTH / Math.max(1, heights.length);
  const ticks = failed.map((at) => `M${(at * tick + 0.5).toFixed(1)} 0h${Math.max(1, tick - 1).toFixed(1)}v${STRIP - 1}h-${Math.max(1, tick - 1).toFixed(1)}Z`);
  return s(
    "svg",
    { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, "aria-hidden": "true" },
    s("path", { d: areas.join(""), class: "spark-area" }),
    s("path", { d: lines.join(""), class: "spark-line" }),
    ticks.length > 0 ? s("path", { d: ticks.join(""), class: "spark-failed" }) : null,
  );
}
