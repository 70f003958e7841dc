// Paths of lines, areas and bars, with coordinates of a tenth of a pixel.

/** A point of a line; null is a gap. */
export type Point = [x: number, y: number] | null;

/** Rounds a coordinate. */
export function px(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Returns the path of a line. Points beside gaps on both sides become a short dash, so that they are seen. */
export function linePath(points: Point[]): string {
  let path = "";
  points.forEach((point, at) => {
    if (!point) return;
    const [x, y] = [px(point[0]), px(point[1])];
    const [before, next] = [points[at - 1], points[at + 1]];
    path += before ? `L${x} ${y}` : `M${x} ${y}`;
    if (!before && !next) path += `h1`;
  });
  return path;
}

/** Returns the path of the area between two lines of as many points. */
export function areaPath(upper: Point[], lower: Point[]): string {
  let path = "";
  for (let start = 0; start < upper.length; start += 1) {
    if (!upper[start] || !lower[start]) continue;
    let end = start;
    while (end < upper.length && upper[end] && lower[end]) end += 1;
    if (end - start > 1)
      path += `${linePath(upper.slice(start, end))}${linePath(lower.slice(start, end).reverse()).replace("M", "L")}z`;
    start = end;
  }
  return path;
}

/** Returns the path of a bar. */
export function barPath(left: number, right: number, top: number, bottom: number): string {
  return `M${px(left)} ${px(bottom)}V${px(top)}H${px(right)}V${px(bottom)}z`;
}
