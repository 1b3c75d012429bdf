// Small plots, drawn from the numbers of a report.

import { h, harmless, svg } from "./dom.js";
import { number, signed } from "./words.js";

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

/** Differences around zero, sorted: one column for each `{name, value}`. */
export function columns(rows, label) {
  const sorted = [...rows].sort((a, b) => b.value - a.value);
  const [wide, high, left] = [640, 130, 44];
  const most = Math.max(1e-9, ...sorted.map((row) => Math.abs(row.value)));
  const step = (wide - left) / Math.max(1, sorted.length);
  const size = (value) => (Math.abs(value) / most) * (high / 2 - 8);
  const column = ({ name, value }, at) =>
    svg("rect", { x: (left + at * step).toFixed(2), y: (value >= 0 ? high / 2 - size(value) : high / 2).toFixed(2), width: Math.max(0.5, step * (step > 4 ? 0.86 : 1)).toFixed(2), height: Math.max(0.5, size(value)).toFixed(2), class: value >= 0 ? "gain" : "loss" }, svg("title", {}, harmless(`${name}: ${signed(value)}`)));
  const mark = (value, y) => svg("text", { x: left - 6, y, "text-anchor": "end" }, signed(value, 2));
  return svg("svg", { class: "plot", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label },
    sorted.map(column), svg("line", { x1: left, y1: high / 2, x2: wide, y2: high / 2, class: "axis" }),
    mark(most, 12), mark(-most, high - 4));
}

/** What a part of the whole stands for, side by side: `[{name, value, kind}]`, which sum up to 1. */
export function parts(rows, label) {
  const wide = (value) => ({ "--w": `${Math.max(0, 100 * value)}%` });
  return h("figure", { class: "parts" },
    h("div", { class: "whole-bar", role: "img", "aria-label": label }, rows.map((row) => h("span", { class: row.kind, title: `${row.name} ${number(row.value)}`, ...wide(row.value) }))),
    h("figcaption", {}, rows.map((row) => h("span", { class: "key" }, h("span", { class: `dot ${row.kind}` }), `${row.name} ${number(row.value)}`))));
}

/** Values with the interval that they may lie in: `[{name, value, interval}]`, against no gain. */
export function intervals(rows, label) {
  const ends = rows.flatMap((row) => [row.value, ...(row.interval ?? [])]).concat(0);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const [wide, left, right] = [640, 120, 620];
  const x = (value) => (most > least ? left + ((value - least) / (most - least)) * (right - left) : (left + right) / 2);
  const high = 26 * rows.length + 26;
  const row = ({ name, value, interval }, at) => {
    const y = 16 + 26 * at;
    const [from, to] = interval ?? [value, value];
    return svg("g", {}, svg("text", { x: left - 14, y: y + 4, "text-anchor": "end" }, harmless(name)),
      svg("line", { x1: x(from), x2: x(to), y1: y, y2: y, class: "whisker" }),
      svg("circle", { cx: x(value), cy: y, r: 5, class: "spot" }, svg("title", {}, harmless(`${name}: ${signed(value, 4)}, 95 % interval ${signed(from, 4)} to ${signed(to, 4)}`))));
  };
  return svg("svg", { class: "plot", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label },
    svg("line", { x1: x(0), x2: x(0), y1: 2, y2: high - 20, class: "axis" }),
    svg("text", { x: x(0), y: high - 6, "text-anchor": "middle" }, "no gain"), rows.map(row));
}

/** One setting: what was tried, and the mean with each: `[{label, number, mean, present, chosen}]`. */
export function curve(samples, label) {
  const [wide, high, left, right, top, bottom] = [240, 118, 40, 232, 12, 94];
  const known = samples.map((sample, at) => ({ ...sample, at })).filter((sample) => sample.mean !== null);
  const values = known.map((sample) => sample.mean);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const x = (at) => (samples.length > 1 ? left + 8 + (at * (right - left - 16)) / (samples.length - 1) : (left + right) / 2);
  const y = (value) => bottom - ((value - least) / Math.max(1e-9, most - least)) * (bottom - top);
  // Values without an order have no line between them.
  const path = known.filter((sample) => sample.number !== null).map((sample, at) => `${at ? "L" : "M"}${x(sample.at).toFixed(1)} ${y(sample.mean).toFixed(1)}`).join("");
  const dot = (sample) => {
    const told = svg("title", {}, harmless(`${sample.label}: ${number(sample.mean, 4)}${sample.present ? ", as it is" : ""}`));
    return svg("circle", { cx: x(sample.at).toFixed(1), cy: y(sample.mean).toFixed(1), r: sample.present ? 5 : 3.5, class: sample.present ? "spot now" : "spot" }, told);
  };
  const short = (text) => (text.length > 16 ? `${text.slice(0, 15)}\u2026` : text);
  const named = (at, anchor) => svg("text", { x: at ? right : left, y: high - 4, "text-anchor": anchor }, harmless(short(samples[at].label)));
  const scale = (value) => svg("text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" }, number(value));
  return svg("svg", { class: "plot small", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label },
    path ? svg("path", { d: path, class: "curve" }) : null, known.map(dot), scale(most), most > least ? scale(least) : null,
    named(0, "start"), samples.length > 1 ? named(samples.length - 1, "end") : null);
}
