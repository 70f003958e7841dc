// The data in the page: an index of all runs, and for each run its seconds and its details, unpacked when needed.
// @ts-check

import { rates } from "../data/by_code.js";
import { Counts } from "../data/counts.js";
import { unpack } from "../data/unpack.js";
import { byId } from "../draw/elements.js";

/** @typedef {import("../types").Index} Index */
/** @typedef {import("../types").Series} Series */
/** @typedef {import("../types").Detail} Detail */
/** @typedef {import("../types").Values} Values */

/** @returns {Index} */
export function readIndex() {
  return JSON.parse(byId("index").textContent ?? "");
}

/** @type {Map<string, Promise<any>>} */
export const unpacked = new Map();

/**
 * Unpacks an element's data, once.
 * @param {string} id
 */
function once(id) {
  let found = unpacked.get(id);
  if (!found) {
    found = unpack(byId(id).textContent ?? "");
    unpacked.set(id, found);
  }
  return found;
}

/**
 * Returns the seconds of a run.
 * @param {number} run
 * @returns {Promise<Series>}
 */
export function seriesOf(run) {
  return once(`series-${run}`);
}

/**
 * Returns the details of a run.
 * @param {number} run
 * @param {number} first the run's first second
 * @returns {Promise<Detail & { counts: Counts }>}
 */
export async function detailOf(run, first) {
  const detail = /** @type {Detail} */ (await once(`detail-${run}`));
  return { ...detail, counts: new Counts(detail.heat, first) };
}

/**
 * Returns a run's counts by second as numbers per second: the last second has none if it is cut short, unless it is the
 * only one.
 * @param {import("../types").RunHead} head
 * @param {number[]} counts
 */
export function perSecond(head, counts) {
  return rates(counts, 1, lasting(head));
}

/**
 * Returns how many seconds of a run are shown, of which the last may be cut short.
 * @param {import("../types").RunHead} head
 */
export function lasting(head) {
  return head.seconds - 1 + head.lastPart;
}

/**
 * Returns values with their first second.
 * @param {number} first
 * @param {(number | null)[]} list
 * @param {number} [width]
 * @returns {Values}
 */
export function valuesFrom(first, list, width = 1) {
  return { first, width, list };
}
