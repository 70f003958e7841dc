// Another state of the page in the place of this one, so that nothing flickers, jumps or is kept.
// @ts-check

import { drawing } from "../draw/window.js";
import { drawPage } from "../page/main.js";
import { unpacked } from "../page/packed.js";
import { chooseAgain, choicesOf } from "./choices.js";

/** How long, in ms, charts may take until they are shown anyway. */
const SLOW = 1000;

/** What was chosen on a state that is not drawn to its end yet. */
const chosen = { unsettled: /** @type {import("./choices.js").Choices | null} */ (null) };

/**
 * Shows another state of the page. Its charts are drawn out of sight, so that nothing flickers.
 * @param {Document} other
 */
export async function replacePage(other) {
  const [main, next] = [mainPart(document), mainPart(other)];
  /** @type {HTMLElement[]} */
  const hosts = [];
  const choices = chosen.unsettled ?? choicesOf(main);
  chosen.unsettled = choices;
  const kept = [...main.querySelectorAll("details")].map(({ open }) => open);
  next.querySelectorAll("details").forEach((details, at) => (details.open = kept[at] ?? false));
  // Charts below and above the window are not drawn, and take their room all the same.
  for (const host of main.querySelectorAll("[id^=live-], [id^=failing-], [id^=load-]")) {
    const same = next.querySelector(`#${host.id}`);
    if (!(same instanceof HTMLElement)) continue;
    same.style.minHeight = `${host.clientHeight}px`;
    hosts.push(same);
  }
  // Nothing is to keep what was drawn, or to unpack the data of before.
  drawing.ended.abort();
  drawing.ended = new AbortController();
  unpacked.clear();
  for (const part of ["#index", "#series-0", "#detail-0", ".facts", "nav"]) {
    const found = other.querySelector(part);
    if (found) document.querySelector(part)?.replaceWith(found);
  }
  const { offsetTop, offsetLeft, offsetWidth } = main;
  Object.assign(next.style, { position: "absolute", visibility: "hidden", top: `${offsetTop}px`, left: `${offsetLeft}px`, width: `${offsetWidth}px` });
  // Scripts find the first of two elements of the same id.
  main.before(next);
  const drawn = drawPage().then(() => {
    chooseAgain(next, choices);
    chosen.unsettled = null;
  });
  await Promise.race([drawn, pause(SLOW)]);
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (const name of ["position", "visibility", "top", "left", "width"]) next.style.removeProperty(name);
  main.remove();
  if (next.querySelector(".built")) hosts.forEach((host) => host.style.removeProperty("min-height"));
}

/**
 * Returns the part of a page that is drawn anew.
 * @param {Document} page
 */
export function mainPart(page) {
  const main = page.querySelector("main");
  if (!main) throw new Error("the page has no main part");
  return main;
}

/** @param {number} ms */
export function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
