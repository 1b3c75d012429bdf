// What if: the lists of the last search, ranked again with other settings. The server fuses; nothing is searched again.

import { post } from "./api.js";
import { h, harmless, show } from "./dom.js";
import { warnings } from "./status.js";
import { many, number } from "./words.js";

const METHODS = [
  ["", "as configured"], ["rrf", "RRF, by rank"], ["isr", "ISR, by rank"], ["borda", "Borda count"], ["condorcet", "Condorcet"],
  ["linear", "linear, by score"], ["rsf", "RSF, by score"], ["combsum", "CombSUM"], ["combmnz", "CombMNZ"], ["dbsf", "DBSF"],
];
const ACROSS = [["", "as configured"], ["calibrated", "by calibrated score"], ["score", "by score"], ["rank", "by rank alone"]];
const HALF_LIVES = [1, 2, 3, 7, 14, 30, 60, 90, 180, 365];
export const SHOWN = 30;

const usual = () => ({ method: "", across: "", channels: {}, sources: {}, recency: "", half: 5, fresh: 0.3, dedup: true, diversify: false, lambda: 0.7, neighbours: true, prior: true });

/** The lists of a recording, whichever way they are written. */
const lists = (recorded) => recorded.lists ?? (recorded.variants ?? []).flatMap((variant) => variant.lists);
const channelName = (name) => name.slice(name.lastIndexOf("/") + 1);

/** The recording under other settings. */
export function changed(recorded, wish) {
  const pipeline = { ...recorded.pipeline, limit: SHOWN, offset: 0 };
  if (wish.method || wish.across) {
    // Who asks for another way to fuse gets it plain, as in a search.
    for (const stage of ["fuse", "neighbours", "prior"]) delete pipeline[stage];
    if (wish.across) pipeline.across = wish.across;
    pipeline.fuse = { method: wish.method || (wish.across === "score" ? "linear" : "rrf") };
    if (wish.across === "calibrated" && !wish.method) pipeline.fuse = { method: "linear", normalise: "calibrated" };
  }
  if (!wish.dedup) delete pipeline.dedup;
  if (!wish.neighbours) delete pipeline.neighbours;
  if (!wish.prior) delete pipeline.prior;
  if (wish.recency === "off") delete pipeline.recency;
  if (wish.recency === "all") pipeline.recency = { "*": { half_life: `${HALF_LIVES[wish.half]}d`, weight: wish.fresh, scaled: true } };
  if (wish.diversify) pipeline.diversify = { lambda: wish.lambda };
  const weigh = (one) => ({ ...one, weight: one.weight * (wish.channels[channelName(one.name)] ?? 1) * (wish.sources[one.source] ?? 1) });
  if (recorded.lists) return { ...recorded, pipeline, lists: recorded.lists.map(weigh) };
  return { ...recorded, pipeline, variants: recorded.variants.map((variant) => ({ ...variant, lists: variant.lists.map(weigh) })) };
}

/** A hit of a fusion as the cards show it. What the search has shown already is known better. */
function shown(hit, known, was) {
  const place = was.get(hit.id);
  const moved = { was: place === undefined ? null : place };
  const before = known.get(hit.id);
  if (before) return { ...before, rank: hit.rank, score: hit.score, alternates: hit.alternates, ledger: hit.ledger, ...moved };
  const { id, rank, score, sources, alternates, ledger, title, text, label, created_at, key, document, order, url, heading, readers, ...metadata } = hit;
  const name = document ?? id.replace(/#\d+$/, "");
  const at = name.indexOf("/");
  const long = (text ?? "").length > 240;
  const snippet = long ? `${text.slice(0, 240)}\u2026` : (text ?? "");
  return { id, rank, score, sources, alternates, ledger, title, label, text, url, created_at, heading, metadata, snippet, highlights: [], source: at < 0 ? sources[0] : name.slice(0, at), document: name.slice(at + 1), ...moved };
}

/** The panel. `ranked` is told of every new order; `closed` when it is over. */
export class WhatIf {
  constructor(panel, { ranked, closed }) {
    Object.assign(this, { panel, ranked, closed, wish: usual(), running: null, recorded: null });
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  /** Records a search and shows the controls. */
  async open(request, hits) {
    this.panel.hidden = false;
    this.known = new Map(hits.map((hit) => [hit.id, hit]));
    if (!this.recorded) show(this.panel, this.head(), h("p", { class: "dim" }, "Fetching the lists\u2026"));
    this.running?.abort();
    this.running = new AbortController();
    try {
      const recorded = await post("/v1/record", request, this.running.signal);
      const first = await post("/v1/fuse", changed(recorded, usual()), this.running.signal);
      this.was = new Map(first.hits.map((hit) => [hit.id, hit.rank]));
      this.recorded = recorded;
      this.draw();
      await this.rank();
    } catch (error) {
      if (error.name !== "AbortError") show(this.panel, this.head(), h("p", { class: "problem" }, harmless(error.message)));
    }
  }

  close() {
    this.running?.abort();
    this.panel.hidden = true;
    this.recorded = null;
    this.wish = usual();
    this.closed();
  }

  /** Ranks the recorded lists as wished. */
  async rank() {
    this.running?.abort();
    this.running = new AbortController();
    try {
      const answer = await post("/v1/fuse", changed(this.recorded, this.wish), this.running.signal);
      const hits = answer.hits.map((hit) => shown(hit, this.known, this.was));
      // A stage that needs more than the lists, such as a learned model, says here that it did not run.
      const gaps = warnings(answer.status).map((gap) => h("span", { class: "problem" }, ` ${harmless(gap)}`));
      show(this.told, this.summary(hits), gaps);
      this.ranked(hits, answer.status);
    } catch (error) {
      if (error.name !== "AbortError") show(this.told, h("span", { class: "problem" }, harmless(`${error.message} (${error.hint ?? ""})`)));
    }
  }

  summary(hits) {
    const ten = hits.slice(0, 10);
    const moved = ten.filter((hit) => hit.was !== hit.rank).length;
    const risen = ten.filter((hit) => hit.was === null || hit.was > 10).length;
    if (!moved) return `${hits.length > ten.length ? "The first ten" : "The hits"} stay as they are.`;
    return `${moved} of the first ${ten.length} moved${risen ? `, ${risen} came up from below` : ""}.`;
  }

  head() {
    const close = h("button", { type: "button", class: "icon", onclick: () => this.close() }, h("span", { "aria-hidden": "true" }, "\u00d7"), h("span", { class: "hidden" }, "Close what if"));
    return h("div", { class: "head" }, h("h2", {}, "What if"), close);
  }

  draw() {
    this.told = h("p", { class: "told", role: "status" });
    const wish = this.wish;
    const change = (name) => (value) => {
      wish[name] = value;
      this.rank();
    };
    const channels = [...new Set(lists(this.recorded).map((one) => channelName(one.name)))];
    const sources = [...new Set(lists(this.recorded).map((one) => one.source))].sort();
    const named = { lexical: "Words", dense: "Meaning" };
    const weight = (table, name, label) => slider(label, [0, 2, 0.1], table[name] ?? 1, (value) => `\u00d7${number(value, 1)}`, (value) => {
      table[name] = value;
      this.rank();
    });
    show(this.panel, this.head(),
      h("p", { class: "dim" }, "The same lists, ranked otherwise. Nothing is searched again."),
      this.told,
      choice("Fusion", METHODS, wish.method, change("method")),
      choice("Sources meet", ACROSS, wish.across, change("across")),
      h("fieldset", {}, h("legend", {}, "Weights"), channels.map((name) => weight(wish.channels, name, named[name] ?? name)),
        h("details", {}, h("summary", {}, "of each source"), sources.map((name) => weight(wish.sources, name, name)))),
      this.freshness(change),
      h("fieldset", {}, h("legend", {}, "Stages"),
        check("Fold copies", wish.dedup, change("dedup")),
        check("Hits like it", wish.neighbours, change("neighbours")),
        check("Weigh by source", wish.prior, change("prior")),
        check("Diversity", wish.diversify, change("diversify")),
        slider("Relevance", [0, 1, 0.05], wish.lambda, (value) => number(value, 2), change("lambda"))),
      h("div", { class: "row" },
        h("button", { type: "button", class: "quiet", onclick: () => this.reset() }, "Reset"),
        h("button", { type: "button", class: "quiet", onclick: (event) => this.copy(event.currentTarget) }, "Copy settings")));
  }

  freshness(change) {
    const wish = this.wish;
    const half = slider("Half-life", [0, HALF_LIVES.length - 1, 1], wish.half, (value) => many(HALF_LIVES[value], "day"), (value) => {
      wish.recency = "all";
      select.querySelector("select").value = "all";
      change("half")(value);
    });
    const counts = slider("Counts", [0, 1, 0.05], wish.fresh, (value) => number(value, 2), (value) => {
      wish.recency = "all";
      select.querySelector("select").value = "all";
      change("fresh")(value);
    });
    const select = choice("Rule", [["", "as configured"], ["off", "off"], ["all", "the same for all"]], wish.recency, change("recency"));
    return h("fieldset", {}, h("legend", {}, "Freshness"), select, half, counts);
  }

  reset() {
    this.wish = usual();
    this.draw();
    this.rank();
  }

  /** The settings as `pipeline` of a request, or of a configuration written as JSON. */
  async copy(button) {
    const { limit, offset, ...pipeline } = changed(this.recorded, this.wish).pipeline;
    await navigator.clipboard?.writeText(JSON.stringify(pipeline, null, 2)).catch(() => undefined);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy settings"), 1500);
  }
}

let last = 0;
const fresh = () => `w${(last += 1)}`;

function choice(label, options, value, change) {
  const id = fresh();
  const select = h("select", { id, onchange: (event) => change(event.target.value) }, options.map(([key, name]) => h("option", { value: key, selected: key === value }, name)));
  return h("div", { class: "control" }, h("label", { for: id }, label), select);
}

function slider(label, [min, max, step], value, say, change) {
  const id = fresh();
  const told = h("output", { for: id }, say(value));
  const range = h("input", { id, type: "range", min, max, step, value, "aria-valuetext": harmless(say(value)) });
  range.addEventListener("input", () => {
    told.textContent = say(Number(range.value));
    range.setAttribute("aria-valuetext", harmless(say(Number(range.value))));
    change(Number(range.value));
  });
  return h("div", { class: "control" }, h("label", { for: id }, harmless(label)), range, told);
}

function check(label, value, change) {
  const id = fresh();
  return h("div", { class: "control check" }, h("input", { id, type: "checkbox", checked: value, onchange: (event) => change(event.target.checked) }), h("label", { for: id }, label));
}
