// Talking to the server.

import { $ } from "./dom.js";

const KEY = "mainstem-key";

/** An error as the server tells it. */
export class Refused extends Error {
  constructor(status, { code, message, hint }) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
}

function headers(more = {}) {
  const key = sessionStorage.getItem(KEY);
  return key ? { ...more, authorization: `Bearer ${key}` } : more;
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { referrerPolicy: "no-referrer", ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { code: "", message: "the server does not answer", hint: "is `mainstem serve` still running?" });
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => null);
  const unknown = { code: "", message: `the server answered ${response.status}`, hint: "see its log" };
  if (response.status === 401) wantKey();
  throw new Refused(response.status, told?.error ?? unknown);
}

/** Asks for a key; one that did not open the door is forgotten. */
function wantKey() {
  if (sessionStorage.getItem(KEY)) $("key-wrong").hidden = false;
  sessionStorage.removeItem(KEY);
  if (!$("key").open) $("key").showModal();
}

export const get = (path, signal) => send(path, { signal }).then((response) => response.json());

export function post(path, body, signal) {
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal };
  return send(path, options).then((response) => response.json());
}

export const remove = (path) => send(path, { method: "DELETE" }).then((response) => response.json());

/** The path of a document. */
export const documentPath = (source, id, rest = "") =>
  `/v1/documents/${encodeURIComponent(id)}${rest}?source=${encodeURIComponent(source)}`;

/** Posts, and gives the events of the answer one by one: `{event, data}`. */
export async function* events(path, body, signal) {
  const options = { method: "POST", headers: { "content-type": "application/json", accept: "text/event-stream" }, body: JSON.stringify(body), signal };
  const response = await send(path, options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    waiting += done ? "\n\n" : value.replaceAll("\r\n", "\n");
    let end;
    while ((end = waiting.indexOf("\n\n")) >= 0) {
      const event = parse(waiting.slice(0, end));
      waiting = waiting.slice(end + 2);
      if (event) yield event;
    }
    if (done) return;
  }
}

function parse(text) {
  let event = "message";
  const data = [];
  for (const line of text.split("\n")) {
    const [name, value = ""] = line.split(/:(.*)/s);
    if (name === "event") event = value.trim();
    else if (name === "data") data.push(value.replace(/^ /, ""));
  }
  if (!data.length && event === "message") return null;
  try {
    return { event, data: JSON.parse(data.join("\n") || "{}") };
  } catch {
    return null;
  }
}

/** Lets a person give the key that the server asks for. */
export function askForKey() {
  $("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, $("key-value").value);
    location.reload();
  });
}
