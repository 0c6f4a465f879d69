"use strict";
// Tables sort by the column whose head is clicked: numbers as numbers where all are, empty
// cells last. Links to a run open its record.

const cellText = (row, column) => row.cells[column].textContent.trim();

// "+0.0012 ± 0.0003" counts as 0.0012; a key such as 12e4ab... is no number.
function asNumber(text) {
  const found = /^[+\u2212-]?\d+(\.\d+)?(e[+-]?\d+)?(?=$|\s|:)/i.exec(text);
  return found ? Number(found[0].replace("\u2212", "-")) : NaN;
}

function sortTable(head) {
  const body = head.closest("table").tBodies[0];
  const column = [...head.parentNode.children].indexOf(head);
  const down = head.getAttribute("aria-sort") === "ascending";
  const rows = [...body.rows], texts = rows.map((row) => cellText(row, column));
  const numbers = texts.map(asNumber);
  const numeric = texts.every((text, k) => !text || !Number.isNaN(numbers[k]));
  const order = (a, b) => (numeric ? numbers[a] - numbers[b] :
    texts[a].localeCompare(texts[b], undefined, { numeric: true }));
  const places = rows.map((_, k) => k).sort((a, b) => {
    if (!texts[a] || !texts[b]) return !texts[a] - !texts[b];
    return down ? order(b, a) : order(a, b);
  });
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...places.map((k) => rows[k]));
}

for (const head of document.querySelectorAll("table.sortable th")) {
  head.tabIndex = 0;
  head.title = "sort";
  head.addEventListener("click", () => sortTable(head));
  head.addEventListener("keydown", (e) => { if (e.key === "Enter") sortTable(head); });
}

// A target may stand in details that are closed, or be left out by a search.
function reveal(target) {
  for (let part = target; part; part = part.parentElement) {
    part.hidden = false;
    if (part.tagName === "DETAILS") part.open = true;
  }
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  reveal(target);
  target.scrollIntoView();
}
addEventListener("hashchange", openTarget);
openTarget();

// A link to the place where the reader is already opens it too. In a sandboxed frame the
// browser may not follow a fragment: this does.
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest('a[href^="#"]');
  const target = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (!target) return;
  reveal(target);
  if (framed) { event.preventDefault(); target.scrollIntoView(); }
});

// Where the page does not stand in its own folder, addresses of files lead nowhere.
const framed = location.protocol !== "file:" && window.parent !== window;
if (framed) {
  document.body.classList.add("framed");
  for (const link of document.querySelectorAll("a.file")) link.removeAttribute("href");
}

// Long tables show a page of rows at a time; a search shows every row that it finds.
const ROWS = 50, pages = [], field = document.getElementById("search");

class Pages {
  constructor(table) {
    this.body = table.tBodies[0];
    this.shown = ROWS;
    this.more = document.createElement("p");
    this.more.className = "pager";
    for (const [text, rows] of [["more", ROWS], ["all", Infinity]]) {
      const button = document.createElement("button");
      button.textContent = text;
      button.addEventListener("click", () => { this.shown += rows; this.show(); });
      this.more.append(button);
    }
    this.said = document.createElement("span");
    this.more.append(this.said);
    table.after(this.more);
    for (const head of table.querySelectorAll("th")) head.addEventListener("click", () => this.show());
    this.show();
  }

  show() {
    const rows = [...this.body.rows], searching = field && field.value.trim();
    if (!searching) rows.forEach((row, k) => { row.hidden = k >= this.shown; });
    this.more.hidden = Boolean(searching) || this.shown >= rows.length;
    this.said.textContent = Math.min(this.shown, rows.length) + " of " + rows.length + " shown";
  }
}

for (const table of document.querySelectorAll("table.paged")) pages.push(new Pages(table));
addEventListener("beforeprint", () => { for (const one of pages) { one.shown = Infinity; one.show(); } });

// Every word of the search must be in the name of what stays.
function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let hits = 0;
  for (const item of document.querySelectorAll(".item")) {
    item.hidden = !words.every((word) => item.dataset.name.includes(word));
    hits += !item.hidden;
  }
  document.getElementById("hits").textContent = words.length ? hits + " found" : "";
  for (const one of pages) one.show();
}

if (field) {
  field.addEventListener("input", search);
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    field.focus();
  });
}
