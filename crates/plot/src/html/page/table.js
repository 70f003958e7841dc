// Tables that can be sorted by a click on a heading, or Enter on it.

function sortable(table) {
  table.querySelectorAll("th").forEach((heading, column) => {
    const button = html("button", { type: "button" }, ...heading.childNodes);
    heading.replaceChildren(button);
    button.addEventListener("click", () => sort(table, heading, column));
  });
}

function sort(table, heading, column) {
  const number = heading.classList.contains("number");
  // The first click sorts numbers in descending order and names in ascending order.
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

// Compares two values; absent ones come last in either direction.
function compare(a, b, number, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");
  return sign * (number ? Number(a) - Number(b) : a.localeCompare(b));
}
