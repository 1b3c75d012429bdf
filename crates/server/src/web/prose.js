// What a model writes, made readable: paragraphs, lists, code, and citations. Everything else stays the text that it is.

import { h, plain } from "./dom.js";

const ITEM = /^\s{0,3}(?:[-*\u2022]|(\d{1,9})[.)])\s+(.*)$/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
// What the server takes for a citation: [1], [Source 1], [1, 3], [Sources 1 and 3], and a whole heading.
const CITED = String.raw`\[(?:sources?\s{0,3}#?)?\d{1,9}(?:\s{0,3}(?:,|;|&|\sand\s)\s{0,3}(?:sources?\s{0,3}#?)?\d{1,9})*(?::[^\[\]\n]{0,200})?\]`;
// Every part has an end: a hostile answer costs no more than a long one.
const INLINE = new RegExp(String.raw`\`{1,3}([^\`\n]{1,300})\`{1,3}|\*\*([^*\n]{1,300})\*\*|(${CITED})`, "gi");

/** The numbers in a citation. */
const numbers = (text) => text.slice(1, -1).split(":")[0].match(/\d+/g).map(Number);

function inline(text, cite) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    nodes.push(...plain(text.slice(from, match.index)));
    const [all, code, strong, cited] = match;
    if (code !== undefined) nodes.push(h("code", {}, plain(code)));
    else if (strong !== undefined) nodes.push(h("strong", {}, inline(strong, cite)));
    else nodes.push(...numbers(cited).map(cite));
    from = match.index + all.length;
  }
  nodes.push(...plain(text.slice(from)));
  return nodes;
}

/** The lines from `at` on that belong to one block, and where the next begins. */
function block(lines, at, cite) {
  const fence = FENCE.exec(lines[at]);
  if (fence) {
    let end = at + 1;
    while (end < lines.length && !lines[end].trimStart().startsWith(fence[1])) end += 1;
    return [h("pre", {}, plain(lines.slice(at + 1, end).join("\n"))), end + 1];
  }
  const heading = /^#{1,6}\s+(.*)$/.exec(lines[at]);
  if (heading) return [h("p", { class: "heading" }, inline(heading[1], cite)), at + 1];
  const item = ITEM.exec(lines[at]);
  let end = at + 1;
  if (!item) {
    while (end < lines.length && lines[end].trim() && !ITEM.test(lines[end]) && !FENCE.test(lines[end])) end += 1;
    return [h("p", {}, inline(lines.slice(at, end).join("\n"), cite)), end];
  }
  const items = [[item[2]]];
  for (; end < lines.length && lines[end].trim(); end += 1) {
    const next = ITEM.exec(lines[end]);
    if (next) items.push([next[2]]);
    else items.at(-1).push(lines[end].trim());
  }
  const rows = items.map((rows) => h("li", {}, inline(rows.join(" "), cite)));
  return [item[1] ? h("ol", { start: item[1] }, rows) : h("ul", {}, rows), end];
}

/** The text as blocks. `cite` makes what stands for a cited number. */
export function prose(text, cite) {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks = [];
  for (let at = 0; at < lines.length;) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [made, next] = block(lines, at, cite);
    blocks.push(made);
    at = next;
  }
  return blocks;
}
