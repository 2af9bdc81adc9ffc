// Theme, sorting, filtering, search for classes, moving between gaps. Every page works without this script.
"use strict";
const root = document.documentElement;
const folder = document.currentScript.dataset.root;
const stored = {
  get theme() { try { return localStorage.getItem("classhook-theme"); } catch { return null; } },
  set theme(value) { try { localStorage.setItem("classhook-theme", value); } catch { /* pages from disk may have no storage */ } },
};
if (["light", "dark"].includes(stored.theme)) root.dataset.theme = stored.theme;

const SHOWN = 20;
let searchable = null;
/** Returns a name in lower case, with inner classes as in source code: `HashMap.Node`. */
const plain = (name) => name.toLowerCase().replaceAll("$", ".");
/** Called by classes.js with [name, link, covered percent, source file] of every class; adds the search text and the offset of its last part. */
function classes(all) {
  searchable = all.map(([name, link, percent, file]) => ({ name, link, percent, text: plain(`${name} ${file}`), own: name.lastIndexOf(".") + 1 }));
  if (words().length) showClasses();
}

function themes(button) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; button.ariaLabel = `Use the ${button.textContent.toLowerCase()} theme`; };
  button.addEventListener("click", () => {
    stored.theme = root.dataset.theme = isDark() ? "light" : "dark";
    label();
    drawMap();
  });
  dark.addEventListener("change", () => { label(); drawMap(); });
  button.hidden = false;
  label();
}

/** Narrow windows have no room for the counts beside a percentage: a tooltip shows them. */
function counts(table) {
  table.addEventListener("mouseover", ({ target }) => {
    const cell = target.closest("td");
    const count = cell?.querySelector("small");
    if (count) cell.title = `${count.textContent} covered`;
  });
}

/** Returns the tooltip of the mark beside a line; `title` may describe its branches. */
function marks(list) {
  const words = Object.fromEntries([...document.querySelectorAll(".legend > span:not(.keys)")].map((one) => [one.className, one.textContent]));
  list.addEventListener("mouseover", ({ target }) => {
    const anchor = target.closest("a");
    const word = words[anchor?.parentElement.className];
    if (word && !anchor.title.startsWith(word)) anchor.title = [word, anchor.title].filter(Boolean).join(", ");
  });
}

/** Opens the class that a link refers to, also in a file with many classes. */
function reveal() {
  let name = location.hash.slice(1);
  try { name = decodeURIComponent(name); } catch { /* a truncated address */ }
  const place = document.getElementById(name);
  const details = place?.closest("details");
  if (details && !details.open) { details.open = true; place.scrollIntoView(); }
}

/** The address contains the filter and the order, so that a link shows the same page. */
function remember(name, value) {
  const address = new URL(location.href);
  if (value) address.searchParams.set(name, value);
  else address.searchParams.delete(name);
  try { history.replaceState(history.state, "", address); } catch { /* some browsers refuse it for pages from disk */ }
}
const remembered = (name) => new URL(location.href).searchParams.get(name) ?? "";

/** Buttons in the table heads sort all tables of the page, which have the same columns. */
function sorting(tables) {
  const heads = (table) => [...table.tHead.rows[0].cells];
  for (const table of tables) {
    table.classList.add("sortable");
    heads(table).forEach((head, column) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: head.textContent });
      button.addEventListener("click", () => {
        const first = column >= heads(table).length - 2 ? "descending" : "ascending"; // most missed first
        const other = first === "ascending" ? "descending" : "ascending";
        const direction = head.ariaSort === first ? other : first;
        tables.forEach((one) => sort(one, column, direction));
        remember("sort", (direction === "descending" ? "-" : "") + head.textContent);
      });
      head.replaceChildren(button);
    });
  }
  const [, minus, title] = remembered("sort").match(/^(-?)(.*)$/s);
  for (const table of tables) {
    const column = heads(table).findIndex((head) => head.textContent === title);
    if (column >= 0) sort(table, column, minus ? "descending" : "ascending");
  }
}

function sort(table, column, direction) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row) => {
    const cell = row.cells[column];
    if (column === 0) return cell.firstElementChild.textContent.toLowerCase();
    const [covered, total = 1] = (cell.querySelector("small") ?? cell).textContent.split(" / ").map((text) => text.replaceAll(",", ""));
    return covered === "–" ? -1 : covered / total; // rows without items first
  };
  heads.forEach((one) => one.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const rows = [...body.rows].map((row) => [value(row), row]);
  rows.sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0));
  const sorted = document.createDocumentFragment(); // causes a single layout, not one for each row
  sorted.append(...rows.map(([, row]) => row));
  body.replaceChildren(sorted);
}

const words = () => plain(document.getElementById("filter").value).split(/\s+/).filter(Boolean);
const matches = (text, all) => all.every((word) => text.includes(word));

function filtering(input) {
  const rows = [...document.querySelectorAll(".rows tbody tr")];
  let names = null;
  const output = document.querySelector("output");
  input.addEventListener("input", () => {
    const all = words();
    let shown = 0;
    remember("filter", input.value.trim());
    names ??= rows.map((row) => plain(`${row.cells[0].textContent} ${row.cells[0].title}`));
    rows.forEach((row, index) => {
      const hidden = !matches(names[index], all);
      if (row.hidden !== hidden) row.hidden = hidden;
      shown += !hidden;
    });
    output.textContent = all.length ? `${shown} of ${rows.length}` : "";
    if (all.length) document.querySelectorAll("details.class").forEach((details) => { details.open = true; });
    if (!input.dataset.search) return;
    if (searchable) showClasses();
    else load();
  });
  // The search data is loaded before the first letter is typed.
  const load = () => {
    if (!input.dataset.search || document.getElementById("classes")) return;
    document.head.append(Object.assign(document.createElement("script"), { id: "classes", src: input.dataset.search }));
  };
  input.addEventListener("focus", load);
  addEventListener("load", () => (window.requestIdleCallback ?? setTimeout)(load));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") {
      const first = document.querySelector("#found a, .rows tbody tr:not([hidden]) a");
      if (first && event.key === "Enter") first.click();
      else first?.focus();
      event.preventDefault();
    } else if (event.key === "Escape") {
      input.value = "";
      input.dispatchEvent(new Event("input"));
      input.blur();
    }
  });
  input.closest("[hidden]").hidden = false;
  input.value ||= remembered("filter");
  if (input.value) input.dispatchEvent(new Event("input"));
}

function showClasses() {
  const all = words();
  const place = document.getElementById("found");
  const found = all.length ? searchable.filter(({ text }) => matches(text, all)) : [];
  // Classes whose simple name starts with the last word come first, then those that contain it; shorter names first.
  const rank = ({ text, own }) => {
    const at = text.indexOf(all.at(-1), own) - own;
    return (at === 0 ? 0 : at > 0 ? 1 : 2) * 1e4 + text.length;
  };
  const first = found.map((one) => [rank(one), one]).sort(([a], [b]) => a - b).slice(0, SHOWN);
  const list = document.createElement("ul");
  for (const [, { name, link, percent }] of first) {
    const anchor = Object.assign(document.createElement("a"), { href: folder + link });
    const part = Object.assign(document.createElement("small"), { textContent: `${percent}%` });
    anchor.append(Object.assign(document.createElement("span"), { textContent: name }), part);
    const item = document.createElement("li");
    item.append(anchor);
    list.append(item);
  }
  place.replaceChildren(...(found.length ? [list] : []));
  if (!all.length) return;
  const packages = document.querySelectorAll(".rows tbody tr:not([hidden])").length;
  const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;
  const more = found.length > SHOWN ? `, the first ${SHOWN} shown` : "";
  document.querySelector("output").textContent =
    `${count(packages, "package", "packages")}, ${count(found.length, "class", "classes")}${more}`;
}

let lines = [];
const isGap = (line) => line && (line.className === "n" || line.className === "p");
const number = (line) => Number(line.id.slice(1));

/** Returns the first lines of runs of missed or partly covered lines. */
function gaps() {
  const follows = (line, before) => before?.className === line.className && number(before) + 1 === number(line);
  return lines.filter((line, index) => isGap(line) && !follows(line, lines[index - 1]));
}

/** Returns the line of the address if it is in view. Otherwise the position of the window counts. */
function current() {
  const named = lines.find((line) => `#${line.id}` === location.hash);
  const isSeen = ({ top, bottom }) => bottom > 0 && top < innerHeight;
  return named && isSeen(named.getBoundingClientRect()) ? named : null;
}

function move(forward) {
  const named = current();
  const top = (line) => (named ? number(line) - number(named) : line.getBoundingClientRect().top);
  const ahead = gaps().filter((line) => line !== named && (forward ? top(line) >= 0 : top(line) < 0));
  const goal = forward ? ahead[0] : ahead.at(-1);
  if (!goal) return;
  location.replace(`#${goal.id}`); // the back button leads to the previous page, not through all gaps
  goal.scrollIntoView({ block: "center" });
}

/** Draws a strip at the edge of the window with the positions of the gaps in the file. */
function drawMap() {
  const map = document.getElementById("map");
  if (!map) return;
  const scale = devicePixelRatio || 1;
  const height = (map.height = map.clientHeight * scale);
  map.width = map.clientWidth * scale;
  const paint = map.getContext("2d");
  const style = getComputedStyle(root);
  const probe = document.querySelector(".legend").appendChild(document.createElement("span"));
  for (const kind of ["f", "p", "n"]) {
    probe.style.color = `var(--${kind})`;
    paint.fillStyle = getComputedStyle(probe).color || style.color;
    lines.forEach((line, index) => {
      if (line.className === kind) paint.fillRect(3 * scale, (index / lines.length) * height, map.width, Math.max(height / lines.length, scale));
    });
  }
  probe.remove();
}

function sourcePage(source) {
  lines = [...source.children];
  const keys = document.querySelector(".keys");
  if (keys) keys.hidden = !gaps().length;
  if (source.matches(".lines")) return; // numbers without text are short
  if (document.body.scrollHeight < 1.5 * innerHeight) return; // the page fits into the window
  const map = Object.assign(document.createElement("canvas"), { id: "map", ariaHidden: "true" });
  map.addEventListener("click", (event) => {
    const part = event.offsetY / map.clientHeight;
    lines[Math.floor(part * lines.length)]?.scrollIntoView({ block: "center" });
  });
  document.body.append(map);
  addEventListener("resize", drawMap);
  drawMap();
}

addEventListener("DOMContentLoaded", () => {
  themes(document.getElementById("theme"));
  const tables = [...document.querySelectorAll(".rows")];
  sorting(tables);
  tables.forEach(counts);
  const input = document.getElementById("filter");
  if (input) filtering(input);
  const source = document.querySelector(".source, .lines");
  if (source) sourcePage(source);
  document.querySelectorAll(".source, .lines").forEach(marks);
  addEventListener("hashchange", reveal);
  reveal();
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
  const input = document.getElementById("filter");
  if (event.key === "/" && input) { event.preventDefault(); input.focus(); input.select(); }
  else if (event.key === "n") move(true);
  else if (event.key === "p") move(false);
});
