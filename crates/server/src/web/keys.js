// The keyboard.

import { $ } from "./dom.js";

const cards = () => [...document.querySelectorAll("#hits .hit:not(.shadow)")];

/** Goes to a hit, and makes sure that it is seen. */
export function select(card) {
  if (!card) return;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

function current() {
  return document.activeElement?.closest?.("#hits .hit") ?? null;
}

function step(by) {
  const all = cards();
  const at = all.indexOf(current());
  if (by < 0 && at <= 0) return $("query").focus();
  select(all[Math.min(all.length - 1, at + by)]);
}

function press(act) {
  const card = current() ?? cards()[0];
  if (!card) return;
  // A hit without an address opens its text.
  const link = card.querySelector("a.title");
  if (act === "open" && link) link.click();
  else if (act === "open") card.querySelector("[data-act=text]")?.click();
  else card.querySelector(`[data-act=${act}]`)?.click();
  if (act !== "open") select(card);
}

/** Listens. `escape` closes what is open, and says whether anything was. */
export function listen({ escape, whatIf, answer }) {
  const acts = { e: () => press("why"), r: () => press("related"), j: () => step(1), k: () => step(-1), w: whatIf, a: answer, "?": () => $("shortcuts").showModal() };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const inField = event.target.matches("input:not([type=checkbox]), select, textarea");
    const inQuery = event.target === $("query");
    if (event.key === "Escape") {
      if (!escape()) inQuery ? $("query").blur() : $("query").focus();
    } else if (event.key === "ArrowDown" && (inQuery || (!inField && current()))) {
      event.preventDefault();
      step(1);
    } else if (event.key === "ArrowUp" && !inField && current()) {
      event.preventDefault();
      step(-1);
    } else if (event.key === "Enter" && event.target.matches(".hit")) {
      press("open");
    } else if (event.key === "/" && !inField) {
      event.preventDefault();
      $("query").focus();
      $("query").select();
    } else if (!inField && acts[event.key] && !document.querySelector("#view-search[hidden]")) {
      event.preventDefault();
      acts[event.key]();
    }
  });
}
