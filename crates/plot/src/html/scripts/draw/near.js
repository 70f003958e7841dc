// Work that is put off until the reader comes near.
// @ts-check

import { whenEnded } from "./window.js";

/** How far from the window things are built. */
const NEAR = "400px";

/**
 * Calls a function once an element comes near the window.
 * @param {Element} element
 * @param {() => void} then
 */
export function whenNear(element, then) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    then();
  }, { rootMargin: NEAR });
  observer.observe(element);
  // Else it would keep what it waits for.
  whenEnded(() => observer.disconnect());
}
