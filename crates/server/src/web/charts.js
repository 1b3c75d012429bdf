// Small plots, drawn from the numbers of a report.

import { h, harmless, svg } from "./dom.js";
import { number } from "./words.js";

/** Horizontal bars: `[{name, value, best}]`, from 0 to 1 or to the greatest. */
export function bars(rows, label) {
  const most = Math.max(1e-9, ...rows.map((row) => row.value));
  const scale = most <= 1 ? 1 : most;
  const bar = (row) =>
    h("div", { class: row.own ? "line own" : "line" },
      h("span", { class: "name" }, harmless(row.name)),
      h("span", { class: "track" }, h("span", { class: "amount", "--w": `${Math.max(0, (100 * row.value) / scale)}%` })),
      h("span", { class: "value" }, number(row.value)));
  return h("div", { class: "bars", role: "group", "aria-label": label }, rows.map(bar));
}

/** Differences around zero, sorted: one thin column for each query. */
export function columns(values, label) {
  const sorted = [...values].sort((a, b) => b - a);
  const [wide, high] = [600, 120];
  const most = Math.max(1e-9, ...sorted.map(Math.abs));
  const step = Math.min(28, wide / Math.max(1, sorted.length));
  const column = (value, at) => {
    const size = (Math.abs(value) / most) * (high / 2 - 4);
    return svg("rect", { x: (at * step).toFixed(2), y: (value >= 0 ? high / 2 - size : high / 2).toFixed(2), width: Math.max(1, step - 1).toFixed(2), height: Math.max(0.5, size).toFixed(2), class: value >= 0 ? "gain" : "loss" });
  };
  return svg("svg", { class: "plot", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label },
    sorted.map(column), svg("line", { x1: 0, y1: high / 2, x2: wide, y2: high / 2, class: "axis" }));
}

/** Curves of one setting: points `[[x, y]]` in the order in which they were tried. */
export function curve(points, label) {
  const [wide, high, edge] = [220, 90, 8];
  const values = points.map(([, y]) => y);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const x = (at) => edge + (at * (wide - 2 * edge)) / Math.max(1, points.length - 1);
  const y = (value) => high - edge - ((value - least) / Math.max(1e-9, most - least)) * (high - 2 * edge);
  const path = points.map(([, value], at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const dot = ([name, value], at) => svg("circle", { cx: x(at).toFixed(1), cy: y(value).toFixed(1), r: 3, class: "spot" }, svg("title", {}, harmless(`${name}: ${number(value, 4)}`)));
  return svg("svg", { class: "plot small", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label }, svg("path", { d: path, class: "curve" }), points.map(dot));
}
