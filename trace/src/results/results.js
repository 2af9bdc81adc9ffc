"use strict";

// Sorts a table by the pressed column: highest numbers first, reversed on the second press.
const value = (row, column) => {
  const cell = row.cells[column];
  const number = Number(cell.dataset.number ?? cell.textContent.trim());
  return cell.textContent.trim() === "" || Number.isNaN(number) ? cell.textContent.trim() : number;
};
const compare = (one, other) =>
  typeof one === typeof other
    ? typeof one === "number" ? other - one : one.localeCompare(other)
    : typeof one === "number" ? -1 : 1;
for (const title of document.querySelectorAll("th")) {
  title.firstChild.addEventListener("click", () => {
    const body = title.closest("table").tBodies[0];
    const rows = [...body.rows].map((row) => [value(row, title.cellIndex), row]);
    rows.sort(([one], [other]) => compare(one, other));
    const falling = typeof rows[0]?.[0] === "number" ? "descending" : "ascending";
    const again = title.getAttribute("aria-sort") === falling;
    if (again) rows.reverse();
    for (const other of title.parentNode.cells) other.removeAttribute("aria-sort");
    title.setAttribute("aria-sort", again ? (falling === "ascending" ? "descending" : "ascending") : falling);
    body.append(...rows.map(([, row]) => row));
  });
}

const search = document.querySelector("input");
search.addEventListener("input", () => {
  const wanted = search.value.toLowerCase();
  for (const row of document.querySelectorAll("tbody tr")) {
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
  }
});
