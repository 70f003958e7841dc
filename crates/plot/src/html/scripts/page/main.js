// Entry point: builds the charts from the data in the page.
// @ts-check

import { byId } from "../draw/elements.js";
import { whenNear } from "../draw/near.js";
import { overview } from "./overview.js";
import { readIndex } from "./packed.js";
import { runCharts } from "./run.js";
import { prepareSheets } from "./sheets.js";
import { sortable } from "./table.js";
import { View } from "./view.js";

/** Seconds shown before and after those of a finding, as a share of them, and at least. */
const AROUND = { share: 0.5, least: 5 };

/** The seconds that are looked at. */
export let looked = new View(0, 1);

/** Builds the charts; resolves once those of all runs, which may be far away, are built. */
async function build() {
  const index = readIndex();
  if (!index.runs.length) return;
  const first = Math.min(...index.runs.map((run) => run.first));
  const end = Math.max(...index.runs.map((run) => run.first + run.seconds));
  const view = new View(first, end);
  looked = view;
  const compare = document.getElementById("compare");
  // Not only once it is near: the printer wants it too. Its charts are drawn when they are seen.
  if (compare) requestIdleCallback(() => overview(compare, index, view));
  followFindings(view);
  await Promise.all(index.runs.map((_, at) => new Promise((done) => {
    const host = byId(`live-${at}`);
    whenNear(host, () => runCharts(index, at, host, view).then(() => done(host.classList.add("built"))));
  })));
}

/**
 * Makes the seconds of a finding a link to them.
 * @param {View} view
 */
function followFindings(view) {
  document.querySelectorAll("a[data-from]").forEach((link) => {
    const { from, to } = /** @type {HTMLElement} */ (link).dataset;
    const [first, last] = [Number(from), Number(to) + 1];
    const around = Math.max(AROUND.least, Math.round((last - first) * AROUND.share));
    link.addEventListener("click", () => view.look(first - around, last + around));
  });
}

/** Makes a button change between the light and the dark scheme. */
function followTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
}

/** Draws what the page has by now. */
export function drawPage() {
  const main = document.querySelector("main");
  main?.querySelectorAll("table").forEach(sortable);
  if (main) prepareSheets(main);
  return build();
}

document.documentElement.classList.add("live");
followTheme();
drawPage();
