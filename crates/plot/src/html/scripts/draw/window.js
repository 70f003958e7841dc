// What charts and pages do at events of the window, until the page is drawn anew.
// @ts-check

/** What ends all of them. */
export const drawing = { ended: new AbortController() };

/**
 * Calls a function before the page is drawn anew.
 * @param {() => void} then
 */
export function whenEnded(then) {
  drawing.ended.signal.addEventListener("abort", then, { once: true });
}

/**
 * Calls a function at an event of the window, until all of them are forgotten.
 * @param {string} name
 * @param {() => void} then
 */
export function whenWindow(name, then) {
  addEventListener(name, then, { signal: drawing.ended.signal });
}
