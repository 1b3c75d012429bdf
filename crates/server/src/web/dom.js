// Making elements. Text becomes text nodes, never markup: what a document says cannot change the page.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children. A child that is text is shown as it is. */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for drawings. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Puts children in place of those that are there. */
export function show(element, ...children) {
  element.replaceChildren(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
}

export const $ = (id) => document.getElementById(id);

// Characters that turn the direction of a line or hide something: bidi controls, zero width, C0 and C1, tags, variation of annotations.
const TRICKS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

function code(character) {
  return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}

/** Text of a document: tricks with its direction are shown as small marks instead of working. */
export function plain(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(TRICKS)) {
    if (match.index > from) nodes.push(text.slice(from, match.index));
    nodes.push(h("span", { class: "trick", title: `invisible character ${code(match[0])}` }, "\u25ab"));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

/** The same as one text, for attributes and drawings. */
export function harmless(text) {
  return String(text).replace(TRICKS, "\u25ab");
}

/** Text with marked parts, which are given in bytes of UTF-8. */
export function marked(text, ranges) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const part = (from, to) => plain(decoder.decode(bytes.subarray(from, to)));
  const nodes = [];
  let at = 0;
  for (const [from, to] of ranges ?? []) {
    if (from < at || to > bytes.length || to <= from) continue;
    nodes.push(...part(at, from), h("mark", {}, part(from, to)));
    at = to;
  }
  nodes.push(...part(at, bytes.length));
  return nodes;
}

/** A link to where a person can see a document, if that is somewhere a browser may go; plain text otherwise. */
export function link(url, attributes, ...children) {
  let safe = null;
  try {
    const parsed = new URL(url ?? "");
    if (["http:", "https:", "mailto:"].includes(parsed.protocol)) safe = parsed.href;
  } catch {
    safe = null;
  }
  if (!safe) return h("span", attributes, ...children);
  return h("a", { ...attributes, href: safe, rel: "noopener noreferrer nofollow", target: "_blank" }, ...children);
}
