// Tables that are sorted by a click on a heading, or Enter on it.

function sortable(table) {
  table.querySelectorAll("th").forEach((heading, column) => {
    const button = html("button", { type: "button" }, ...heading.childNodes);
    heading.replaceChildren(button);
    button.addEventListener("click", () => sort(table, heading, column));
  });
}

function sort(table, heading, column) {
  const number = heading.classList.contains("number");
  // Numbers begin with the largest, names with the first.
  const usual = number ? "descending" : "ascending";
  const other = number ? "ascending" : "descending";
  const order = heading.getAttribute("aria-sort") === usual ? other : usual;
  table.querySelectorAll("th").forEach((each) => each.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", order);
  const body = table.tBodies[0];
  const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const rows = [...body.rows].map((row) => ({ row, key: key(row) }));
  rows.sort((a, b) => compare(a.key, b.key, number, order === "ascending" ? 1 : -1));
  body.replaceChildren(...rows.map(({ row }) => row));
}

// What is absent comes last, whichever way.
function compare(a, b, number, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  return sign * (number ? Number(a) - Number(b) : a.localeCompare(b));
}
