// How good answers are: confusion matrix, classes, calibration, quality by the views that are there.
import {note, number, section, short} from "./dom.js";
import {COLOURS, Plot, figure, fitTo, legend, roomFor} from "./chart.js";
import {records, sentence} from "./records.js";
import {foldedTable, table} from "./table.js";

const MOST_NUMBERS = 16;

/** Cells of the confusion matrix with the share of their row. */
function confusionCells(part) {
  const answers = part.columns.slice(1);
  return part.rows.flatMap((row) => {
    const sum = row.slice(1).reduce((a, b) => a + (b ?? 0), 0);
    return answers.map((answer, c) => ({known: row[0], answer, count: row[c + 1] ?? 0, share: sum ? (row[c + 1] ?? 0) / sum : 0}));
  });
}

/** A matrix of counts, in a stronger colour where more of the row is. Cells too small for names of their columns have none. */
function matrix(title, words, cells, known, answers) {
  const numbers = answers.length <= MOST_NUMBERS, square = known.length === answers.length && known.every((name, i) => name === answers[i]);
  const make = (width) => {
    const left = roomFor(known, width), most = Math.min(width, 700) - left, named = (most - 60) / answers.length >= 13, right = numbers || !named ? 10 : 60;
    const size = Math.min(64, (most - right) / answers.length), tall = Math.max(13, size), turned = answers.some((answer) => answer.length * 6.6 > size);
    const top = !named ? 8 : turned ? Math.min(130, 16 + 4.6 * Math.max(...answers.map((answer) => Math.min(answer.length, 24)))) : 30;
    return {
      width: Math.min(width, left + answers.length * size + right), height: known.length * tall + top + 4,
      marginLeft: left, marginTop: top, marginRight: right, marginBottom: 4, padding: 0.04,
      x: {domain: answers, axis: named ? "top" : null, label: null, tickSize: 0, tickRotate: turned ? -40 : 0, tickFormat: (text) => short(text, 24)},
      y: {domain: known, label: null, tickSize: 0, tickFormat: fitTo(left)},
      marks: [
        Plot.cell(cells, {x: "answer", y: "known", fill: "var(--empty)", fillOpacity: 0.5}),
        Plot.cell(cells, {x: "answer", y: "known", fill: "var(--accent)", fillOpacity: (cell) => cell.share,
                          title: (cell) => `${cell.known}, ${cell.answer}: ${number(cell.count)} (${number(100 * cell.share)} % of ${cell.known})`}),
        numbers ? Plot.text(cells.filter((cell) => cell.count), {x: "answer", y: "known", text: (cell) => number(cell.count),
                                                                 fill: (cell) => (cell.share > 0.55 ? "var(--page)" : "currentColor")}) : null
      ],
      opacity: {type: "identity"}, color: {type: "identity"}
    };
  };
  return figure(title, words + (square && !numbers ? " Columns are in the order of the rows." : ""), make);
}

export function confusion(part) {
  const cells = confusionCells(part), known = part.rows.map((row) => row[0]), answers = part.columns.slice(1);
  const right = cells.filter((cell) => cell.known === cell.answer).reduce((a, cell) => a + cell.count, 0);
  const all = cells.reduce((a, cell) => a + cell.count, 0);
  const worst = cells.filter((cell) => cell.known !== cell.answer && cell.count).sort((a, b) => b.count - a.count)[0];
  const words = `A row is a known class, a column an answer; the stronger the colour, the more of the row. ${number(right)} of ${number(all)} lie on ` +
    "the diagonal and are right. " + (worst ? `The most frequent mistake: ${worst.known} taken for ${worst.answer}, ${number(worst.count)} times.` : "");
  return section("Where it is wrong", matrix(`${part.title}.`, words, cells, known, answers), foldedTable("as a table", part.columns, part.rows));
}

/** Clusters beside classes: clusters in the order of the class they hold most of, so that the large counts lie on a diagonal. */
export function clusters(part) {
  const cells = confusionCells(part), known = part.rows.map((row) => row[0]), names = part.columns.slice(1);
  const home = (name) => known.map((k) => cells.find((cell) => cell.known === k && cell.answer === name).count).reduce((best, x, i, all) => (x > all[best] ? i : best), 0);
  const order = [...names].sort((a, b) => home(a) - home(b));
  return section(part.title, matrix("", "A row is a known class, a column a cluster; the stronger the colour, the more of the row. A class in one strong cell was found; a class in several pale ones was split.",
                                    cells, known, order), foldedTable("as a table", part.columns, part.rows));
}

export function classes(part) {
  const rows = records(part), names = rows.map((row) => row.class);
  const points = rows.flatMap((row) => ["precision", "recall", "f1"].map((metric) => ({name: row.class, metric, value: row[metric]})))
    .filter((point) => point.value !== null);
  const weakest = rows.filter((row) => row.f1 !== null).sort((a, b) => a.f1 - b.f1)[0];
  const words = "Precision: of what was answered so, how much is right. Recall: of what is so, how much was found. F1: their harmonic mean. " +
    (weakest ? `Weakest: ${weakest.class} with an F1 of ${number(weakest.f1)} over ${number(weakest.samples)} samples.` : "");
  const make = (width) => {
    const left = roomFor(names, width);
    return {
      marginLeft: left, height: 46 + 26 * names.length, marginBottom: 36,
      x: {domain: [0, 1], grid: true, label: "share"}, y: {domain: names, label: null, tickFormat: fitTo(left), tickSize: 0},
      color: {domain: ["precision", "recall", "f1"], range: COLOURS.slice(0, 3)},
      symbol: {domain: ["precision", "recall", "f1"], range: ["circle", "square", "diamond"]},
      marks: [
        Plot.ruleY(rows, {y: "class", x1: (row) => Math.min(row.precision ?? 0, row.recall ?? 0),
                          x2: (row) => Math.max(row.precision ?? 0, row.recall ?? 0), stroke: "var(--quiet)"}),
        Plot.dot(points, {x: "value", y: "name", fill: "metric", symbol: "metric", r: 4.5,
                          title: (point) => `${point.name}: ${point.metric} ${number(point.value)}`})
      ]
    };
  };
  return section(part.title, figure("", words, make), legend(["precision", "recall", "F1"]),
                 (names.length > 20 ? foldedTable : (_, ...rest) => table(...rest))("as a table", part.columns, part.rows));
}

export function calibration(part) {
  const rows = records(part).filter((row) => row.samples > 0 && row.probability !== null)
    .map((row) => ({...row, error: Math.sqrt(Math.max(row.right * (1 - row.right), 0.25 / row.samples) / row.samples)}));
  const gap = rows.reduce((sum, row) => sum + row.samples * (row.right - row.probability), 0) / rows.reduce((sum, row) => sum + row.samples, 0);
  const verdict = Math.abs(gap) < 0.02 ? "On the whole, probabilities can be taken at their word"
    : gap > 0 ? `On the whole the model is too modest: it is right ${number(100 * gap)} points more often than it says`
      : `On the whole the model is too sure: it is right ${number(-100 * gap)} points less often than it says`;
  const words = `Each point is a range of probabilities; its height is how often answers of that probability are right, with the standard ` +
    `error, its size how many there are. On the line a probability can be taken at its word. ${verdict}.`;
  const make = (width) => ({
    width: Math.min(width, 460), height: Math.min(width, 460) * 0.86, marginLeft: 46, marginBottom: 40,
    x: {domain: [0, 1], label: "probability the model gives its answer", grid: true}, y: {domain: [0, 1], label: "share that is right", grid: true},
    r: {range: [3, 11]},
    marks: [
      Plot.link([1], {x1: 0, y1: 0, x2: 1, y2: 1, stroke: "var(--quiet)", strokeDasharray: "4 3"}),
      Plot.ruleX(rows, {x: "probability", y1: (row) => Math.max(0, row.right - row.error), y2: (row) => Math.min(1, row.right + row.error), stroke: COLOURS[0]}),
      Plot.dot(rows, {x: "probability", y: "right", r: "samples", fill: COLOURS[0], fillOpacity: 0.75,
                      title: (row) => `${number(row.samples)} samples: said ${number(row.probability)}, right ${number(row.right)}`})
    ]
  });
  return section(part.title, figure("", words, make), foldedTable("as a table", part.columns, part.rows));
}

/** Quality by pattern of present views. */
export function byPattern(part) {
  const rows = records(part).filter((row) => row.right !== null);
  if (rows.length < 2) return null; // nothing to compare
  const names = rows.map((row) => row.views);
  const make = (width) => {
    const left = roomFor(names, width);
    return {
      marginLeft: left, height: 46 + 26 * names.length, marginBottom: 36,
      x: {domain: [0, 1], grid: true, label: "share that is right"}, y: {domain: names, label: null, tickFormat: fitTo(left), tickSize: 0},
      marks: [
        Plot.barX(rows, {x: "right", y: "views", fill: COLOURS[0], fillOpacity: 0.7, insetTop: 3, insetBottom: 3}),
        Plot.ruleY(rows, {y: "views", x1: (row) => Math.max(0, row.right - row.error), x2: (row) => Math.min(1, row.right + row.error), strokeWidth: 1.5}),
        Plot.text(rows, {x: 0, y: "views", text: (row) => number(row.samples), textAnchor: "start", dx: 5, fill: "white"})
      ]
    };
  };
  const words = "How often answers are right, by the views a sample has, with standard errors; the number in a bar counts its samples.";
  return section(part.title, figure("", words, make), foldedTable("as a table", part.columns, part.rows));
}

/** Metrics with their errors, as a table; the main ones also stand above. */
export const quality = (part) => section(part.title, note(sentence(part.note)), table(part.columns, part.rows));

export const measured = (metrics, basis) => (metrics.length ? section("Quality in figures",
  note(basis ? `Measured ${basis}.` : "Measured on the samples whose class the method did not see."),
  table(["metric", "value"], metrics)) : null);
