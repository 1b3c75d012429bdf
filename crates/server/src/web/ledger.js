// The ledger of a hit, made visible: what each step added or took, as a bar, as one sentence, and in full.
//
// The steps are the arithmetic of the ranking core. Nothing is guessed here: the parts of the bar sum up to the score.

import { h, harmless, plain } from "./dom.js";
import { capital, channel, channelOf, list, many, number, percent, signed, span } from "./words.js";

const NAMES = {
  words: "words",
  meaning: "meaning",
  other: "lists",
  neighbours: "hits like it",
  prior: "its source",
  learned: "the learned model",
  rerank: "the reranker",
  recency: "freshness",
  diversify: "likeness to earlier hits",
};

/** What a score is in [0, 1], as the core brings it there. */
function unit(how, score) {
  if (how?.unit === "of_best") return Math.max(0, score / how.best);
  if (how?.unit === "from_best") return 1 / (1 + (how.best - score));
  return score;
}

/** What each list has in a fused score. */
function shares(step) {
  const held = step.lists.filter((entry) => entry.contribution !== 0);
  if (step.rule === "max") {
    const best = held.reduce((a, b) => (b.contribution > a.contribution ? b : a), held[0]);
    return best ? [{ kind: channelOf(best.list), name: channel(best.list), amount: step.score }] : [];
  }
  const sum = held.reduce((total, entry) => total + entry.contribution, 0);
  return held.map((entry) => ({
    kind: channelOf(entry.list),
    name: channel(entry.list) + (entry.variant ? `, variant ${entry.variant + 1}` : ""),
    amount: sum ? (step.score * entry.contribution) / sum : 0,
  }));
}

/** The score of a hit in parts that sum up to it; those that took something away are negative. */
export function parts(ledger) {
  let score = 0;
  let found = [];
  for (const step of ledger) {
    if (step.score === undefined || step.stage === "guarantee") continue;
    if (step.stage === "fuse") {
      found = shares(step);
      score = step.score;
      continue;
    }
    const before = unit(step.relevance ?? step.fused, score);
    const scale = score ? before / score : 0;
    found = found.map((part) => ({ ...part, amount: part.amount * scale }));
    found.push({ kind: step.stage, name: NAMES[step.stage] ?? step.stage, amount: step.score - before });
    score = step.score;
  }
  return found.filter((part) => Math.abs(part.amount) > 1e-9);
}

const gained = (all) => all.reduce((sum, part) => sum + Math.max(0, part.amount), 0);

/** What a whole bar stands for, so that the bars of all these hits can be compared. */
export function whole(hits) {
  return Math.max(1e-12, ...hits.map((hit) => gained(parts(hit.ledger))));
}

/** A bar as long as the score, of a whole one; what was lost is hatched at its end. */
export function bar(hit, scale) {
  const all = parts(hit.ledger);
  const gains = all.filter((part) => part.amount > 0);
  const losses = all.filter((part) => part.amount < 0);
  const lost = losses.reduce((sum, part) => sum - part.amount, 0);
  const wide = (amount) => ({ "--w": `${Math.max(0, Math.min(100, (amount / scale) * 100)).toFixed(3)}%` });
  let room = Math.max(0, gained(all) - lost);
  const solid = gains.map((part) => {
    const shown = Math.min(part.amount, room);
    room -= shown;
    return h("span", { class: `part of-${part.kind}`, title: `${harmless(part.name)} ${signed(part.amount)}`, ...wide(shown) });
  });
  const taken = losses.map((part) =>
    h("span", { class: `part lost of-${part.kind}`, title: `${harmless(part.name)} ${signed(part.amount)}`, ...wide(-part.amount) }));
  const told = all.map((part) => `${harmless(part.name)} ${signed(part.amount)}`).join(", ");
  return h("span", { class: "bar-of", role: "img", "aria-label": `score ${number(hit.score)}: ${told || "nothing"}` }, solid, taken);
}

const nth = (rank) => {
  const end = { 1: "st", 2: "nd", 3: "rd" }[rank % 100 > 10 && rank % 100 < 14 ? 0 : rank % 10] ?? "th";
  return `${rank}${end}`;
};

function found(step) {
  const placed = step.lists.filter((entry) => entry.rank && !entry.variant).sort((a, b) => b.contribution - a.contribution);
  const scored = step.lists.filter((entry) => !entry.rank && entry.contribution > 0);
  if (!placed.length) return scored.length ? `only scored by ${list(scored.map((entry) => channel(entry.list)))}` : "in no list";
  const shown = placed.slice(0, 3).map((entry, at) => `${at ? "" : "ranked "}${nth(entry.rank)} by ${channel(entry.list)}`);
  const rest = placed.length - shown.length;
  return list(rest > 0 ? [...shown, `${rest} more`] : shown);
}

const CLAUSES = {
  fuse: (step) => found(step),
  collapse: (step) => `${many(step.absorbed.length, "copy").replace("copys", "copies")} folded into it`,
  aggregate: (step) => (step.chunks.length > 1 ? `${step.chunks.length} of its parts were found` : null),
  neighbours: (step, before) => shift(step.score / before, "hits like it"),
  prior: (step) => (step.factor < 0.97 ? `its source answers less well as a whole (\u00d7${number(step.factor, 2)})` : null),
  learned: (step, before) => moved(step.score - before, "the learned model"),
  rerank: (step, before) => moved(step.score - before, "the reranker"),
  recency: fresh,
  diversify: (step) => (step.similarity > 0.02 ? `likeness to an earlier hit costs ${number((1 - step.lambda) * step.similarity, 2)}` : null),
  guarantee: (step) => `moved from place ${step.from} to ${step.to} by the ${step.rule === "min" ? "least" : "most"} that ${harmless(step.source)} shows`,
};

function shift(ratio, who) {
  if (!Number.isFinite(ratio) || Math.abs(ratio - 1) < 0.03) return null;
  return ratio > 1 ? `${who} lift it by ${percent(ratio - 1)}` : `${who} hold it back by ${percent(1 - ratio)}`;
}

function moved(by, who) {
  if (Math.abs(by) < 0.005) return null;
  return `${who} ${by > 0 ? "lifts" : "lowers"} it by ${number(Math.abs(by), 2)}`;
}

function fresh(step, before) {
  if (step.kind === "window") return step.inside ? `recent, which adds ${percent(step.factor)}` : null;
  if (step.kind !== "decay" || !before) return null;
  const kept = step.score / before;
  const old = step.age_days === null ? "without a date" : `${span(Math.max(0, step.age_days))} old`;
  if (Math.abs(kept - 1) < 0.01) return null;
  return kept < 1 ? `${old}, so it keeps ${percent(kept)}` : `${old}, which adds ${percent(kept - 1)}`;
}

/** What sets a hit apart from the one above it. */
function behind(hit, above) {
  const gap = above.score - hit.score;
  if (!(gap > 1e-9)) return `level with number ${above.rank}`;
  const sum = (ledger) => {
    const sums = new Map();
    for (const part of parts(ledger)) sums.set(part.kind, (sums.get(part.kind) ?? 0) + part.amount);
    return sums;
  };
  const [own, other] = [sum(hit.ledger), sum(above.ledger)];
  const kinds = [...new Set([...own.keys(), ...other.keys()])];
  const [kind, most] = kinds
    .map((kind) => [kind, (other.get(kind) ?? 0) - (own.get(kind) ?? 0)])
    .reduce((a, b) => (b[1] > a[1] ? b : a), [null, 0]);
  const why = kind && most > gap * 0.3 ? `, mostly by ${NAMES[kind] ?? kind}` : "";
  return `${number(gap, 2)} behind number ${above.rank}${why}`;
}

/** One sentence: why the hit is where it is. */
export function sentence(hit, above) {
  const clauses = [];
  let score = 0;
  for (const step of hit.ledger) {
    const clause = CLAUSES[step.stage]?.(step, unit(step.relevance ?? step.fused, score));
    if (clause) clauses.push(clause);
    score = step.score ?? score;
  }
  if (above) clauses.push(behind(hit, above));
  return capital(clauses.join("; ")) + ".";
}

const STEPS = {
  aggregate: (step) => [`Parts of one document, joined by ${step.method}: `, plain(step.chunks.join(", "))],
  collapse: (step) => ["Folded in: ", step.absorbed.flatMap((one, at) => [at ? "; " : "", plain(one.id), ` (${same(one)})`])],
  fuse: (step) => [`Lists fused by ${step.method}, ${rule(step)}`, lists(step)],
  neighbours: (step) => [`Takes ${percent(step.weight)} of the score of hits like it, on average ${number(step.mean)}`, near(step)],
  prior: (step) => [`The best of ${harmless(step.source)} has ${number(step.best)}, the best of all ${number(step.of)}: \u00d7${number(step.factor)}`],
  learned: (step) => [against(step.fused), reranked(step, "The learned model")],
  rerank: (step) => [against(step.fused), reranked(step, "The reranker")],
  recency: (step) => [against(step.relevance), freshness(step)],
  diversify: (step) => [against(step.relevance), `Relevance counts ${percent(step.lambda)}, likeness to an earlier hit is ${number(step.similarity)}`, near(step)],
  guarantee: (step) => [`Moved from place ${step.from} to ${step.to}: ${harmless(step.source)} has its ${step.rule === "min" ? "least" : "most"} share; it costs ${number(step.cost)}`],
};

const TITLES = {
  aggregate: "Document", collapse: "Copies", fuse: "Fusion", neighbours: "Neighbours", prior: "Source", learned: "Learned model",
  rerank: "Reranker", recency: "Freshness", diversify: "Diversity", guarantee: "Guarantee",
};

function same(one) {
  if (one.because === "key") return "same key";
  return `${one.because === "cosine" ? "meaning" : "words"} ${percent(one.similarity)} alike`;
}

function rule(step) {
  const rules = {
    sum: "the sum", mean: `the sum divided by ${number(step.divisor ?? 0, 2)}`, scaled: `the sum times ${number(step.factor ?? 0, 2)}`,
    sum_times_lists: `the sum times ${step.holders} lists`, max: "the greatest", variants: "the mean over the variants",
    pairwise: `${step.wins} wins and ${step.draws} draws against the others`,
  };
  return rules[step.rule] ?? step.rule;
}

// Where a step looks at the score as a part of the best one, it says so: the numbers before and after are of two scales.
const against = (how) => (how?.best === undefined ? "" : `Measured against the best, ${number(how.best)}. `);

const near = (step) => (step.nearest ? ["; the nearest is ", plain(step.nearest)] : []);

function reranked(step, who) {
  if (step.kind === "below") return `${who} did not look at it: it stays below all that it did`;
  const said = `${who} says ${number(step.raw)}`;
  return step.kind === "blend" ? `${said}, which counts ${percent(step.alpha)}` : `${said}, which counts alone`;
}

function freshness(step) {
  const old = step.age_days === null || step.age_days === undefined ? "No date" : `${capital(span(Math.max(0, step.age_days)))} old`;
  if (step.kind === "decay") return `${old}, half as fresh after ${span(step.half_life_days)}: freshness ${percent(step.freshness)}, which counts ${percent(step.weight)}`;
  if (step.kind === "window") return step.inside ? `${old}, within ${span(step.days)}: +${percent(step.factor)}` : `${old}, not within ${span(step.days)}`;
  return "No rule for this source";
}

function lists(step) {
  const row = (entry) =>
    h("tr", {},
      h("th", { scope: "row" }, plain(channel(entry.list)), entry.variant ? ` (variant ${entry.variant + 1})` : ""),
      h("td", {}, entry.rank ? `${entry.rank}` : "\u2013"),
      h("td", {}, entry.score === null || entry.score === undefined ? "\u2013" : number(entry.score)),
      h("td", {}, entry.value === undefined ? "\u2013" : number(entry.value)),
      h("td", {}, number(entry.weight, 2)),
      h("td", {}, number(entry.contribution)));
  const heads = ["list", "rank", "score", "scaled", "weight", "adds"].map((name) => h("th", { scope: "col" }, name));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "What each list gave" },
    h("table", { class: "small" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, step.lists.map(row))));
}

/** All steps, in order. */
export function steps(hit) {
  const step = (one) =>
    h("li", {},
      h("span", { class: `dot of-${one.stage === "fuse" ? "words" : one.stage}` }),
      h("div", {}, h("strong", {}, TITLES[one.stage] ?? one.stage), " ", h("span", {}, STEPS[one.stage]?.(one) ?? "")),
      h("span", { class: "after", title: "score after this step" }, one.score === undefined ? "" : number(one.score)));
  return h("ol", { class: "steps" }, hit.ledger.map(step));
}

/** What the colours mean, for the parts that these hits have. */
export function legend(hits) {
  const kinds = new Map();
  for (const hit of hits) for (const part of parts(hit.ledger)) kinds.set(part.kind, NAMES[part.kind] ?? part.kind);
  return [...kinds].map(([kind, name]) => h("span", { class: "key" }, h("span", { class: `dot of-${kind}` }), name));
}
