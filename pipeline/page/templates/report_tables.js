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

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.tagName === "DETAILS") target.open = true;
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
  if (target.tagName === "DETAILS") target.open = true;
  if (framed) { event.preventDefault(); target.scrollIntoView(); }
});

// Where the page does not stand in its own folder, addresses of files lead nowhere.
const framed = location.protocol !== "file:" && window.parent !== window;
if (framed) {
  document.body.classList.add("framed");
  for (const link of document.querySelectorAll("a.file")) link.removeAttribute("href");
}
