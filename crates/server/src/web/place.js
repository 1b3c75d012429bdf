// What is looked at stands in the address: a link shows the same, and the back button works.

const EMPTY = { view: "search", query: "", sources: [], since: "", until: "", now: "" };

/** The state that an address names. */
export function read(address = location.search) {
  const asked = new URLSearchParams(address);
  const view = asked.get("view");
  return {
    ...EMPTY,
    view: ["sources", "evaluation"].includes(view) ? view : "search",
    query: asked.get("q") ?? "",
    sources: asked.getAll("source"),
    since: asked.get("since") ?? "",
    until: asked.get("until") ?? "",
    now: asked.get("now") ?? "",
  };
}

/** The address of a state. */
export function address(state) {
  const asked = new URLSearchParams();
  if (state.view !== "search") asked.set("view", state.view);
  if (state.query) asked.set("q", state.query);
  for (const source of state.sources) asked.append("source", source);
  for (const name of ["since", "until", "now"]) if (state[name]) asked.set(name, state[name]);
  const text = asked.toString();
  return text ? `/?${text}` : "/";
}

/** Writes the address: into the present entry of the history, or as a new one. */
export function write(state, how) {
  const to = address(state);
  if (to === location.pathname + location.search) return;
  if (how === "replace") history.replaceState(null, "", to);
  else history.pushState(null, "", to);
}

/** The search that a state stands for. */
export function request(state, more = {}) {
  const body = { query: state.query, ...more };
  if (state.sources.length) body.sources = state.sources;
  if (state.since) body.since = state.since;
  if (state.until) body.until = state.until;
  if (state.now) body.now = state.now;
  return body;
}
