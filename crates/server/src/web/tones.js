// The colour of a source is the same everywhere, and in every session, as long as the store has the same sources.

import { h, harmless, plain } from "./dom.js";

const TONES = 16;
// Neighbours in this order are far apart on the wheel.
const ORDER = [10, 1, 6, 13, 3, 8, 15, 11, 0, 5, 12, 2, 7, 14, 4, 9];
let given = new Map();

function hash(text) {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}

/** Gives every source its tone: the one of its name, or the next that is free. */
export function assign(names) {
  given = new Map();
  const taken = new Set();
  for (const name of [...names].sort()) {
    let at = hash(name) % TONES;
    for (let tries = 0; taken.has(at) && tries < TONES; tries += 1) at = (at + 1) % TONES;
    taken.add(at);
    given.set(name, at);
  }
}

export function tone(source) {
  return "tone-" + ORDER[given.get(source) ?? hash(source) % TONES];
}

export function badge(source) {
  return h("span", { class: `badge ${tone(source)}`, title: `source: ${harmless(source)}` }, h("bdi", {}, plain(source)));
}
