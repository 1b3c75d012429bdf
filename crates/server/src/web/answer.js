// The answer of a language model, with its sources; without a model, the prompt that one would get.

import { events, get } from "./api.js";
import { h, harmless, link, plain, show } from "./dom.js";
import { prose } from "./prose.js";
import { warnings } from "./status.js";
import { badge } from "./tones.js";
import { count, many, number } from "./words.js";

const SETTINGS = '[ask]\nurl = "ADDRESS/v1"\nmodel = "NAME"';
const EVEN = "how evenly the passages are spread over the sources that found anything: 0 is one source, 1 is all alike";

/** Whether the server answers questions. */
export async function available() {
  const described = await get("/openapi.json").catch(() => null);
  return Boolean(described?.paths?.["/v1/ask"]);
}

export class Answer {
  /** `jump` shows the hit of a name, and says whether it is there; `closed` is told when the panel is closed. */
  constructor(panel, { jump, closed }) {
    Object.assign(this, { panel, jump, closed, running: null, request: null });
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  close() {
    this.running?.abort();
    this.panel.hidden = true;
    this.closed();
  }

  /** Asks, and shows what comes as it comes. Gives false where the server has no such route. */
  async ask(request) {
    this.running?.abort();
    const running = new AbortController();
    Object.assign(this, { running, request, context: null, status: null, prompt: null, text: "", cited: [], unknown: [], problem: null, done: false, drawing: false });
    this.panel.hidden = false;
    this.draw();
    try {
      for await (const { event, data } of events("/v1/ask", { ...request, stream: true }, running.signal)) this.take(event, data);
      if (!this.done) this.problem ??= { message: "the answer broke off", hint: "ask again" };
    } catch (error) {
      if (this.running !== running) return true;
      if (error.name === "AbortError") this.problem = { message: "stopped", hint: "what came is incomplete" };
      else this.problem = error;
      if (error.status === 404) {
        this.close();
        return false;
      }
    }
    this.done = true;
    if (this.isOpen) this.draw();
    return true;
  }

  take(event, data) {
    if (event === "token") {
      this.text += data.text ?? "";
      return this.write();
    }
    if (event === "context") this.context = data;
    else if (event === "status") this.status = data;
    else if (event === "prompt") this.prompt = data.text;
    else if (event === "citations") Object.assign(this, { cited: data.cited ?? [], unknown: data.unknown ?? [] });
    else if (event === "error") this.problem = data.error ?? { message: "the answer broke off" };
    else if (event === "done") this.done = true;
    this.draw();
  }

  /** Shows new words, at most once for each picture on the screen. */
  write() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      const own = this.panel.querySelector(".prose");
      if (own) show(own, prose(this.text, (n) => this.cite(n)));
      else this.draw();
    });
  }

  draw() {
    show(this.panel, this.head(), this.gaps(),
      this.text ? h("div", { class: "prose", dir: "auto" }, prose(this.text, (n) => this.cite(n))) : null,
      h("p", { class: "dim", role: "status" }, this.progress()),
      this.problem ? h("p", { class: "problem" }, harmless(this.problem.message), this.problem.hint ? h("span", { class: "dim" }, ` (${harmless(this.problem.hint)})`) : null) : null,
      this.unknown.length ? h("p", { class: "problem" }, `Do not trust ${this.unknown.map((n) => `[${n}]`).join(", ")}: the answer cites what it was not given.`) : null,
      this.done && this.prompt ? this.ready() : null,
      this.context?.passages?.length ? this.sources() : null,
      this.done && (this.text || this.problem) ? h("p", { class: "row" }, this.again()) : null);
  }

  head() {
    const close = h("button", { type: "button", class: "icon", onclick: () => this.close() }, h("span", { "aria-hidden": "true" }, "\u00d7"), h("span", { class: "hidden" }, "Close the answer"));
    const stop = this.done ? null : h("button", { type: "button", class: "quiet small stop", onclick: () => this.running.abort() }, "Stop");
    return h("div", { class: "head" }, h("h2", {}, this.prompt ? "Prompt" : "Answer"), this.figure(), stop, close);
  }

  /** Another try, and a more thorough one. */
  again() {
    const button = (name, request) => h("button", { type: "button", class: "text small", onclick: () => this.ask(request) }, name);
    return [
      this.problem ? button("Ask again", this.request) : null,
      this.request.stages === 3 ? null : button("Ask in three passes: outline, expand, assemble", { ...this.request, stages: 3 }),
    ];
  }

  /** What is being done; nothing when the answer speaks for itself. */
  progress() {
    if (this.done && this.context && !this.context.passages.length) return "Nothing was found that a model could answer from.";
    if (this.done) return null;
    if (!this.context) return "Reading the sources\u2026";
    return this.request.stages === 3 && !this.text ? "Writing, in three passes\u2026" : "Writing\u2026";
  }

  /** What the search behind the answer could not do. */
  gaps() {
    return this.status ? warnings(this.status).map((gap) => h("p", { class: "warn" }, harmless(gap))) : null;
  }

  /** How many sources the context is from, and how evenly. */
  figure() {
    if (!this.context?.passages?.length) return null;
    const { passages, diversity, tokens, budget } = this.context;
    const sources = new Set(passages.map((passage) => passage.source)).size;
    return h("span", { class: "dim figure" }, `${many(passages.length, "passage")} from ${many(sources, "source")}, `,
      h("span", { title: EVEN }, `diversity ${number(diversity, 2)}`), `, ${count(tokens)} of ${count(budget)} tokens`);
  }

  /** A cited number: a button that shows its hit. One that the context does not have is marked. */
  cite(n) {
    const passage = this.context?.passages?.find((one) => one.n === n);
    if (!passage) return h("span", { class: "cite unknown", title: "the context has no such passage" }, `[${n}]`, h("span", { class: "hidden" }, " (unknown)"));
    const title = harmless(passage.title ?? passage.id);
    return h("button", { type: "button", class: "cite", title, onclick: () => this.go(passage) }, String(n), h("span", { class: "hidden" }, `, ${title}`));
  }

  go(passage) {
    if (this.jump(passage.parts ?? [passage.id])) return;
    const row = [...this.panel.querySelectorAll("[data-n]")].find((one) => one.dataset.n === String(passage.n));
    const folded = row?.closest("details");
    if (folded) folded.open = true;
    row?.scrollIntoView({ block: "center" });
    row?.focus();
  }

  /** Without a model: the prompt, ready to paste, and how to get one. */
  ready() {
    const copy = h("button", { type: "button", class: "primary" }, "Copy the prompt");
    copy.addEventListener("click", async () => {
      await navigator.clipboard?.writeText(this.prompt).catch(() => undefined);
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy the prompt"), 1500);
    });
    return h("div", { class: "ready" },
      h("p", {}, "No model is configured here. This is what one would be sent; paste it into any assistant."),
      h("pre", { class: "packed", tabindex: "0" }, plain(this.prompt)), copy,
      h("details", { class: "setup" }, h("summary", {}, "Have it answered here"),
        h("p", {}, "Name any service with the interface of OpenAI (vLLM, llama.cpp, Ollama, the large providers) in ", h("code", {}, "mainstem.toml"), ", and start the server again:"), h("pre", {}, SETTINGS)));
  }

  /** The passages that are cited; the others, and what was left out, folded. */
  sources() {
    const row = (passage) =>
      h("li", { "data-n": passage.n, tabindex: "-1", class: this.cited.includes(passage.n) ? "cited" : "" },
        h("span", { class: "cite plain" }, String(passage.n)), badge(passage.source),
        link(passage.url, {}, h("bdi", {}, plain(passage.title ?? passage.id))),
        passage.why ? h("span", { class: "dim" }, harmless(passage.why)) : null);
    const { passages, left_out: left = [] } = this.context;
    const cited = passages.filter((passage) => this.cited.includes(passage.n));
    const others = passages.filter((passage) => !this.cited.includes(passage.n));
    const name = cited.length ? `${many(others.length, "other passage")}` : many(others.length, "passage");
    const out = (one) => h("li", {}, h("bdi", {}, plain(one.id)), h("span", { class: "dim" }, ` ${harmless(one.why)}`));
    return h("div", { class: "passages" },
      cited.length ? h("ol", { class: "likes" }, cited.map(row)) : null,
      others.length ? h("details", {}, h("summary", {}, name), h("ol", { class: "likes" }, others.map(row))) : null,
      left.length ? h("details", {}, h("summary", {}, `${many(left.length, "hit")} left out`), h("ul", { class: "likes" }, left.map(out))) : null);
  }
}
