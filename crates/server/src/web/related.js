// What else is about the same: a small picture, and the same as a list.

import { documentPath, get } from "./api.js";
import { h, harmless, link, plain, show, svg } from "./dom.js";
import { badge, tone } from "./tones.js";
import { percent } from "./words.js";

const SHOWN = 7;

/** Fills a panel with the documents that are like that of a hit. */
export async function related(panel, hit) {
  show(panel, h("p", { class: "dim" }, "Looking\u2026"));
  try {
    const answer = await get(`${documentPath(hit.source, hit.document, "/related")}&k=${SHOWN}`);
    if (!answer.related.length) return show(panel, h("p", { class: "dim" }, "Nothing else is about the same."));
    show(panel, picture(hit, answer.related), table(answer.related));
  } catch (error) {
    show(panel, h("p", { class: "problem" }, harmless(error.message)));
  }
}

const short = (text, length) => (text.length > length ? `${text.slice(0, length - 1).trimEnd()}\u2026` : text);
const name = (one) => one.title ?? one.label ?? one.document;

/** The hit in the middle, the others around it; the more like it is, the nearer and the thicker the line. */
function picture(hit, all) {
  const [wide, high] = [760, 250];
  const [x, y] = [wide / 2, high / 2];
  const best = Math.max(...all.map((one) => one.score), 1e-9);
  const least = Math.min(...all.map((one) => one.score));
  const far = (score) => (best > least ? 1 - (score - least) / (best - least) : 0.4);
  const points = all.map((one, at) => {
    const angle = (2 * Math.PI * at) / all.length - Math.PI / 2 + 0.35;
    const reach = 0.6 + 0.4 * far(one.score);
    return { one, x: x + Math.cos(angle) * reach * 190, y: y + Math.sin(angle) * reach * 96 };
  });
  const line = (p) => svg("line", { x1: x, y1: y, x2: p.x, y2: p.y, class: "edge", "stroke-width": (1 + 4 * (1 - far(p.one.score))).toFixed(1) });
  const node = (p) => {
    const right = p.x >= x;
    return svg("g", { class: tone(p.one.source) },
      svg("circle", { cx: p.x, cy: p.y, r: 7, class: "node" }),
      svg("text", { x: p.x + (right ? 12 : -12), y: p.y + 4, "text-anchor": right ? "start" : "end" }, harmless(short(name(p.one), 26))));
  };
  return svg("svg", { class: "graph", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `${all.length} documents that are like this one` },
    points.map(line),
    svg("g", { class: tone(hit.source) }, svg("circle", { cx: x, cy: y, r: 11, class: "node own" })),
    points.map(node));
}

function table(all) {
  const how = (one) => (one.reason.channel === "dense" ? `meaning ${percent(one.score)} alike` : "shares words");
  const row = (one) => h("li", {}, badge(one.source), link(one.url, {}, h("bdi", {}, plain(name(one)))), h("span", { class: "dim" }, how(one)));
  return h("ul", { class: "likes" }, all.map(row));
}
