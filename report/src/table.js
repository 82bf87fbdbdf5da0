// Tables whose rows are sorted by a click on a heading; long ones show their beginning first.
import {el, number} from "./dom.js";

const SHOWN = 12;

const isNumber = (column, rows) => rows.some((row) => typeof row[column] === "number") &&
  rows.every((row) => row[column] === null || typeof row[column] === "number");

/** Numbers by size, texts by the alphabet; what is missing comes last either way. */
function compare(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true});
  return down ? -order : order;
}

/** columns: names; rows: lists of texts, numbers and null; formats: per column a function, mark(row, column): class. */
export function table(allColumns, rows, {caption = null, formats = {}, mark = () => null, shown = SHOWN} = {}) {
  const used = allColumns.map((_, c) => c).filter((c) => c === 0 || rows.some((row) => row[c] !== null && row[c] !== "")); // empty columns tell nothing
  const columns = used.map((c) => allColumns[c]);
  const numeric = used.map((c) => isNumber(c, rows)), long = used.map((c) => rows.some((row) => typeof row[c] === "string" && row[c].length > 36));
  const body = el("tbody");
  let order = rows, all = rows.length <= shown + 3;
  const draw = () => body.replaceChildren(...(all ? order : order.slice(0, shown)).map((row) =>
    el("tr", {}, used.map((c, k) => cell(row, c, k)))));
  const cell = (row, c, k) => {
    const classes = [numeric[k] ? "number" : null, long[k] ? "long" : null, mark(row, c)].filter(Boolean).join(" ");
    const text = formats[c] ? formats[c](row[c], row) : number(row[c]);
    return k === 0 ? el("th", {scope: "row", class: classes || null}, text) : el("td", {class: classes || null}, text);
  };
  const heads = columns.map((name, k) => el("th", {scope: "col", class: numeric[k] ? "number" : null},
                                            el("button", {type: "button", title: "sort by this column"}, name)));
  heads.forEach((head, k) => head.firstChild.addEventListener("click", () => {
    const now = head.getAttribute("aria-sort"), falls = now ? now === "ascending" : numeric[k], c = used[k];
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    order = rows.map((row, i) => [row, i]).sort((a, b) => compare(a[0][c], b[0][c], falls) || a[1] - b[1]).map((pair) => pair[0]);
    draw();
  }));
  draw();
  const box = el("div", {class: "tablebox"}, el("table", {}, caption ? el("caption", {}, caption) : null,
                                                el("thead", {}, el("tr", {}, heads)), body));
  if (all) return box;
  const more = el("button", {type: "button", class: "plain"}, `show all ${number(rows.length)} rows`);
  more.addEventListener("click", () => { all = true; more.remove(); draw(); });
  return el("div", {}, box, more);
}

/** The same behind a line that opens it. */
export const foldedTable = (summary, columns, rows, options) =>
  el("details", {}, el("summary", {}, summary), table(columns, rows, options));
