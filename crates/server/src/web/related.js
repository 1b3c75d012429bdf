// What else is about the same, and what is linked: a small picture, and the same as lists.

import { documentPath, get } from "./api.js";
import { h, harmless, link, plain, show, svg } from "./dom.js";
import { badge, tone } from "./tones.js";
import { age, hour, moment, number, percent } from "./words.js";

const SHOWN = 7; // of those that are linked, and of those that are alike
const DRAWN = 9; // of both together

/** Fills a panel with the documents that are linked with that of a hit, or like it. */
export async function related(panel, hit) {
  show(panel, h("p", { class: "dim" }, "Looking\u2026"));
  try {
    const answer = await get(`${documentPath(hit.source, hit.document, "/related")}&k=${SHOWN}&among=true`);
    const { links = [], among = [] } = answer;
    const linked = new Set(links.map(key));
    const alike = answer.related.filter((one) => !linked.has(key(one)));
    if (!links.length && !alike.length) return show(panel, h("p", { class: "dim" }, "Nothing else is about the same."));
    const drawn = [...links.map((one) => ({ ...one, linked: true })), ...alike].slice(0, DRAWN);
    show(panel,
      picture(hit, drawn, among),
      links.length ? [h("h3", { class: "group" }, sample("linked"), "Linked"), h("ul", { class: "likes" }, links.map(linkedRow))] : null,
      alike.length ? [links.length ? h("h3", { class: "group" }, sample("alike"), "Similar, not linked") : null, h("ul", { class: "likes" }, alike.map(alikeRow))] : null);
  } catch (error) {
    show(panel, h("p", { class: "problem" }, harmless(error.message)));
  }
}

const short = (text, length) => (text.length > length ? `${text.slice(0, length - 1).trimEnd()}\u2026` : text);
const name = (one) => one.title ?? one.label?.replace(/^\[(.*)\]$/s, "$1") ?? one.document;
const key = (one) => `${one.source}/${one.document}`;

/** What a line of the picture means. */
function sample(kind) {
  return svg("svg", { class: "graph-key", viewBox: "0 0 26 8", "aria-hidden": "true" }, svg("line", { x1: 0, y1: 4, x2: 26, y2: 4, class: `edge ${kind}`, "stroke-width": 2.5 }));
}

/** A sentence of the server, with names as such. */
function sentence(text) {
  return text.split("`").map((part, at) => (at % 2 ? h("code", {}, plain(part)) : plain(part)));
}

/** The hit in the middle, the others around it; the surer or more alike, the nearer and the thicker the line. */
function picture(hit, all, among) {
  const [wide, high] = [760, 290];
  const [x, y] = [wide / 2, high / 2];
  // Scores of links and of those that are alike are not of one scale.
  const [links, alike] = [all.filter((one) => one.linked), all.filter((one) => !one.linked)];
  const far = (one) => {
    const scores = (one.linked ? links : alike).map((other) => other.score);
    const [best, least] = [Math.max(...scores, 1e-9), Math.min(...scores)];
    const own = best > least ? 1 - (one.score - least) / (best - least) : 0.4;
    return one.linked || !links.length ? own : 0.6 + 0.4 * own;
  };
  const points = all.map((one, at) => {
    const angle = (2 * Math.PI * at) / all.length - Math.PI / 2 + 0.35;
    const reach = 0.62 + 0.38 * far(one);
    return { one, x: x + Math.cos(angle) * reach * 190, y: y + Math.sin(angle) * reach * 118 };
  });
  const line = (p) => svg("line", { x1: x, y1: y, x2: p.x, y2: p.y, class: `edge ${p.one.linked ? "linked" : links.length ? "alike" : ""}`, "stroke-width": (p.one.linked || !links.length ? 1.5 + 3.5 * (1 - far(p.one)) : 1.5).toFixed(1) });
  const at = new Map(points.map((p) => [key(p.one), p]));
  const tie = ({ a, b, score }) => {
    const [from, to] = [at.get(a), at.get(b)];
    if (!from || !to) return null;
    return svg("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: "edge tie" }, svg("title", {}, harmless(`${name(from.one)} and ${name(to.one)}: ${number(score, 2)}`)));
  };
  const score = (p) => (p.one.linked ? svg("text", { x: x + (p.x - x) * 0.55, y: y + (p.y - y) * 0.55 + 4, "text-anchor": "middle", class: "score" }, number(p.one.score, 2)) : null);
  const node = (p) => {
    const right = p.x >= x;
    return svg("g", { class: tone(p.one.source) },
      svg("circle", { cx: p.x, cy: p.y, r: p.one.linked || !links.length ? 7 : 5, class: "node" }),
      svg("text", { x: p.x + (right ? 12 : -12), y: p.y + 4, "text-anchor": right ? "start" : "end" }, harmless(short(name(p.one), 26))));
  };
  const told = links.length ? `${links.length} linked documents${alike.length ? `, and ${alike.length} that are similar` : ""}` : `${all.length} documents that are like this one`;
  return svg("svg", { class: "graph", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": told },
    among.map(tie).filter(Boolean), points.map(line),
    svg("g", { class: tone(hit.source) }, svg("circle", { cx: x, cy: y, r: 11, class: "node own" })),
    points.map(score).filter(Boolean), points.map(node));
}

/** When a run said so, and whether that may have changed. */
function when(one) {
  const at = moment(one.made_at);
  return [
    at === null ? null : h("time", { datetime: new Date(at).toISOString(), title: harmless(`${hour(at)}, run ${one.run}`) }, age(at, Date.now())),
    one.stale ? h("span", { class: "chip", title: "one of the two was written anew since" }, "may be out of date") : null,
  ];
}

function linkedRow(one) {
  return h("li", { class: "linked" }, badge(one.source), link(one.url, { class: "to" }, h("bdi", {}, plain(name(one)))),
    h("p", { class: "why-linked" }, sentence(one.reason), " \u00b7 ", when(one)));
}

function alikeRow(one) {
  const how = one.reason.channel === "dense" ? `meaning ${percent(one.score)} alike` : "shares words";
  return h("li", {}, badge(one.source), link(one.url, {}, h("bdi", {}, plain(name(one)))), h("span", { class: "dim" }, how));
}
