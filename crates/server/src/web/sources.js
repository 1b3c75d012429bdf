// What each source holds, how fresh it is, and what is linked.

import { get } from "./api.js";
import { h, harmless, plain, show } from "./dom.js";
import * as links from "./links.js";
import { badge } from "./tones.js";
import { age, count, hour, many, moment, percent } from "./words.js";

/** Fills the view. */
export async function draw(view, now) {
  try {
    const [{ sources }, kept] = await Promise.all([get("/v1/sources"), get("/v1/reports").catch(() => ({ reports: [] }))]);
    const ingests = new Map(kept.reports.filter((one) => one.kind === "ingest").map((one) => [one.source, one]));
    const counted = sources.every((source) => source.documents !== undefined);
    const sum = (name) => sources.reduce((total, source) => total + source[name], 0);
    show(view,
      h("h1", {}, "Sources"),
      sources.length
        ? [h("p", { class: "lead" }, counted ? `${many(sources.length, "source")}, ${many(sum("documents"), "document")}, ${many(sum("chunks"), "chunk")}; ${meaning(sum("vectors"), sum("chunks"))}.` : `${many(sources.length, "source")}; your key reads a part of them, so they are not counted.`),
          table(sources, ingests, now), links.section()]
        : nothing());
  } catch (error) {
    show(view, h("h1", {}, "Sources"), h("p", { class: "problem" }, harmless(error.message)));
  }
}

/** What to do with a store that has nothing. A server has its store to itself: documents go through it. */
export function nothing() {
  return h("div", { class: "blank" },
    h("p", {}, "This store is empty. Put something in, from a terminal:"),
    h("pre", {}, `mainstem --server ${location.origin} ingest ~/notes --source notes`),
    h("p", { class: "dim" }, "Folders of Markdown, text, HTML and code, and JSONL with a document on each line. For a look at samples first: ", h("code", {}, "mainstem demo --open")));
}

/** How much can be found by meaning, and how to change that. */
function meaning(vectors, chunks) {
  if (!vectors) return "found by words alone until `mainstem model pull` has run and they are ingested again";
  return `${percent(vectors / Math.max(1, chunks))} can be found by meaning`;
}

function time(value, now) {
  const at = moment(value);
  return at === null ? h("span", { class: "dim" }, "\u2013") : h("time", { datetime: new Date(at).toISOString(), title: hour(at) }, age(at, now));
}

/** What the last run said: what it changed, and what it could not read. */
function lastRun(ingest) {
  if (!ingest) return h("span", { class: "dim" }, "\u2013");
  const { added = 0, changed = 0, removed = 0, skipped } = ingest.report;
  const told = [[added, "added"], [changed, "changed"], [removed, "removed"]].filter(([amount]) => amount).map(([amount, word]) => `${count(amount)} ${word}`);
  const first = skipped?.first ?? [];
  return [
    told.join(", ") || "nothing new",
    skipped?.count
      ? h("details", { class: "errors" }, h("summary", {}, `${many(skipped.count, "problem")}`), h("ul", {}, first.map((skip) => h("li", {}, plain(`${skip.what}: ${skip.why}`)))))
      : null,
  ];
}

const amount = (value, say = count) => (value === undefined || Number.isNaN(value) ? "\u2013" : say(value));

function table(sources, ingests, now) {
  const most = Math.max(...sources.map((source) => source.documents ?? 0), 1);
  const row = (source) =>
    h("tr", {},
      h("th", { scope: "row" }, badge(source.name)),
      h("td", { class: "dim" }, plain(source.kind)),
      h("td", { class: "number" }, source.documents === undefined ? null : h("span", { class: "meter", "aria-hidden": "true", "--w": `${(100 * source.documents) / most}%` }), amount(source.documents)),
      h("td", { class: "number" }, amount(source.chunks)),
      h("td", { class: "number" }, amount(source.vectors / Math.max(1, source.chunks), percent)),
      h("td", {}, time(source.newest, now)),
      h("td", {}, time(source.written_at, Date.now())),
      ingests.size ? h("td", {}, lastRun(ingests.get(source.name))) : null);
  const heads = ["source", "kind", "documents", "chunks", "by meaning", "newest", "last ingest", ...(ingests.size ? ["what it did"] : [])];
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table of sources" },
    h("table", { class: "wide" },
      h("thead", {}, h("tr", {}, heads.map((name, at) => h("th", { scope: "col", class: at > 1 && at < 5 ? "number" : null }, name)))),
      h("tbody", {}, sources.map(row))));
}
