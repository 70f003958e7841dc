// The order of a table's rows.
// @ts-check

/**
 * Compares two cells; absent ones come last in either direction.
 * @param {string} a
 * @param {string} b
 * @param {boolean} number
 * @param {1 | -1} sign 1 for ascending order
 */
export function compareCells(a, b, number, sign) {
  if (a === "" || b === "") return Number(a === "") - Number(b === "");
  return sign * (number ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true }));
}

/**
 * Returns the order after a click on a column's heading: the best first, then the other way round.
 * @param {string | null} now the present order by this column
 * @param {"ascending" | "descending"} best
 */
export function nextOrder(now, best) {
  const other = best === "ascending" ? "descending" : "ascending";
  return now === best ? other : best;
}
