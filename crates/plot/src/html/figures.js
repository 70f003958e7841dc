// The page of a comparison, a trend or a sweep: its scheme, the pages that are shown on demand, and the order of its table.
"use strict";

(() => {
  const root = document.documentElement;
  const isDark = matchMedia("(prefers-color-scheme: dark)");

  document.getElementById("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (isDark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });

  // Further pages stand in the file as text, for readers without scripts and for the printer.
  const slots = [...document.querySelectorAll(".sheet-slot")];
  const fill = (slot) => {
    if (!slot.querySelector(".sheet")) slot.insertAdjacentHTML("beforeend", slot.querySelector("noscript").textContent);
  };
  for (const slot of slots) {
    const button = slot.querySelector("button");
    button.addEventListener("click", () => {
      fill(slot);
      button.setAttribute("aria-expanded", String(slot.classList.toggle("shown")));
    });
  }
  addEventListener("beforeprint", () => slots.forEach(fill));

  // Absent cells come last in either order.
  const compare = (a, b, isNumber, sign) => {
    if (a === "" || b === "") return Number(a === "") - Number(b === "");
    return sign * (isNumber ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true }));
  };
  // The first click puts the best first, the second the worst.
  const sort = (table, heading, column) => {
    const best = heading.dataset.best;
    const other = best === "ascending" ? "descending" : "ascending";
    const order = heading.getAttribute("aria-sort") === best ? other : best;
    table.querySelectorAll("th").forEach((each) => each.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", order);
    const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const isNumber = heading.classList.contains("number");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => compare(key(a), key(b), isNumber, order === "ascending" ? 1 : -1));
    table.tBodies[0].replaceChildren(...rows);
  };
  for (const table of document.querySelectorAll("table"))
    table.querySelectorAll("thead th").forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading, column));
      heading.replaceChildren(button);
    });

  root.classList.add("live");
})();
