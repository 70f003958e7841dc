// The paths of lines and bands through columns.
// @ts-check

/** @typedef {import("../types").Column} Column */
/** @typedef {(column: Column) => number} Place */

/**
 * Returns the columns without a neighbour, which no line leads through.
 * @param {Column[]} columns
 */
export function lonely(columns) {
  const joined = (/** @type {number} */ at) => columns[at - 1]?.end === columns[at]?.start;
  return columns.filter((_, at) => !joined(at) && (at + 1 === columns.length || !joined(at + 1)));
}

/**
 * Returns a line through the columns' means, broken at missing columns.
 * @param {Column[]} columns
 * @param {Place} middle
 * @param {(value: number) => number} up
 */
export function linePath(columns, middle, up) {
  let path = "";
  columns.forEach((column, at) => {
    const joined = at > 0 && columns[at - 1].end === column.start;
    path += `${joined ? "L" : "M"}${middle(column)} ${up(column.mean)}`;
  });
  return path;
}

/**
 * Returns the band between the minima and the maxima.
 * @param {Column[]} columns
 * @param {Place} middle
 * @param {(value: number) => number} up
 */
export function bandPath(columns, middle, up) {
  /** @type {Column[][]} */
  const stretches = [];
  columns.forEach((column, at) => {
    if (at > 0 && columns[at - 1].end === column.start) stretches[stretches.length - 1].push(column);
    else stretches.push([column]);
  });
  const edge = (/** @type {Column[]} */ stretch, /** @type {Place} */ value) =>
    stretch.map((column) => `${middle(column)} ${up(value(column))}`);
  return stretches
    .map((stretch) => [...edge(stretch, (c) => c.max), ...edge([...stretch].reverse(), (c) => c.min)].join("L"))
    .map((path) => `M${path}z`)
    .join("");
}
