// A trend in small: a figure over the versions, changes as vertical lines.

import { linePath, type Point, px } from "../charts/paths";
import { s } from "../dom";
import { lookOf } from "../slots";
import type { TrendFigure } from "../types";
import { bandWidth } from "./axis";
import { look } from "./figures";

const WIDTH = 160;
const HEIGHT = 26;
const EDGE = 4;

/** Draws a figure in small; decoration, since words stand beside it. Its noise takes a third of the height at most. */
export function trendSpark(framework: string, figure: TrendFigure): SVGSVGElement {
  const { color } = lookOf(framework);
  const known = figure.values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const span = Math.max(high - low, 3 * bandWidth(figure), 1e-9 * Math.abs(high), 1e-12);
  const middle = (low + high) / 2;
  const step = (WIDTH - 2 * EDGE) / Math.max(1, figure.values.length - 1);
  const y = (value: number): number => HEIGHT / 2 - ((value - middle) / span) * (HEIGHT - 2 * EDGE);
  const points: Point[] = figure.values.map((value, at) => (value === null ? null : [EDGE + at * step, y(value)]));
  const last = points.findLast((point) => point !== null);
  return s(
    "svg",
    { class: "trend-spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, "aria-hidden": "true" },
    figure.changes.map(({ version, direction }) => s("path", { class: `trend-change ${look(direction)}`, d: `M${px(EDGE + (version - 0.5) * step)} 0V${HEIGHT}` })),
    s("path", { class: "trend-line-small", d: linePath(points), style: { stroke: color } }),
    last ? s("circle", { cx: px(last[0]), cy: px(last[1]), r: 2.5, style: { fill: color } }) : null,
  );
}
