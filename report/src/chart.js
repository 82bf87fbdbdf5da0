// What all figures share: colours that the colour-blind can tell apart, symbols where colours run out, sizes that
// follow the page, captions in words.
import * as Plot from "@observablehq/plot";
import {el} from "./dom.js";

/** Okabe and Ito's colours without black and yellow, which vanish on one of the two grounds. */
export const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c6bb1"];
export const UNKNOWN = "#9aa3ad";
const SYMBOLS = ["circle", "triangle", "square", "diamond", "star", "cross", "wye"];

/** Lines that run over each other are told apart by their dashes. */
export const dash = (i) => ["none", "7 3", "2 3", "9 3 2 3"][i % 4];
export const colour = (i) => COLOURS[i % COLOURS.length];
export const symbol = (i) => SYMBOLS[Math.floor(i / COLOURS.length) % SYMBOLS.length];

const drawn = [];
let timer = 0;

function redraw() {
  for (const figure of drawn) figure.draw();
}
window.addEventListener("resize", () => {
  clearTimeout(timer);
  timer = setTimeout(redraw, 120);
});
window.addEventListener("beforeprint", redraw);

/**
 * A figure: a title, a caption that says what is seen, and a plot made anew whenever its width changes.
 * make(width) returns the options of Plot.plot().
 */
export function figure(title, caption, make, {lone = true} = {}) {
  const box = el("div", {class: "plotbox"});
  const node = el("figure", {class: lone ? "lone" : null}, el("figcaption", {}, title ? el("span", {class: "title"}, title) : null,
                                                             title && caption ? " " : null, caption ?? null), box);
  let last = 0;
  const entry = {draw(force = false) {
    const width = Math.floor(box.getBoundingClientRect().width);
    if (!width || (width === last && !force)) return;
    last = width;
    box.replaceChildren(Plot.plot({width, style: {background: "transparent", color: "inherit", fontSize: "12px"},
                                   ariaLabel: title || caption, ariaDescription: caption || title, ...make(width)}));
  }};
  drawn.push(entry);
  node.redraw = () => entry.draw(true);
  return node;
}

/** Once the page is in place and widths are known. */
export const drawAll = redraw;

/** Sign and name of every series. */
export function legend(names, {colours = names.map((_, i) => colour(i)), signs = names.map(() => "circle")} = {}) {
  return el("ul", {class: "legend"}, names.map((name, i) => el("li", {}, sign(colours[i], signs[i]), name)));
}

function sign(fill, kind) {
  return Plot.plot({width: 12, height: 12, margin: 0, axis: null, x: {domain: [0, 1]}, y: {domain: [0, 1]}, ariaHidden: "true",
                    marks: [Plot.dot([[0.5, 0.5]], {fill, symbol: kind, r: 4.5})]});
}

/** A number at an axis: short, also where numbers are tiny. */
export const tick = (x) => (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5) ? x.toExponential(0) : String(+x.toPrecision(3)));

/** Room on the left for the longest of these names, within reason. */
export const roomFor = (names, width) =>
  Math.min(Math.max(40, 16 + 7 * Math.max(0, ...names.map((name) => name.length))), Math.max(70, 0.38 * width));

/** A name cut to the room that roomFor() gave. */
export const fitTo = (room) => (name) => {
  const most = Math.max(4, Math.floor((room - 10) / 7));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
};

export {Plot};
