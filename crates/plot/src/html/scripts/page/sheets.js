// The pages as printed: they stand in the file for readers without scripts and for the printer, and are shown on demand.
// @ts-check

import { whenWindow } from "../draw/window.js";

/**
 * Fills in a printed page.
 * @param {Element} slot
 */
function fill(slot) {
  if (slot.querySelector(".sheet")) return;
  slot.insertAdjacentHTML("beforeend", slot.querySelector("noscript")?.textContent ?? "");
}

/**
 * Makes a button show the printed page below it, and hide it again.
 * @param {Element} slot
 */
function showsSheet(slot) {
  const button = slot.querySelector("button");
  button?.addEventListener("click", () => {
    fill(slot);
    const shown = slot.classList.toggle("shown");
    button.setAttribute("aria-expanded", String(shown));
  });
}

/**
 * Prepares all printed pages.
 * @param {Element} main the part of the document that has them: what is replaced by it must not be kept for the printer
 */
export function prepareSheets(main) {
  const slots = [...main.querySelectorAll(".sheet-slot")];
  slots.forEach(showsSheet);
  whenWindow("beforeprint", () => slots.forEach(fill));
}
