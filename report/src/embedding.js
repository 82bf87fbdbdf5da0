// Maps of the samples: a panel per view and one of all views together, coloured by class, by answer, or by right and wrong.
import {el, number, section} from "./dom.js";
import {COLOURS, Plot, UNKNOWN, colour, figure, legend, symbol} from "./chart.js";

const RIGHT = ["right", "wrong"];

/** The ways samples can be coloured: [what, names, number of the name per point]. */
function colourings(maps) {
  const ways = [];
  if (maps.class) ways.push([maps.class_is, maps.names, maps.class]);
  if (maps.answer) ways.push([maps.answers_are, maps.names, maps.answer]);
  if (maps.class && maps.answer && maps.comparable)
    ways.push(["right and wrong answers", RIGHT, maps.class.map((c, i) => (c < 0 || maps.answer[i] < 0 ? -1 : c === maps.answer[i] ? 0 : 1))]);
  if (!ways.length) ways.push(["nothing", [], maps.id.map(() => -1)]);
  return ways;
}

const fillOf = (names, i) => (i < 0 ? UNKNOWN : names === RIGHT ? [UNKNOWN, COLOURS[3]][i] : colour(i));
const symbolOf = (names, i) => (names === RIGHT || i < 0 ? "circle" : symbol(i));

function tell(maps, i) {
  const name = (k) => (k >= 0 ? maps.names[k] : "unknown");
  return [maps.id[i], maps.class ? `${maps.class_is}: ${name(maps.class[i])}` : null, maps.answer ? `${maps.answers_are}: ${name(maps.answer[i])}` : null,
          maps.seen && maps.seen[i] ? "its label was seen" : null].filter(Boolean).join("\n");
}

/** One panel; `way()` is the colouring that is chosen now. */
function panel(maps, view, way) {
  const points = view.x.map((x, i) => ({x, y: view.y[i], i})).filter((point) => point.x !== null);
  const make = (width) => {
    const [, names, code] = way(), size = Math.min(width, 560);
    const drawn = names === RIGHT ? [...points].sort((a, b) => code[a.i] - code[b.i]) : points;
    return {
      width: size, height: Math.max(220, 0.78 * size), margin: 10, axis: null, x: {inset: 6}, y: {inset: 6},
      marks: [
        Plot.frame({stroke: "var(--line)"}),
        Plot.dot(drawn, {x: "x", y: "y", r: points.length > 600 ? 2.2 : 3.2, fill: (point) => fillOf(names, code[point.i]), symbol: (point) => symbolOf(names, code[point.i]),
                         fillOpacity: (point) => (code[point.i] < 0 ? 0.35 : 0.75)}),
        maps.seen ? Plot.dot(drawn.filter((point) => maps.seen[point.i]), {x: "x", y: "y", r: points.length > 600 ? 3.2 : 4.2, stroke: "var(--ink)", strokeWidth: 0.8, strokeOpacity: 0.7}) : null,
        Plot.tip(drawn, Plot.pointer({x: "x", y: "y", title: (point) => tell(maps, point.i)}))
      ],
      symbol: {type: "identity"}, color: {type: "identity"}, opacity: {type: "identity"}
    };
  };
  return figure(view.title, view.note, make, {lone: false});
}

export function maps(data) {
  const maps = data.maps;
  if (!maps || !maps.panels.length) return null;
  const ways = colourings(maps);
  let chosen = 0;
  const figures = maps.panels.map((view) => panel(maps, view, () => ways[chosen])), key = el("div");
  const show = () => {
    const [, names] = ways[chosen], used = new Set(ways[chosen][2]);
    const shown = names.map((name, i) => [name, i]).filter(([, i]) => used.has(i));
    key.replaceChildren(legendOf(names, shown, used.has(-1)));
    for (const figure of figures) figure.redraw();
  };
  const select = el("select", {}, ways.map(([what], i) => el("option", {value: i}, what)));
  select.addEventListener("change", () => { chosen = Number(select.value); show(); });
  const choices = ways.length > 1 ? el("label", {class: "choices"}, "coloured by", select) : null;
  queueMicrotask(show);
  const drawn = maps.drawn < maps.of ? ` ${number(maps.drawn)} of ${number(maps.of)} samples are drawn, chosen at random with seed ${maps.seed}; the axes are those of ${maps.axes_from < maps.of ? `${number(maps.axes_from)} samples` : "all"}.` : "";
  const words = `Each point is a sample, near to others that look alike in this view.${drawn}` + (maps.seen ? " Rings mark samples whose label was seen." : "") + (maps.remark ? ` ${maps.remark}` : "");
  return section("What the views look like", el("p", {class: "note"}, words), choices, key, el("div", {class: "grid"}, figures));
}

function legendOf(names, shown, unknown) {
  const list = legend(shown.map(([name]) => name), {colours: shown.map(([, i]) => fillOf(names, i)), signs: shown.map(([, i]) => symbolOf(names, i))});
  if (unknown) list.append(...legend(["unknown"], {colours: [UNKNOWN]}).children);
  return list;
}
