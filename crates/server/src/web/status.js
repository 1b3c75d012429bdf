// What is not as it should be about an answer, in one line; an answer never hides a gap.

import { h, harmless } from "./dom.js";
import { channel, list, many } from "./words.js";

const STATES = { timed_out: "was late", failed: "failed", skipped: "was skipped", slow: "was slow" };

/** Legs with the same fate, told once: "meaning was late in wiki and slack". */
function legs(status) {
  const fates = new Map();
  for (const leg of status.legs ?? []) {
    if (!["timed_out", "failed"].includes(leg.state)) continue;
    const at = leg.name.lastIndexOf("/");
    const key = `${channel(leg.name.slice(at + 1))} ${STATES[leg.state]}`;
    fates.set(key, [...(fates.get(key) ?? []), leg.source]);
  }
  const all = new Set((status.legs ?? []).map((leg) => leg.source)).size;
  return [...fates].map(([fate, sources]) => {
    const names = [...new Set(sources)];
    const where = names.length === all ? "in all sources" : `in ${names.length > 4 ? many(names.length, "source") : list(names)}`;
    return `search by ${fate} ${where}`;
  });
}

/** Warnings about an answer; none when all is well. */
export function warnings(status) {
  const told = [];
  if (status.partial) {
    const missing = legs(status);
    told.push(`This answer is partial: ${missing.length ? missing.join("; ") : "some lists are missing"}.`);
  }
  for (const stage of status.stages ?? []) {
    if (stage.state !== "failed") continue;
    const what = stage.stage === "rerank" ? "The reranker fell back" : `The stage \u201c${stage.stage}\u201d fell back`;
    told.push(`${what}: ${stage.reason ?? "it could not run"}. The order before it stays.`);
  }
  return told;
}

/** The line over the hits. */
export function line({ total, status, ms }) {
  const problems = warnings(status);
  const notes = (status.notes ?? []).filter((note) => !/^settings of/.test(note));
  return [
    h("span", { class: "count" }, total ? `${many(total, "hit")}` : "Nothing found", h("span", { class: "dim" }, ` in ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`)),
    problems.map((problem) => h("span", { class: "warn" }, harmless(problem))),
    notes.length ? h("details", { class: "notes" }, h("summary", {}, many(notes.length, "remark")), h("ul", {}, notes.map((note) => h("li", {}, harmless(note))))) : null,
  ];
}

/** An error as the server tells it. */
export function problem(error) {
  return h("span", { class: "warn" }, harmless(error.message), error.hint ? h("span", { class: "dim" }, ` (${harmless(error.hint)})`) : null);
}
