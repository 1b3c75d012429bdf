// The hits, one card each.

import { h, harmless, link, marked, plain, show } from "./dom.js";
import { bar, sentence, steps } from "./ledger.js";
import { related } from "./related.js";
import { badge } from "./tones.js";
import { age, day, hour, moment } from "./words.js";

const text = (value) => (value === null || value === undefined || value === "" ? null : String(value));
const mono = (value) => h("code", {}, plain(value));
const between = (nodes) => nodes.flatMap((node, at) => (at ? [h("span", { class: "sep", "aria-hidden": "true" }, "\u00b7"), node] : [node]));

/** The line where a hit begins: of a document in parts, `lines` has the first line of each. */
function line(metadata, hit) {
  const part = Number(/#(\d+)$/.exec(hit.id)?.[1] ?? 0);
  return text(metadata.start_line) ?? text(Array.isArray(metadata.lines) ? metadata.lines[part] : metadata.lines);
}

// What is shown of the metadata, by which fields there are: each takes the fields that it shows, and gives the pieces.
const SHOWN = [
  [["book", "chapter", "section"], (m) => [h("span", {}, plain([m.book, m.chapter, m.section].map(text).filter(Boolean).join(" \u203a ")))]],
  [["eco", "opening", "white", "black", "line", "fen"], (m) => [
    text(m.eco) && mono(text(m.eco)), text(m.opening) && h("span", {}, plain(text(m.opening))),
    text(m.white) && text(m.black) && h("span", {}, plain(`${m.white} \u2013 ${m.black}`))]],
  [["path", "file", "lines", "start_line", "language"], (m, hit) => [
    mono([text(m.path) ?? text(m.file), line(m, hit)].filter(Boolean).join(":")),
    text(m.language) && h("span", {}, plain(text(m.language)))]],
  [["channel", "thread", "thread_ts", "replies"], (m) => [
    text(m.channel) && h("span", {}, plain(`#${String(m.channel).replace(/^#/, "")}`)),
    text(m.thread ?? m.thread_ts) && h("span", {}, plain(`thread ${m.thread ?? m.thread_ts}`)),
    text(m.replies) && h("span", {}, plain(`${m.replies} replies`))]],
  [["from", "to"], (m) => [h("span", {}, plain([m.from, m.to].map(text).filter(Boolean).join(" \u2192 ")))]],
  [["change"], (m) => [h("span", {}, plain(`change ${m.change}`))]],
  [["status", "assignee"], (m) => [text(m.status) && h("span", { class: "chip" }, plain(text(m.status))), text(m.assignee) && h("span", {}, plain(text(m.assignee)))]],
  [["author"], (m) => [h("span", {}, plain(text(m.author)))]],
];

function about(hit) {
  const metadata = hit.metadata ?? {};
  const left = new Set(Object.keys(metadata).filter((name) => text(metadata[name]) && typeof metadata[name] !== "object"));
  const pieces = [];
  for (const [names, pieces_of] of SHOWN) {
    if (!names.some((name) => left.has(name) && name !== "line")) continue;
    pieces.push(...pieces_of(metadata, hit).filter((piece) => piece && piece.textContent));
    names.forEach((name) => left.delete(name));
  }
  if (hit.heading) pieces.push(h("span", {}, plain(hit.heading)));
  for (const name of [...left].slice(0, 3)) pieces.push(h("span", {}, plain(`${name}: ${String(metadata[name]).slice(0, 80)}`)));
  return pieces.length ? h("p", { class: "about" }, between(pieces)) : null;
}

function alternates(hit) {
  if (!hit.alternates?.length) return null;
  const label = (name) => h("span", { class: "chip" }, h("bdi", {}, plain(name.replace(/^\[(.*)\]$/s, "$1"))));
  return h("p", { class: "also" }, "also in ", hit.alternates.map(label));
}

function when(hit, now) {
  const time = moment(hit.created_at ?? hit.updated_at);
  return time === null ? null : h("time", { datetime: new Date(time).toISOString(), title: hour(time) }, age(time, now), h("span", { class: "hidden" }, `, ${day(time)}`));
}

function toggle(name, key, panel, fill) {
  const button = h("button", { type: "button", class: "quiet small", "aria-expanded": "false", "data-act": key }, name);
  button.addEventListener("click", () => {
    const open = panel.hidden;
    if (open && !panel.hasChildNodes()) fill(panel);
    panel.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  });
  return button;
}

/** Where a hit went against another ranking. */
function move(hit) {
  if (hit.was === undefined) return null;
  if (hit.was === null) return h("span", { class: "move up", title: "was further down" }, "new");
  const by = hit.was - hit.rank;
  if (!by) return h("span", { class: "move", title: "as before" }, "=");
  const [way, word] = by > 0 ? ["\u2191", "up"] : ["\u2193", "down"];
  return h("span", { class: `move ${word}`, title: `was number ${hit.was}` }, `${way}\u202f${Math.abs(by)}`, h("span", { class: "hidden" }, ` ${word}`));
}

/** A card. `above` is the hit before it, `scale` what a whole bar stands for. */
export function card(hit, { above, scale, now }) {
  const title = text(hit.title) ?? text(hit.label)?.replace(/^\[(.*)\]$/s, "$1") ?? hit.document;
  const why = h("div", { class: "fold why", hidden: true });
  const whole = h("div", { class: "fold whole", hidden: true });
  const alike = h("div", { class: "fold alike", hidden: true });
  return h("li", { class: "hit", tabindex: "-1", "data-id": hit.id, "data-rank": hit.rank },
    h("span", { class: "rank", "aria-hidden": "true" }, String(hit.rank), move(hit)),
    h("article", { "aria-label": harmless(`${hit.rank}. ${title}`) },
      h("header", {}, badge(hit.source), h("h2", {}, link(hit.url, { class: "title" }, h("bdi", {}, plain(title)))), when(hit, now)),
      about(hit),
      h("p", { class: "snippet", dir: "auto" }, marked(hit.snippet ?? "", hit.highlights)),
      alternates(hit),
      h("div", { class: "reason" },
        bar(hit, scale),
        h("p", { class: "sentence" }, sentence(hit, above)),
        h("span", { class: "acts" },
          toggle("Why", "why", why, (panel) => show(panel, steps(hit))),
          toggle("Text", "text", whole, (panel) => show(panel, h("p", { dir: "auto", class: hit.metadata?.language ? "code" : null }, plain(hit.text ?? "")))),
          toggle("Related", "related", alike, (panel) => related(panel, hit)))),
      why, whole, alike));
}

/** A place for a hit that is on its way. */
export function shadow() {
  return h("li", { class: "hit shadow", "aria-hidden": "true" }, h("span", { class: "rank" }), h("div", {}, h("i"), h("i"), h("i")));
}
