// The page: what is typed, what is asked, what is shown.

import { Answer, available } from "./answer.js";
import { askForKey, get, post } from "./api.js";
import { $, h, harmless, plain, show } from "./dom.js";
import * as evaluation from "./evaluation.js";
import { card, shadow } from "./hits.js";
import { listen, select } from "./keys.js";
import { legend, whole } from "./ledger.js";
import * as place from "./place.js";
import * as sourcesView from "./sources.js";
import { line, problem } from "./status.js";
import { assign, tone } from "./tones.js";
import { count, day, many, moment } from "./words.js";
import { WhatIf } from "./whatif.js";

const FIRST = 10; // hits shown at once
const FETCHED = 30; // hits asked for at once
const PAUSE = 30; // milliseconds without a key before a search
const LATE = 250; // milliseconds before places are held for hits

const PERIODS = [["", "any time"], ["1d", "in the last day"], ["7d", "in the last week"], ["30d", "in the last month"], ["90d", "in the last 3 months"], ["365d", "in the last year"], ["range", "between\u2026"]];

let state = place.read();
let known = []; // the sources of the store
let examples = [];
let answer = null; // the last search: {hits, total, status, ms}
let counts = null; // how many hits each source has in the same search of all sources: {key, by, total, order}
let shown = FIRST;
let running = null;
let timer = null;

const whatIf = new WhatIf($("whatif"), {
  ranked: (hits, status) => drawHits(hits, status),
  closed: () => {
    $("what").setAttribute("aria-expanded", "false");
    if (answer) drawHits(answer.hits, answer.status);
  },
});
const asking = new Answer($("answer"), { jump, closed: () => $("ask").setAttribute("aria-expanded", "false") });

const now = () => moment(answer?.status?.now) ?? moment(state.now) ?? Date.now();
const everywhere = () => JSON.stringify(place.request({ ...state, sources: [] }));

// --- searching

/** Searches for what the state says; an older search is given up. */
async function search() {
  clearTimeout(timer);
  running?.abort();
  if (!state.query.trim()) return idle();
  // An answer belongs to its question.
  if (asking.isOpen && asking.key !== JSON.stringify(place.request(state))) asking.close();
  running = new AbortController();
  const { signal } = running;
  busy(true);
  const late = setTimeout(() => { if (!answer) show($("hits"), shadow(), shadow(), shadow()); }, LATE);
  const started = performance.now();
  try {
    const found = await post("/v1/search", place.request(state, { k: FETCHED }), signal);
    answer = { ...found, ms: performance.now() - started };
    busy(false);
    shown = FIRST;
    if (!state.sources.length) counts = counted(found);
    draw();
    if (whatIf.isOpen) whatIf.open(place.request(state, { k: FETCHED }), answer.hits);
    if (state.sources.length && counts?.key !== everywhere()) countEverywhere(signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    busy(false);
    answer = null;
    show($("hits"));
    show($("more"));
    show($("empty"));
    show($("status"), error.status === 401 ? h("button", { type: "button", class: "primary", onclick: () => $("key").showModal() }, "Give a key") : problem(error));
  } finally {
    clearTimeout(late);
  }
}

/** Says that the hits are not yet those of the query. */
const busy = (yes) => $("hits").setAttribute("aria-busy", String(yes));

/** The counts of the pills, when only some sources were searched. */
async function countEverywhere(signal) {
  const key = everywhere();
  const found = await post("/v1/search", place.request({ ...state, sources: [] }, { k: FETCHED }), signal).catch(() => null);
  if (!found || key !== everywhere()) return;
  counts = counted(found);
  drawPills();
}

/** The hits of a search by source, and the sources by their best hit. */
const counted = ({ by_source: by, hits, total }) => ({ key: everywhere(), by, total, order: [...new Set(hits.map((hit) => hit.source))] });

/** The next hits: those that are here, or more from the server. */
async function more() {
  const from = answer.hits.length;
  shown += FIRST;
  if (shown > from && from < answer.total) {
    const next = await post("/v1/search", place.request(state, { k: FETCHED, offset: from })).catch(() => null);
    if (next) answer.hits.push(...next.hits);
  }
  const last = document.querySelectorAll("#hits .hit").length;
  drawHits(answer.hits, answer.status);
  select(document.querySelectorAll("#hits .hit")[last]);
}

// --- showing

function draw() {
  drawPills();
  for (const id of ["what", "ask"]) $(id).disabled = !answer.hits.length;
  show($("status"), line(answer), h("span", { class: "legend", "aria-hidden": "true" }, legend(answer.hits.slice(0, FIRST))));
  show($("empty"), answer.hits.length ? null : nothingFound());
  drawHits(answer.hits, answer.status);
}

function drawHits(hits, status) {
  const scale = whole(hits);
  const clock = moment(status?.now) ?? now();
  const held = document.activeElement?.closest?.("#hits .hit")?.dataset.id;
  const visible = hits.slice(0, shown);
  show($("hits"), visible.map((hit, at) => card(hit, { above: hits[at - 1], scale, now: clock })));
  const left = (whatIf.isOpen ? hits.length : answer.total) - visible.length;
  show($("more"), left > 0 && !(whatIf.isOpen && visible.length >= hits.length) ? h("button", { type: "button", class: "quiet wide", onclick: more }, `Show ${Math.min(FIRST, left)} more of ${many(left, "hit")}`) : null);
  if (held) select([...document.querySelectorAll("#hits .hit")].find((one) => one.dataset.id === held));
}

function drawPills() {
  $("filters").hidden = !state.query.trim();
  const by = (counts?.key === everywhere() && counts.by) || {};
  const best = (name) => ((counts?.order.indexOf(name) ?? -1) + 1 || 1e9);
  const names = [...new Set([...Object.keys(by), ...state.sources])];
  // Those that answer best come first.
  names.sort((a, b) => best(a) - best(b) || (by[b] ?? 0) - (by[a] ?? 0) || (a < b ? -1 : 1));
  const pill = (name, label, amount, pressed, title) =>
    h("button", { type: "button", class: `pill ${name === null ? "" : tone(name)}`, "aria-pressed": String(pressed), title, onclick: (event) => pick(name, event.ctrlKey || event.metaKey || event.shiftKey) },
      h("bdi", {}, plain(label)), amount === undefined ? null : h("span", { class: "amount" }, count(amount)));
  const about = (name) => harmless(`${many(by[name] ?? 0, "hit")} of ${count(counts?.total ?? 0)} in all sources. A click searches ${name} alone, and further down; Ctrl or Shift adds a source`);
  show($("pills"),
    pill(null, "All", counts?.key === everywhere() ? counts.total : undefined, !state.sources.length, "all sources"),
    names.map((name) => pill(name, name, by[name] ?? (counts?.key === everywhere() ? 0 : undefined), state.sources.includes(name), about(name))));
}

function nothingFound() {
  if (answer.status.partial) {
    return h("div", { class: "blank" }, h("p", {}, "Nothing came in time."), h("p", {}, h("button", { type: "button", class: "primary", onclick: search }, "Search again")));
  }
  const tips = [];
  if (state.sources.length) tips.push(h("li", {}, h("button", { type: "button", class: "text", onclick: () => go({ sources: [] }) }, "search all sources"), `, not only ${harmless(state.sources.join(", "))}`));
  if (state.since || state.until) tips.push(h("li", {}, h("button", { type: "button", class: "text", onclick: () => go({ since: "", until: "" }) }, "search any time")));
  tips.push(h("li", {}, "use fewer or other words; names in code are found by their parts, too"));
  if (!known.some((source) => source.vectors)) tips.push(h("li", {}, h("code", {}, "mainstem model pull"), " lets documents be found by meaning"));
  return h("div", { class: "blank" }, h("p", {}, "Nothing matches \u201c", plain(state.query), "\u201d."), h("p", { class: "dim" }, "You could"), h("ul", {}, tips));
}

/** No query: what there is, and what one might ask. */
function idle() {
  busy(false);
  answer = null;
  counts = null;
  if (whatIf.isOpen) whatIf.close();
  asking.close();
  $("filters").hidden = true;
  show($("status"));
  show($("hits"));
  show($("more"));
  // Whoever may read only a part of a source is not told how much it holds.
  const documents = known.reduce((sum, source) => sum + (source.documents ?? NaN), 0);
  const example = ({ query, about }) => h("li", {}, h("button", { type: "button", class: "example", onclick: () => ask(query) }, h("span", {}, plain(query)), about ? h("span", { class: "dim" }, plain(about)) : null));
  const source = (one) => h("li", { class: tone(one.name) }, h("span", { class: "swatch" }), h("bdi", {}, plain(one.name)), one.documents === undefined ? null : h("span", { class: "dim" }, count(one.documents)));
  show($("empty"), h("div", { class: "start" },
    h("p", { class: "headline" }, "One question, many sources, one answer that says why."),
    known.length
      ? [h("p", { class: "lead" }, `${Number.isNaN(documents) ? "" : `${many(documents, "document")} in `}${many(known.length, "source")} ${known.length === 1 && Number.isNaN(documents) ? "is" : "are"} searched at once.`),
        examples.length ? [h("h2", {}, "Try"), h("ul", { class: "examples" }, examples.map(example))] : h("p", { class: "dim" }, "Ask a question, type a name, or paste an error message."),
        h("h2", {}, "Sources"), h("ul", { class: "shelf" }, known.map(source))]
      : sourcesView.nothing()));
}

/** Shows the hit that has one of these names, or is of the same document, if it is here. */
function jump(ids) {
  const whole = (id) => id.replace(/#\d+$/, "");
  const find = (fits) => answer?.hits.findIndex(fits) ?? -1;
  const exact = find((hit) => ids.includes(hit.id));
  const at = exact >= 0 ? exact : find((hit) => whole(hit.id) === whole(ids[0]));
  if (at < 0) return false;
  if (at >= shown) {
    shown = at + 1;
    drawHits(answer.hits, answer.status);
  }
  const hit = document.querySelectorAll("#hits .hit")[at];
  select(hit);
  hit.scrollIntoView({ block: "center" });
  hit.classList.remove("flash");
  requestAnimationFrame(() => hit.classList.add("flash"));
  return true;
}

// --- what a person does

/** Changes the state, the address, and what is shown. */
function go(change, how = "push") {
  state = { ...state, ...change };
  place.write(state, how);
  apply();
}

/** The first letters make an entry of the history, so that one can go back to where they were not there; the others go on in it. */
function typed() {
  place.write(state, place.read().query ? "replace" : "push");
  apply();
}

function ask(query) {
  $("query").value = query;
  $("query").focus();
  go({ query, view: "search" });
}

function pick(name, add) {
  if (name === null) return go({ sources: [] });
  const chosen = state.sources.includes(name);
  if (add) return go({ sources: chosen ? state.sources.filter((one) => one !== name) : [...state.sources, name] });
  go({ sources: chosen && state.sources.length === 1 ? [] : [name] });
}

/** Shows what the state says. */
function apply() {
  document.title = state.query ? `${harmless(state.query)} \u2013 Mainstem` : "Mainstem";
  for (const view of ["search", "sources", "evaluation"]) $(`view-${view}`).hidden = view !== state.view;
  for (const tab of document.querySelectorAll("[data-view]")) {
    if (tab.dataset.view === state.view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
    tab.href = place.address({ ...state, view: tab.dataset.view });
  }
  if ($("query").value !== state.query) $("query").value = state.query;
  const ranged = Boolean(state.until) || /^\d{4}-/.test(state.since);
  $("period").value = ranged ? "range" : state.since;
  $("range").hidden = !ranged;
  $("from").value = ranged ? state.since : "";
  $("to").value = state.until;
  show($("clock"), state.now ? h("button", { type: "button", class: "chip", title: "ages and freshness are counted from this day; click for today", onclick: () => go({ now: "" }) }, `clock: ${day(moment(state.now) ?? Date.now())}`, h("span", { "aria-hidden": "true" }, " \u00d7"), h("span", { class: "hidden" }, " (use today)")) : null);
  if (state.view === "sources") sourcesView.draw($("view-sources"), moment(state.now) ?? Date.now());
  else if (state.view === "evaluation") evaluation.draw($("view-evaluation"));
  else search();
}

function toggleWhatIf() {
  if (whatIf.isOpen) return whatIf.close();
  if (!answer?.hits.length) return;
  $("what").setAttribute("aria-expanded", "true");
  whatIf.open(place.request(state, { k: FETCHED }), answer.hits);
}

async function toggleAnswer() {
  if (asking.isOpen) return asking.close();
  if (!answer?.hits.length || $("ask").hidden) return;
  $("ask").setAttribute("aria-expanded", "true");
  const request = place.request(state);
  asking.key = JSON.stringify(request);
  if (!(await asking.ask(request))) $("ask").hidden = true;
}

function theme() {
  const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const kept = localStorage.getItem("mainstem-theme");
  if (kept) document.documentElement.dataset.theme = kept;
  const tell = () => $("theme").setAttribute("aria-pressed", String(dark()));
  $("theme").addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    localStorage.setItem("mainstem-theme", next);
    tell();
  });
  tell();
}

function wire() {
  show($("period"), PERIODS.map(([value, name]) => h("option", { value }, name)));
  $("query").addEventListener("input", () => {
    state = { ...state, query: $("query").value };
    busy(true);
    clearTimeout(timer);
    timer = setTimeout(typed, PAUSE);
  });
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    go({ query: $("query").value });
  });
  $("period").addEventListener("change", () => {
    const value = $("period").value;
    if (value !== "range") return go({ since: value, until: "" });
    $("range").hidden = false;
    $("from").focus();
  });
  for (const id of ["from", "to"]) $(id).addEventListener("change", () => go({ since: $("from").value, until: $("to").value }));
  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-view], #home");
    if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (tab.id === "home") ask("");
    else go({ view: tab.dataset.view });
  });
  $("what").addEventListener("click", toggleWhatIf);
  $("ask").addEventListener("click", toggleAnswer);
  $("help").addEventListener("click", () => $("shortcuts").showModal());
  addEventListener("popstate", () => { state = place.read(); apply(); });
  listen({
    whatIf: toggleWhatIf,
    answer: toggleAnswer,
    escape: () => {
      if (whatIf.isOpen) return whatIf.close(), true;
      if (asking.isOpen) return asking.close(), true;
      return false;
    },
  });
}

/** What the store has: for colours, pills and the first view. */
async function learn() {
  const [{ sources }, { reports }, health] = await Promise.all([
    get("/v1/sources").catch(() => ({ sources: [] })), get("/v1/reports").catch(() => ({ reports: [] })), get("/healthz").catch(() => ({}))]);
  known = sources;
  assign(sources.map((source) => source.name));
  examples = reports.find((report) => report.kind === "examples")?.report.queries ?? [];
  show($("version"), health.version ? `Mainstem ${health.version}` : "");
}

theme();
askForKey();
wire();
$("query").value = state.query;
await learn();
apply();
if (state.view === "search" && !state.query) $("query").focus();
available().then((can) => { $("ask").hidden = !can; });
