// The page: what was asked, the answer in one sentence, then the evidence, then how to repeat it.
import {count, el, note, number, section} from "./dom.js";
import {Plot, COLOURS, drawAll, figure} from "./chart.js";
import {sentence} from "./records.js";
import {table} from "./table.js";
import {byPattern, calibration, classes, clusters, confusion, measured, quality} from "./quality.js";
import {advice, pairs, presenceMap, spectrum, viewSection, viewTable} from "./views.js";
import {features, sampleFeatures} from "./features.js";
import {maps} from "./embedding.js";
import {comparison} from "./compare.js";
import {curves} from "./curves.js";

const plain = (part) => (part.rows.length ? section(part.title, note(sentence(part.note)), table(part.columns, part.rows)) : null);

/** How sections are drawn; what is not listed is a table. */
const DRAWN = {quality, confusion, classes, clusters, calibration, features, pairs, spectrum, advice, views: viewSection,
               presence: (part) => (part.columns.includes("right") ? byPattern(part) : null), sample_features: sampleFeatures};

/** What a reader wants first, by the kind of the report. */
const ORDER = {
  views: ["advice", "views", "pairs", "spectrum"],
  explain: ["sample", "sample_views", "sample_features", "sample_neighbours", "views", "features", "pattern", "confusion", "classes", "calibration", "presence", "quality"],
  fit: ["members", "clusters", "confusion", "classes", "calibration", "presence"]
};

function sections(report) {
  const order = ORDER[report.kind] ?? [], place = (part) => (order.includes(part.key) ? order.indexOf(part.key) : order.length);
  return [...(report.sections ?? [])].sort((a, b) => place(a) - place(b)).map((part) => (DRAWN[part.key] ?? plain)(part));
}

/** The course of the objective, where the method iterates. */
function course(model) {
  if (!model || !model.trace || model.trace.length < 3) return null;
  const points = model.trace.map((value, i) => ({i: i + 1, value})).filter((point) => point.value !== null);
  const make = () => ({height: 220, marginLeft: 70, marginBottom: 38, x: {label: "iteration", tickFormat: "d"}, y: {label: "objective", grid: true},
                       marks: [Plot.line(points, {x: "i", y: "value", stroke: COLOURS[0], strokeWidth: 2})]});
  return section("How the fit went", figure("", `The objective over ${count(model.trace.length, "step", "steps")}; ${model.converged ? "it converged" : "it was stopped before it converged"}.`, make));
}

function arrays(model) {
  if (!model || !model.arrays || !model.arrays.length) return null;
  return section("Arrays of the model", note("What can be written with --dump NAME=FILE, and is kept in the model file."),
                 table(["name", "rows", "columns", "what it is"], model.arrays.map((array) => [array.name, array.rows, array.columns, array.help])));
}

function header(report) {
  const facts = report.facts ?? [];
  return el("header", {}, el("p", {class: "kicker"}, report.title), el("h1", {}, report.question), el("p", {class: "answer"}, report.answer),
            facts.length ? el("dl", {class: "facts"}, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, number(value))))) : null,
            report.warnings?.length ? el("ul", {class: "warnings"}, report.warnings.map((warning) => el("li", {}, warning))) : null);
}

function repeat(report) {
  const settings = report.settings ?? [];
  return section("How to repeat it", report.command ? el("pre", {}, report.command) : null,
                 note(`Written by Parallax ${report.version}. The same command on the same files gives the same figures; times differ.`),
                 settings.length ? table(["setting", "value", "default"], settings, {shown: 40, mark: (row, c) => (c === 1 && row[2] !== null && row[1] !== row[2] ? "best" : null)}) : null);
}

function contents(parts) {
  const links = parts.flatMap((part) => [...(part.matches("section") ? [part] : part.hidden ? [] : part.querySelectorAll("section"))])
    .map((part) => el("li", {}, el("a", {href: `#${part.id}`}, part.querySelector("h2").textContent)));
  return links.length > 2 ? el("nav", {"aria-label": "Contents"}, el("ul", {}, links)) : null;
}

function body(report) {
  const {data, model} = report, parts = [];
  if (report.comparison) parts.push(...comparison(report.comparison));
  if (report.curves) parts.push(...curves(report.curves));
  if (report.kind === "fit" && data) parts.push(maps(data));
  parts.push(...sections(report));
  if (report.kind !== "fit" && data) parts.push(maps(data));
  if (report.metrics) parts.push(measured(report.metrics, report.basis));
  if (data) parts.push(presenceMap(data), report.kind === "views" ? null : viewTable(data));
  parts.push(course(model), arrays(model), repeat(report));
  return parts.filter(Boolean);
}

const report = JSON.parse(document.getElementById("data").textContent);
document.title = `${report.question} – Parallax`;
const parts = body(report);
document.getElementById("report").append(...[header(report), contents(parts), ...parts].filter(Boolean));
drawAll();
document.documentElement.dataset.ready = "yes";
