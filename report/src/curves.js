// Simulated acquisition: a learning curve per strategy, with the standard error over the runs.
import {note, number, section} from "./dom.js";
import {Plot, colour, dash, figure, legend, symbol} from "./chart.js";
import {foldedTable, table} from "./table.js";

function curveFigure(data, across, label, caption) {
  const make = () => ({
    height: 380, marginLeft: 52, marginBottom: 40, x: {label, grid: false}, y: {label: data.metric, grid: true}, color: {type: "identity"}, symbol: {type: "identity"},
    marks: data.strategies.flatMap((strategy, i) => {
      const mine = strategy.states.filter((state) => state.mean !== null && state[across] !== null);
      if (mine.length < 2) return [Plot.ruleY(mine, {y: "mean", stroke: colour(i), strokeDasharray: "5 4"})];
      return [Plot.areaY(mine, {x: across, y1: (state) => state.mean - (state.error ?? 0), y2: (state) => state.mean + (state.error ?? 0), fill: colour(i), fillOpacity: 0.15}),
              Plot.line(mine, {x: across, y: "mean", stroke: colour(i), strokeDasharray: dash(i), strokeWidth: 2}),
              Plot.dot(mine.filter((_, k) => mine.length <= 40 || k % Math.ceil(mine.length / 40) === 0),
                       {x: across, y: "mean", fill: colour(i), symbol: symbol(i), r: 3, title: (state) => `${strategy.name}, ${number(state.step)} acquired: ${number(state.mean)} ± ${number(state.error)}`})];
    })
  });
  return figure("", caption, make);
}

export function curves(data) {
  const names = data.strategies.map((strategy) => strategy.name), priced = data.strategies.some((strategy) => strategy.states.some((state) => state.cost !== state.step));
  const bands = data.runs > 1 ? ` Mean over ${number(data.runs)} runs; the band is the standard error.` : " One run: there is no telling how much is chance.";
  const rows = data.strategies.map((strategy) => [strategy.name, strategy.mean, strategy.error, strategy.difference, strategy.difference_error, strategy.first, strategy.last, strategy.steps_to_reach]);
  const states = data.strategies.flatMap((strategy) => strategy.states.map((state) => [strategy.name, state.step, state.cost, state.mean, state.error, state.runs]));
  return [
    section("How good it is after each acquisition", legend(names), curveFigure(data, "step", "acquired so far", `The steeper a curve rises, the better its strategy chooses.${bands}`),
            priced ? curveFigure(data, "cost", "cost so far", "The same by what was spent.") : null, foldedTable("every point", ["strategy", "acquired", "cost", data.metric, "standard error", "runs"], states)),
    section("Strategies in figures", note(`Mean ${data.metric} over the acquisitions of a curve, then over the runs, with its standard error; the difference to random choice run by run; the first and the last state; ` +
      "and after how many acquisitions a curve came within 5 % of what all of them give, where that was asked for."),
            table(["strategy", "mean", "error", "beside random", "error of that", "first", "last", "steps to 95 %"], rows))
  ];
}
