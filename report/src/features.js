// Features by name: what speaks for a class in a view, and what spoke for one sample.
import {el, note, number, section} from "./dom.js";
import {COLOURS, Plot, figure, fitTo, roomFor, tick} from "./chart.js";
import {distinct, records, sentence} from "./records.js";
import {foldedTable} from "./table.js";

const MOST_PANELS = 24;

/** Bars by name; negative ones to the left in another colour. */
function bars(rows, value, label, tell) {
  return (width) => {
    const names = rows.map((row) => row.feature), left = roomFor(names, width);
    return {
      marginLeft: left, height: 40 + 19 * rows.length, marginTop: 6, marginBottom: 34, x: {label, grid: true, ticks: 4, tickFormat: tick},
      y: {domain: rows.map((_, i) => i), label: null, tickSize: 0, tickFormat: (i) => fitTo(left)(names[i])},
      marks: [
        Plot.barX(rows, {y: (_, i) => i, x: value, fill: (row) => COLOURS[row[value] < 0 ? 3 : 0], fillOpacity: 0.8, insetTop: 2, insetBottom: 2, title: tell}),
        Plot.ruleX([0], {stroke: "currentColor"})
      ],
      color: {type: "identity"}
    };
  };
}

function panel(rows, title) {
  const by = distinct(rows, "source").join(", ");
  return figure(title, `By ${by}.`, bars(rows, "weight", "weight", (row) => `${row.feature}: ${number(row.weight)}`), {lone: false});
}

/** Panels for some of the groups, a row of views for each. */
function panels(rows, groups, views) {
  return groups.flatMap((group) => views.map((view) => [group, view, rows.filter((row) => row.group === group && row.view === view)]))
    .filter(([, , mine]) => mine.length)
    .map(([group, view, mine]) => panel(mine, groups.length === 1 && !group ? view : `${group}, ${view}.`));
}

/** Too many to be seen at once: one group at a time. */
function chooser(rows, groups, views) {
  const box = el("div", {class: "grid"}), select = el("select", {}, groups.map((group, i) => el("option", {value: i}, String(group))));
  const show = () => {
    const made = panels(rows, [groups[Number(select.value)]], views);
    box.replaceChildren(...made);
    for (const figure of made) figure.redraw();
  };
  select.addEventListener("change", show);
  setTimeout(show);
  return [el("label", {class: "choices"}, "show", select), box];
}

export function features(part) {
  const rows = records(part).filter((row) => row.weight !== null), groups = distinct(rows, "group"), views = distinct(rows, "view");
  if (!rows.length) return null;
  const few = groups.length * views.length <= MOST_PANELS;
  return section("Which features speak for what", note(sentence(part.note)),
    few ? el("div", {class: "grid"}, panels(rows, groups, views)) : chooser(rows, groups, views), foldedTable("as a table", part.columns, part.rows));
}

export function sampleFeatures(part) {
  const rows = records(part).filter((row) => row.effect !== null), views = distinct(rows, "view");
  if (!rows.length) return null;
  const one = (view) => figure(`${view}.`, "", bars(rows.filter((row) => row.view === view), "effect", "effect on the score of the answer",
                               (row) => `${row.feature} = ${number(row.value)}: ${number(row.effect)}`), {lone: false});
  return section(part.title, note(sentence(part.note)), el("div", {class: "grid"}, views.map(one)), foldedTable("as a table", part.columns, part.rows));
}
