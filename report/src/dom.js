// Building the page. Text goes in as text nodes only: whatever the data are called, they cannot become markup.

/** An element with attributes and children; a child that is a string becomes a text node, null is left out. */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== undefined && value !== null && value !== false) node.setAttribute(key, value === true ? "" : String(value));
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}

/** A number for people: four digits, whole numbers with groups. */
export function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (typeof x !== "number") return String(x);
  if (Number.isInteger(x)) return Math.abs(x) < 1e12 ? x.toLocaleString("en-GB") : x.toExponential(3);
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-3) return x.toExponential(2);
  return size >= 100 ? x.toFixed(1) : size >= 10 ? x.toFixed(2) : x.toFixed(4);
}

/** Bytes for people. */
export function bytes(x) {
  if (x === null) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; x >= 1024 && unit + 1 < units.length; unit++) x /= 1024;
  return `${x >= 100 || unit === 0 ? x.toFixed(0) : x.toFixed(1)} ${units[unit]}`;
}

/** Seconds for people. */
export function seconds(x) {
  if (x === null) return "–";
  return x < 0.001 ? "under 1 ms" : x < 1 ? `${(1000 * x).toFixed(0)} ms` : x < 100 ? `${x.toFixed(2)} s` : `${x.toFixed(0)} s`;
}

/** "1 sample", "2,000 samples". */
export const count = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;

/** A text of at most `most` characters. */
export const short = (text, most = 28) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

let sections = 0;

/** A section with a heading that the list of contents can point at. */
export function section(title, ...children) {
  return el("section", {id: `s${++sections}`}, el("h2", {}, title), ...children);
}

export const note = (text) => (text ? el("p", {class: "note"}, text) : null);
