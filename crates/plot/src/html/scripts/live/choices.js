// What a reader chose on a page: the order of tables, lines that are hidden, the label that is picked, printed pages.
// @ts-check

/** @typedef {{ sorts: Map<string, { at: number, order: string }>, hidden: Set<string>, picked: string[], sheets: boolean[] }} Choices */

/** How often a heading is pressed at most until its order is the one that was chosen. */
const PRESSES = 3;

/**
 * Returns what was chosen.
 * @param {HTMLElement} main
 * @returns {Choices}
 */
export function choicesOf(main) {
  const sorts = new Map();
  for (const [name, table] of namedTables(main)) {
    const headings = headingsOf(table);
    const at = headings.findIndex((heading) => heading.hasAttribute("aria-sort"));
    if (at >= 0) sorts.set(name, { at, order: headings[at].getAttribute("aria-sort") ?? "" });
  }
  const hidden = new Set(linesOf(main).filter(({ button }) => button.getAttribute("aria-pressed") === "false").map(({ name }) => name));
  const picked = pickers(main).map((select) => select.selectedOptions[0]?.text ?? "");
  return { sorts, hidden, picked, sheets: slotsOf(main).map((slot) => slot.classList.contains("shown")) };
}

/**
 * Chooses the same on another state of the page.
 * @param {HTMLElement} main
 * @param {Choices} choices
 */
export function chooseAgain(main, { sorts, hidden, picked, sheets }) {
  for (const [name, table] of namedTables(main)) {
    const sort = sorts.get(name);
    if (sort) sortAgain(headingsOf(table)[sort.at], sort.order);
  }
  slotsOf(main).forEach((slot, at) => sheets[at] && slot.querySelector("button")?.click());
  // Its charts come with the label.
  pickers(main).forEach((select, at) => pickAgain(select, picked[at]));
  for (const { name, button } of linesOf(main)) {
    if (hidden.has(name) && button.getAttribute("aria-pressed") === "true") button.click();
  }
}

/**
 * @param {HTMLElement | undefined} heading
 * @param {string} order
 */
function sortAgain(heading, order) {
  const button = heading?.querySelector("button");
  for (let press = 0; press < PRESSES && heading?.getAttribute("aria-sort") !== order; press++) button?.click();
}

/**
 * @param {HTMLSelectElement} select
 * @param {string | undefined} label
 */
function pickAgain(select, label) {
  const option = [...select.options].find(({ text }) => text === label);
  if (!option || option.selected) return;
  option.selected = true;
  select.dispatchEvent(new Event("change"));
}

/**
 * Returns the tables, each named by its headings and by how many of that name stand before it.
 * @param {HTMLElement} main
 * @returns {Map<string, HTMLTableElement>}
 */
function namedTables(main) {
  const named = new Map();
  for (const table of main.querySelectorAll("table")) {
    const words = headingsOf(table).map((heading) => heading.textContent).join("|");
    let number = 0;
    while (named.has(`${words} ${number}`)) number++;
    named.set(`${words} ${number}`, table);
  }
  return named;
}

/**
 * @param {HTMLTableElement} table
 * @returns {HTMLElement[]}
 */
function headingsOf(table) {
  return [...table.querySelectorAll("thead th")].map((heading) => /** @type {HTMLElement} */ (heading));
}

/**
 * Returns the entries of the charts' keys, named by chart and line.
 * @param {HTMLElement} main
 */
function linesOf(main) {
  return [...main.querySelectorAll(".chart")].flatMap((chart) => {
    const heading = chart.querySelector("h4")?.textContent;
    const buttons = /** @type {NodeListOf<HTMLElement>} */ (chart.querySelectorAll(".key button"));
    return [...buttons].map((button) => ({ name: `${heading}|${button.querySelector(".name")?.textContent}`, button }));
  });
}

/**
 * Returns the places of printed pages.
 * @param {HTMLElement} main
 */
function slotsOf(main) {
  return [...main.querySelectorAll(".sheet-slot")];
}

/**
 * @param {HTMLElement} main
 * @returns {HTMLSelectElement[]}
 */
function pickers(main) {
  return [...main.querySelectorAll("select")];
}
