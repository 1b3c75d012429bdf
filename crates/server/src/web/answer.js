// The answer of a language model, with its sources; without a model, the context that one would read.

import { events, get } from "./api.js";
import { h, harmless, link, plain, show } from "./dom.js";
import { badge } from "./tones.js";
import { count, many, number } from "./words.js";

/** Whether the server answers questions. */
export async function available() {
  const described = await get("/openapi.json").catch(() => null);
  return Boolean(described?.paths?.["/v1/ask"]);
}

export class Answer {
  /** `jump` shows the hit of a name, and says whether it is there. */
  constructor(panel, jump) {
    Object.assign(this, { panel, jump, running: null });
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  close() {
    this.running?.abort();
    this.panel.hidden = true;
  }

  /** Asks, and shows what comes as it comes. Gives false where the server has no such route. */
  async ask(request) {
    this.running?.abort();
    this.running = new AbortController();
    Object.assign(this, { context: null, text: "", cited: [], unknown: [], problem: null, done: false });
    this.panel.hidden = false;
    this.draw();
    try {
      for await (const { event, data } of events("/v1/ask", { ...request, stream: true }, this.running.signal)) this.take(event, data);
    } catch (error) {
      if (error.name === "AbortError") return true;
      if (error.status === 404) {
        this.panel.hidden = true;
        return false;
      }
      this.problem = error;
    }
    this.done = true;
    this.draw();
    return true;
  }

  take(event, data) {
    if (event === "context") this.context = data;
    else if (event === "token") this.text += data.text ?? "";
    else if (event === "citations") Object.assign(this, { cited: data.cited ?? [], unknown: data.unknown ?? [] });
    else if (event === "error") this.problem = data.error ?? { message: "the answer broke off" };
    else if (event === "done") this.done = true;
    this.draw();
  }

  draw() {
    const close = h("button", { type: "button", class: "icon", onclick: () => this.close() }, h("span", { "aria-hidden": "true" }, "\u00d7"), h("span", { class: "hidden" }, "Close the answer"));
    show(this.panel,
      h("div", { class: "head" }, h("h2", {}, this.text || !this.done ? "Answer" : "Context"), this.figure(), close),
      this.problem ? h("p", { class: "problem" }, harmless(this.problem.message), this.problem.hint ? h("span", { class: "dim" }, ` (${harmless(this.problem.hint)})`) : null) : null,
      this.text ? h("div", { class: "prose", dir: "auto", "aria-live": "off" }, this.prose()) : null,
      !this.text && !this.done ? h("p", { class: "dim" }, this.context ? "Writing\u2026" : "Reading the sources\u2026") : null,
      !this.text && this.done && this.context ? this.ready() : null,
      this.context ? this.sources() : null);
  }

  /** How many sources the context is from, and how evenly. */
  figure() {
    if (!this.context) return null;
    const passages = this.context.passages ?? [];
    const sources = new Set(passages.map((passage) => passage.source)).size;
    const even = typeof this.context.diversity === "number" ? `, diversity ${number(this.context.diversity, 2)}` : "";
    const tokens = this.context.tokens === undefined ? "" : `, ${count(this.context.tokens)}${this.context.budget ? ` of ${count(this.context.budget)}` : ""} tokens`;
    return h("span", { class: "dim figure" }, `${many(passages.length, "passage")} from ${many(sources, "source")}${even}${tokens}`);
  }

  /** The text, with its citations as buttons. One that the context does not have is marked. */
  prose() {
    const passages = new Map((this.context?.passages ?? []).map((passage) => [passage.n, passage]));
    const piece = (text) => {
      const match = /^\[(\d+)\]$/.exec(text);
      if (!match) return plain(text);
      const n = Number(match[1]);
      const passage = passages.get(n);
      if (!passage || this.unknown.includes(n)) return h("span", { class: "cite unknown", title: "the context has no such passage" }, text, h("span", { class: "hidden" }, " (unknown)"));
      return h("button", { type: "button", class: "cite", title: harmless(passage.title ?? passage.id), onclick: () => this.go(passage) }, String(n), h("span", { class: "hidden" }, `, ${harmless(passage.title ?? passage.id)}`));
    };
    return this.text.split(/\n{2,}/).map((paragraph) => h("p", {}, paragraph.split(/(\[\d+\])/).filter(Boolean).flatMap(piece)));
  }

  go(passage) {
    if (this.jump(passage.id)) return;
    const row = [...this.panel.querySelectorAll("[data-n]")].find((one) => one.dataset.n === String(passage.n));
    row?.scrollIntoView({ block: "center" });
    row?.focus();
  }

  /** Without a model: the context, ready to paste. */
  ready() {
    const text = this.context.text ?? this.context.prompt ?? (this.context.passages ?? []).map((passage) => `[${passage.n}] ${passage.title ?? passage.id}${passage.text ? `\n${passage.text}` : ""}`).join("\n\n");
    const copy = h("button", { type: "button", class: "primary" }, "Copy the context");
    copy.addEventListener("click", async () => {
      await navigator.clipboard?.writeText(text).catch(() => undefined);
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy the context"), 1500);
    });
    return h("div", {},
      h("p", { class: "dim" }, "No model is configured here. This is what one would read:"),
      h("pre", { class: "packed", tabindex: "0" }, plain(text)), copy);
  }

  sources() {
    const row = (passage) =>
      h("li", { "data-n": passage.n, tabindex: "-1", class: this.cited.includes(passage.n) ? "cited" : "" },
        h("span", { class: "cite plain" }, String(passage.n)), badge(passage.source),
        link(passage.url, {}, h("bdi", {}, plain(passage.title ?? passage.id))),
        passage.why ? h("span", { class: "dim" }, harmless(typeof passage.why === "string" ? passage.why : "")) : null);
    const out = this.context.left_out ?? [];
    const left = (one) => h("li", {}, plain(one.id ?? String(one)), one.why ? h("span", { class: "dim" }, ` ${harmless(one.why)}`) : null);
    return h("details", { class: "passages", open: this.open ?? !this.text, ontoggle: (event) => (this.open = event.target.open) },
      h("summary", {}, "Passages"),
      h("ol", { class: "likes" }, (this.context.passages ?? []).map(row)),
      out.length ? h("details", {}, h("summary", {}, `${many(out.length, "hit")} left out`), h("ul", {}, out.map(left))) : null);
  }
}
