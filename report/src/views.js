// What views are worth, what they share, which samples have them.
import {count, el, note, number, section} from "./dom.js";
import {COLOURS, Plot, colour, figure, fitTo, legend, roomFor} from "./chart.js";
import {has, records, sentence, stopped} from "./records.js";
import {foldedTable, table} from "./table.js";

/** Points with error bars in one column per name; series is a list of [column, error column, words]. */
function intervals(rows, series, label, domain) {
  const points = rows.flatMap((row) => series.map(([value, error, words], i) => ({name: row.view, value: row[value], error: row[error] ?? 0, words, i})))
    .filter((point) => point.value !== null && point.value !== undefined);
  const step = 18 * series.length + 16;
  return (width) => {
    const names = rows.map((row) => row.view), left = roomFor(names, width);
    const away = (point) => (point.i - (series.length - 1) / 2) * 16;
    const marks = series.flatMap(([, , words], i) => {
      const mine = points.filter((point) => point.words === words);
      const dy = mine.length ? away(mine[0]) : 0;
      return [
        Plot.ruleY(mine, {y: "name", x1: (point) => point.value - point.error, x2: (point) => point.value + point.error, dy, stroke: colour(i), strokeWidth: 2}),
        Plot.dot(mine, {x: "value", y: "name", dy, fill: colour(i), r: 5, symbol: ["circle", "square", "diamond"][i % 3],
                        title: (point) => `${point.name}, ${point.words}: ${number(point.value)} ± ${number(point.error)}`})
      ];
    });
    return {marginLeft: left, height: 44 + step * names.length, marginBottom: 38, x: {grid: true, label, ...domain},
            y: {domain: names, label: null, tickFormat: fitTo(left), tickSize: 0, padding: 0.2}, marks: [Plot.ruleX([0], {stroke: "var(--line)"}), ...marks]};
  };
}

/** explain: what every view contributes. */
function contributions(part) {
  const rows = records(part), falls = [["withheld", "withheld_error", "withheld"], ["permuted", "permuted_error", "permuted"]];
  const first = [...rows].filter((row) => row.withheld !== null).sort((a, b) => b.withheld - a.withheld)[0];
  const words = "The further to the right, the more the answers lose without this view; bars are standard errors. " +
    (first ? `Most is lost without ${first.view}: ${number(first.withheld)} ± ${number(first.withheld_error)}.` : "");
  return section(part.title, note(sentence(part.note)), el("div", {class: "grid wide"},
    el("div", {}, figure("What is lost without a view.", words, intervals(rows, falls, "fall in quality", {zero: true}), {lone: false}), legend(["view withheld", "view permuted"])),
    figure("What a view can do alone.", "Quality with all other views withheld, with standard errors.",
           intervals(rows, [["alone", "alone_error", "alone"]], "quality", {domain: [0, 1]}), {lone: false})),
  table(part.columns, part.rows));
}

/** views: accuracy of a linear classifier on each view. */
function worth(part) {
  const rows = records(part), judged = rows.filter((row) => row.accuracy !== null);
  const caption = "Accuracy of a linear classifier that sees this view alone, by cross-validation on the samples whose class is known, with standard errors.";
  return section("What each view is worth", note(sentence(part.note)),
    judged.length ? figure("", caption, intervals(judged, [["accuracy", "error", "accuracy"]], "accuracy", {domain: [0, 1]})) : null,
    table(part.columns, part.rows));
}

export const viewSection = (part) => (has(part, "withheld") ? contributions(part) : worth(part));

/** Pairs of views as a matrix: how far classifiers agree, how much clusterings share, how far directions correlate. */
export function pairs(part) {
  const rows = records(part), names = [...new Set(rows.flatMap((row) => [row.view, row.other]))];
  const measures = [["kappa", "Do their classifiers agree?", "Cohen's kappa: 0 as by chance, 1 always."],
                    ["mutual", "Do they form the same groups?", "Normalised mutual information of clusterings: 0 unrelated, 1 the same."],
                    ["correlation", "Do they hold the same?", "Largest canonical correlation of the strongest directions: 1 where a direction of one is one of the other."]];
  const one = ([column, title, caption]) => {
    const cells = rows.filter((row) => row[column] !== null).flatMap((row) => [{a: row.view, b: row.other, x: row[column]}, {a: row.other, b: row.view, x: row[column]}]);
    if (!cells.length) return null;
    const make = (width) => {
      const left = roomFor(names, width), size = Math.max(26, Math.min(70, (Math.min(width, 420) - left - 8) / names.length));
      return {
        width: Math.min(width, left + names.length * size + 8), height: 60 + names.length * size, marginLeft: left, marginTop: 56, marginBottom: 4, marginRight: 8, padding: 0.04,
        x: {domain: names, axis: "top", label: null, tickSize: 0, tickRotate: -30, tickFormat: fitTo(70)}, y: {domain: names, label: null, tickSize: 0, tickFormat: fitTo(left)},
        marks: [Plot.cell(names.flatMap((a) => names.map((b) => ({a, b}))), {x: "a", y: "b", fill: "var(--empty)", fillOpacity: 0.5}),
                Plot.cell(cells, {x: "a", y: "b", fill: "var(--accent)", fillOpacity: (cell) => Math.max(0, Math.min(1, cell.x))}),
                Plot.text(cells, {x: "a", y: "b", text: (cell) => cell.x.toFixed(2), fill: (cell) => (cell.x > 0.55 ? "var(--page)" : "currentColor")})]
      };
    };
    return figure(title, caption, make, {lone: false});
  };
  return section("What views share", note(sentence(part.note)), el("div", {class: "grid"}, measures.map(one)), table(part.columns, part.rows));
}

/** Canonical correlations in falling order, a line per pair. */
export function spectrum(part) {
  const rows = records(part).map((row) => ({...row, pair: `${row.view} and ${row.other}`})), names = [...new Set(rows.map((row) => row.pair))];
  const make = () => ({
    height: 260, marginLeft: 44, marginBottom: 38, x: {label: "number of the direction", ticks: Math.min(10, Math.max(...rows.map((row) => row.number))), tickFormat: "d"},
    y: {domain: [0, 1], grid: true, label: "correlation"},
    marks: names.flatMap((pair, i) => {
      const mine = rows.filter((row) => row.pair === pair);
      return [Plot.line(mine, {x: "number", y: "correlation", stroke: colour(i)}), Plot.dot(mine, {x: "number", y: "correlation", fill: colour(i), title: (row) => `${pair}: ${number(row.correlation)}`})];
    })
  });
  return section(part.title, figure("", "The canonical correlations of the strongest directions of two views, largest first: many near 1 mean that the views hold the same.", make),
                 legend(names), foldedTable("as a table", part.columns, part.rows));
}

export const advice = (part) => section(part.title, el("ul", {class: "advice"}, part.rows.map((row) => el("li", {}, stopped(row[0]), el("span", {class: "note"}, stopped(row[1]))))));

/** Which samples have which views: a row per pattern, most frequent first. */
export function presenceMap(data) {
  const {presence, views, samples} = data, names = views.map((view) => view.name);
  if (!presence || !presence.patterns.length) return null;
  const full = presence.patterns.filter((pattern) => pattern.views.length === names.length).reduce((sum, pattern) => sum + pattern.samples, 0);
  const title = full === samples ? `All ${count(samples, "sample has", "samples have")} all views.` : `${number(full)} of ${number(samples)} samples have all views.`;
  if (full === samples) return section("Which samples have which views", el("p", {}, title));
  const rows = presence.patterns.map((pattern, i) => ({...pattern, id: String(i)}));
  const cells = rows.flatMap((row) => names.map((name, v) => ({id: row.id, name, there: row.views.includes(v)})));
  const words = "A row is a pattern, filled where the view is there, with the number of samples that have it." +
    (presence.left ? ` ${count(presence.left, "rarer pattern", "rarer patterns")} with ${count(presence.left_samples, "sample", "samples")} not shown.` : "");
  const make = (width) => {
    const size = Math.max(8, Math.min(90, (Math.min(width, 700) - 110) / names.length)), tall = names.some((name) => name.length * 6.6 > size);
    return {
      width: Math.min(width, 8 + size * names.length + 110), height: (tall ? 70 : 26) + 22 * rows.length + 4, marginLeft: 8, marginRight: 110, marginTop: tall ? 70 : 26, marginBottom: 4, padding: 0.1,
      x: {domain: names, axis: "top", label: null, tickSize: 0, tickRotate: tall ? -40 : 0, tickFormat: fitTo(100)}, y: {domain: rows.map((row) => row.id), axis: null},
      marks: [Plot.cell(cells, {x: "name", y: "id", fill: (cell) => (cell.there ? COLOURS[0] : "var(--empty)"), rx: 2}),
              Plot.text(rows, {y: "id", frameAnchor: "right", textAnchor: "start", dx: 8, text: (row) => `${number(row.samples)} (${(100 * row.samples / samples).toFixed(row.samples < samples / 100 ? 2 : 0)} %)`})]
    };
  };
  return section("Which samples have which views", figure(title, words, make));
}

export const viewTable = (data) => section("The data", note(`${data.name}: ${count(data.samples, "sample", "samples")}, ${count(data.views.length, "view", "views")}` +
  (data.classes ? `, ${count(data.classes, "class", "classes")}, ${number(data.labelled)} labelled` : "") + "."),
  table(["view", "kind", "columns", "samples that have it"], data.views.map((view) => [view.name, view.kind, view.columns, view.samples])));
