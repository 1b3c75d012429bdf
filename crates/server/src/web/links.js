// The runs that looked for links: what they found, and taking it back.

import { get, post, remove } from "./api.js";
import { h, harmless, link, plain, show } from "./dom.js";
import { badge } from "./tones.js";
import { age, capital, count, hour, list, many, moment, number } from "./words.js";

const SHOWN = 10; // links of a run
const NAMED = 4; // sources of a run
const PAUSE = 400; // milliseconds between two looks at a run that is under way
const WAYS = { dense: "meaning", lexical: "words", title: "title" };

let timer = 0;

/** A place for the section, which fills by itself. */
export function section() {
  const place = h("section", { class: "links", "aria-labelledby": "links-title" });
  draw(place);
  return place;
}

async function draw(place, problem = null) {
  clearTimeout(timer);
  let told;
  try {
    told = await get("/v1/links/runs");
  } catch (error) {
    // A server of before has none.
    return error.status === 404 ? undefined : show(place, h("p", { class: "problem" }, harmless(error.message)));
  }
  const { runs, running, ended, startable } = told;
  const failed = ended && ended.state !== "done" && !running ? `The last run ${ended.state === "failed" ? `failed${ended.error ? `: ${ended.error}` : ""}` : "was stopped"}; nothing of it is kept.` : null;
  show(place,
    h("div", { class: "head" }, h("h2", { id: "links-title" }, "Links"), startable && !running ? h("button", { type: "button", class: "quiet", onclick: () => start(place) }, runs.length ? "Look again" : "Look for links") : null),
    h("p", { class: "lead" }, "Which documents belong together, across sources. Each run says so under its own name, and can be taken back."),
    problem || failed ? h("p", { class: "problem", role: "alert" }, plain(problem ?? failed)) : null,
    running ? underWay(running) : null,
    runs.length ? table(place, runs) : running ? null : h("p", { class: "dim" }, "No run yet. From a terminal: ", h("code", {}, `mainstem --server ${location.origin} link run`)));
  // Only while somebody looks at it.
  if (running) timer = setTimeout(() => { if (place.isConnected && !place.closest("[hidden]")) draw(place); }, PAUSE);
}

async function start(place) {
  try {
    await post("/v1/links/runs", { wait: false });
    await draw(place);
  } catch (error) {
    await draw(place, capital(`${error.message}; ${error.hint}`));
  }
}

function underWay(run) {
  const share = run.of ? Math.min(1, run.done / run.of) : 0;
  return h("p", { class: "under-way", role: "status" }, h("span", { class: "meter", "aria-hidden": "true", "--w": `${100 * share}%` }), run.dry_run ? "Looking, to keep nothing, " : "Looking for links ", "in ", sources(run.sources), run.of ? ` ${Math.floor(100 * share)}\u202f%` : "\u2026");
}

function sources(names) {
  const more = names.length - NAMED;
  return [names.slice(0, NAMED).map(badge), more > 0 ? h("span", { class: "dim", title: harmless(names.slice(NAMED).join(", ")) }, `and ${more} more`) : null];
}

function time(value) {
  const at = moment(value);
  return at === null ? "\u2013" : h("time", { datetime: new Date(at).toISOString(), title: hour(at) }, age(at, Date.now()));
}

/** How a run looked, in words. */
function how({ settings }) {
  const ways = settings.ways.map((way) => WAYS[way] ?? way);
  const parts = [`by ${list(ways)}`, `${count(settings.per_document)} at most for each document`];
  if (settings.least !== null) parts.push(`scores of ${number(settings.least, 2)} or more`);
  if (!settings.within) parts.push("across sources only");
  return parts.join(", ");
}

function table(place, runs) {
  const rows = runs.flatMap((run) => {
    const inside = h("td", { colspan: 5 });
    const below = h("tr", { class: "said", hidden: true }, inside);
    return [row(place, run, below, inside), below];
  });
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table of link runs" },
    h("table", { class: "wide runs" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "run"), h("th", { scope: "col" }, "sources"), h("th", { scope: "col" }, "how it looked"), h("th", { scope: "col", class: "number" }, "links"), h("th", { scope: "col" }, h("span", { class: "hidden" }, "what to do")))),
      h("tbody", {}, rows)));
}

function row(place, run, below, inside) {
  const look = h("button", { type: "button", class: "quiet small", "aria-expanded": "false" }, "Show");
  look.addEventListener("click", () => {
    const open = below.hidden;
    below.hidden = !open;
    look.setAttribute("aria-expanded", String(open));
    if (open && !inside.hasChildNodes()) said(inside, run.id);
  });
  const undone = run.undone_at !== null;
  return h("tr", { class: undone ? "undone" : null },
    h("th", { scope: "row", title: harmless(run.id) }, time(run.made_at)),
    h("td", {}, h("span", { class: "badges" }, sources(run.sources))),
    h("td", { class: "dim how" }, how(run), run.documents === undefined ? null : `; ${many(run.documents, "document")}`),
    h("td", { class: "number" }, run.edges === undefined ? "\u2013" : count(run.edges)),
    h("td", { class: "acts" }, undone
      ? h("span", { class: "dim" }, "undone ", time(run.undone_at))
      : [look, run.undoable ? h("button", { type: "button", class: "quiet small", onclick: (event) => confirm(place, run, event.currentTarget) }, "Undo") : null]));
}

const name = (end) => end.title ?? end.label?.replace(/^\[(.*)\]$/s, "$1") ?? end.document;
const end = (one) => h("span", { class: "end" }, badge(one.source), link(one.url, {}, h("bdi", {}, plain(name(one)))));

/** What a run said: its best links. */
async function said(inside, id) {
  try {
    const { links, more } = await get(`/v1/links/runs/${encodeURIComponent(id)}?k=${SHOWN}`);
    const pair = (one) => h("li", { title: harmless(one.reason) }, h("span", { class: "sure" }, number(one.score, 2)), end(one.a), h("span", { class: "dim", "aria-hidden": "true" }, "\u2014"), end(one.b), one.stale ? h("span", { class: "chip" }, "may be out of date") : null);
    show(inside, links.length ? h("ul", { class: "pairs" }, links.map(pair)) : h("p", { class: "dim" }, "It says nothing that you may read."), more ? h("p", { class: "dim" }, `The best ${SHOWN}. All of them: `, h("code", {}, `mainstem link list ${id}`)) : null);
  } catch (error) {
    show(inside, h("p", { class: "problem" }, harmless(error.message)));
  }
}

/** Asks once more before a run is taken back. */
function confirm(place, run, button) {
  const amount = run.edges === undefined ? "Its links go" : `Its ${many(run.edges, "link")} ${run.edges === 1 ? "goes" : "go"}`;
  const box = h("dialog", { class: "ask-undo", "aria-labelledby": "undo-title" },
    h("h2", { id: "undo-title" }, "Undo this run?"),
    h("p", {}, `${amount}; what another run says, too, stays. This cannot be taken back, but a new run finds them again.`),
    h("div", { class: "choices" },
      h("button", { type: "button", class: "primary danger", onclick: async () => {
        box.close("undo");
        try {
          await remove(`/v1/links/runs/${encodeURIComponent(run.id)}`);
          await draw(place);
        } catch (error) {
          await draw(place, capital(`${error.message}; ${error.hint}`));
        }
      } }, "Undo"),
      h("button", { type: "button", class: "quiet", autofocus: true, onclick: () => box.close() }, "Keep it")));
  box.addEventListener("close", () => {
    box.remove();
    if (box.returnValue !== "undo") button.focus();
  });
  document.body.append(box);
  box.showModal();
}
