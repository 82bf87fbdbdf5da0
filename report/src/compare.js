// A comparison: who is best where, who is not worse, how it changes with the labels, what it costs, who could not.
import {bytes, count, el, note, number, seconds, section} from "./dom.js";
import {COLOURS, Plot, UNKNOWN, colour, figure, fitTo, legend, roomFor, symbol, dash} from "./chart.js";
import {table} from "./table.js";

const sign = (cell) => (cell.best ? " ★" : cell.level ? " ~" : "");

/** Entries of a block that have a value, best first. */
function standing(data, metric, block) {
  const sense = data.lower[metric] ? 1 : -1;
  return data.entries.map((name, e) => ({name, e, ...data.cells[metric][block][e]})).filter((cell) => cell.mean !== null)
    .sort((a, b) => sense * (a.mean - b.mean));
}

function blockFigure(data, metric, block) {
  const rows = standing(data, metric, block), names = rows.map((row) => row.name), best = rows.find((row) => row.best);
  if (!rows.length) return null;
  const level = rows.filter((row) => row.level && !row.best);
  const words = (best ? `Best: ${best.name} with ${number(best.mean)}${best.sd === null ? "" : ` ± ${number(best.sd)}`}. ` : "") +
    (level.length ? `Not significantly worse: ${level.map((row) => row.name).join(", ")}.` : best && rows.length > 1 ? "All others are significantly worse, or were not tested." : "");
  const runs = rows.flatMap((row) => row.values.filter((value) => value !== null).map((value) => ({name: row.name, value})));
  const make = (width) => {
    const left = roomFor(names.map((name) => `${name}  `), width);
    return {
      marginLeft: left, height: 46 + 24 * rows.length, marginBottom: 36, x: {label: data.metrics[metric], grid: true, nice: true}, color: {type: "identity"},
      y: {domain: names, label: null, tickSize: 0, tickFormat: (name) => fitTo(left - 14)(name) + sign(rows.find((row) => row.name === name))},
      marks: [
        Plot.tickX(runs, {x: "value", y: "name", stroke: UNKNOWN, strokeOpacity: 0.6, insetTop: 6, insetBottom: 6}),
        Plot.ruleY(rows, {y: "name", x1: (row) => row.mean - (row.sd ?? 0), x2: (row) => row.mean + (row.sd ?? 0), stroke: (row) => (row.level ? COLOURS[0] : UNKNOWN), strokeWidth: 2}),
        Plot.dot(rows, {x: "mean", y: "name", r: 5, fill: (row) => (row.level ? COLOURS[0] : UNKNOWN), symbol: (row) => (row.best ? "star" : "circle"),
                        title: (row) => `${row.name}: ${number(row.mean)} ± ${number(row.sd)} over ${count(row.runs, "run", "runs")}`})
      ],
      symbol: {type: "identity"}
    };
  };
  return figure(`${data.blocks[block].name}.`, words, make, {lone: false});
}

/** Share or number of labels as a number: 10% is 10, 5 is 5, anything else is none. */
function labelAmount(text) {
  const match = /^([0-9.]+)(%?)$/.exec(text);
  return match ? {x: Number(match[1]), unit: match[2]} : null;
}

/** A learning curve for every data set with several numbers of labels. */
function learningCurves(data, metric) {
  const sets = [...new Set(data.blocks.map((block) => block.dataset))];
  return sets.map((dataset) => {
    const blocks = data.blocks.map((block, b) => ({...block, b, amount: labelAmount(block.labels)})).filter((block) => block.dataset === dataset && block.amount);
    const units = new Set(blocks.map((block) => block.amount.unit));
    if (blocks.length < 2 || units.size !== 1) return null;
    const points = blocks.flatMap((block) => data.entries.map((name, e) => ({name, e, x: block.amount.x, ...data.cells[metric][block.b][e]})))
      .filter((point) => point.mean !== null).sort((a, b) => a.x - b.x);
    const label = [...units][0] ? "labelled, % of every class" : "labelled, of every class";
    const make = () => ({
      height: 320, marginLeft: 50, marginBottom: 40, x: {label, type: "log", ticks: blocks.map((block) => block.amount.x), tickFormat: (x) => String(x), inset: 8}, y: {label: data.metrics[metric], grid: true},
      color: {type: "identity"}, symbol: {type: "identity"},
      marks: data.entries.flatMap((name, e) => {
        const mine = points.filter((point) => point.e === e);
        return [data.entries.length > 5 ? null : Plot.areaY(mine, {x: "x", y1: (point) => point.mean - (point.sd ?? 0), y2: (point) => point.mean + (point.sd ?? 0), fill: colour(e), fillOpacity: 0.1}),
                Plot.line(mine, {x: "x", y: "mean", stroke: colour(e), strokeDasharray: dash(e), strokeWidth: 2}),
                Plot.dot(mine, {x: "x", y: "mean", fill: colour(e), symbol: symbol(e), r: 4, title: (point) => `${name}: ${number(point.mean)} ± ${number(point.sd)}`})];
      })
    });
    return figure(`${dataset}.`, data.entries.length > 5 ? "Mean over the runs; the deviations are in the table above." : "Mean over the runs; the band is one standard deviation.", make, {lone: false});
  }).filter(Boolean);
}

function ranks(data, metric) {
  const rows = data.entries.map((name, e) => ({name, rank: data.ranks[metric][e]})).filter((row) => row.rank !== null).sort((a, b) => a.rank - b.rank);
  if (data.blocks.length < 2 || rows.length < 2) return null;
  const p = data.friedman_p[metric];
  const words = `Mean place over ${number(data.blocks.length)} combinations of data and labels; 1 would be best everywhere. ` +
    (p === null ? "" : `Friedman's test of all being alike: p = ${number(p)}.`);
  const make = (width) => {
    const names = rows.map((row) => row.name), left = roomFor(names, width);
    return {marginLeft: left, height: 46 + 22 * rows.length, marginBottom: 36, x: {label: "average rank", grid: true, domain: [1, Math.max(...rows.map((row) => row.rank), 2)]},
            y: {domain: names, label: null, tickSize: 0, tickFormat: fitTo(left)},
            marks: [Plot.ruleY(rows, {y: "name", x1: 1, x2: "rank", stroke: "var(--line)"}), Plot.dot(rows, {x: "rank", y: "name", r: 5, fill: COLOURS[0], title: (row) => `${row.name}: ${number(row.rank)}`})]};
  };
  return figure("Average ranks.", words, make);
}

/** Quality beside time: up and to the left is good and cheap. */
function costFigure(data, metric) {
  const rows = data.entries.flatMap((name, e) => data.blocks.map((block, b) => ({name, e, block: block.name, mean: data.cells[metric][b][e].mean, ...data.costs[b][e]})))
    .filter((row) => row.mean !== null && row.seconds > 0);
  if (!rows.length) return null;
  const make = () => ({
    height: 340, marginLeft: 50, marginBottom: 40, x: {type: "log", label: "time of a run", tickFormat: (x) => (x < 0.001 ? `${+(x * 1e6).toPrecision(2)} µs` : x < 1 ? `${+(x * 1000).toPrecision(2)} ms` : `${x} s`), ticks: 5},
    y: {label: data.metrics[metric], grid: true, inset: 6}, color: {type: "identity"}, symbol: {type: "identity"},
    marks: [Plot.dot(rows, {x: "seconds", y: "mean", fill: (row) => colour(row.e), symbol: (row) => symbol(row.e), r: 5, title: (row) => `${row.name} on ${row.block}: ${number(row.mean)} in ${seconds(row.seconds)}, ${bytes(row.memory)}`})]
  });
  return figure("What quality costs.", "Each point is a method on a data set: up is good, left is fast. Time is that of this machine and this run.", make);
}

const costTable = (data) => table(["method", "data and labels", "time of a run", "peak memory"],
  data.entries.flatMap((name, e) => data.blocks.map((block, b) => [name, block.name, data.costs[b][e].seconds, data.costs[b][e].memory])),
  {formats: {2: seconds, 3: bytes}});

const names = (data) => legend(data.entries, {signs: data.entries.map((_, e) => symbol(e))});

function resultTable(data, metric) {
  const rows = data.entries.map((name, e) => [name, ...data.blocks.map((_, b) => data.cells[metric][b][e].mean), data.ranks[metric][e]]);
  const cellOf = (row, c) => data.cells[metric][c - 1]?.[data.entries.indexOf(row[0])];
  const formats = Object.fromEntries(data.blocks.map((_, b) => [b + 1, (mean, row) => {
    const cell = cellOf(row, b + 1);
    return mean === null ? (cell.failed ? "no answer" : "–") : `${mean.toFixed(3)} ± ${cell.sd === null ? "–" : cell.sd.toFixed(3)}${sign(cell)}`;
  }]));
  return table(["method", ...data.blocks.map((block) => block.name), "rank"], rows,
    {formats, mark: (row, c) => (cellOf(row, c)?.level ? "best" : null), shown: 40,
     caption: `${data.metrics[metric]}: mean ± standard deviation; ★ best, ~ not significantly worse (${data.test}, level ${number(data.alpha)})`});
}

function refusals(data) {
  if (!data.refusals.length) return null;
  return section("What could not be done", note("Runs without an answer, with the reason of the first of them; they take no part in means and ranks."),
    table(["method", "data", "runs without an answer", "reason"], data.refusals.map((row) => [data.entries[row.entry], data.blocks[row.block].name, row.failed, row.reason])));
}

/** All that depends on the metric that is looked at. */
function byMetric(data, metric) {
  const curves = learningCurves(data, metric);
  return [
    section("Who is best", note(`Points are means over ${count(data.runs, "run", "runs")} on the same splits, bars are standard deviations, ticks single runs. Blue: the best (★) and what is not significantly worse (~).`),
            el("div", {class: "grid wide"}, data.blocks.map((_, b) => blockFigure(data, metric, b))), ranks(data, metric), resultTable(data, metric)),
    curves.length ? section("How it grows with the labels", names(data), el("div", {class: "grid wide"}, curves)) : null,
    section("Time and memory", names(data), costFigure(data, metric), costTable(data))
  ];
}

export function comparison(data) {
  const parts = data.metrics.map((_, m) => el("div", {class: "metric", hidden: m > 0}, byMetric(data, m)));
  const select = el("select", {}, data.metrics.map((name, m) => el("option", {value: m}, name)));
  select.addEventListener("change", () => {
    parts.forEach((part, m) => { part.hidden = m !== Number(select.value); });
    window.dispatchEvent(new Event("resize"));
  });
  const choice = data.metrics.length > 1 ? el("label", {class: "choices"}, "measured by", select) : null;
  return [choice, ...parts, refusals(data)];
}
