// The page on 100,000 chunks: how long it takes from the last key to the first result. A report, not an assertion.
//
//   cargo build --release -p mainstem-cli
//   chrt -f 50 node tests/browser/run.mjs target/release/mainstem /usr/bin/chromium target/browser --large
//
// The texts are words of a Zipf vocabulary, each with a topic; the vectors are of 384 numbers around the centre of the topic. They are made here,
// from a fixed seed, and so are the questions. With MAINSTEM_MODELS, a folder that has all-MiniLM-L6-v2, each question is embedded by that model,
// as people's are; without, the search is by words alone, and the report says so. On a machine that does other things, `chrt` keeps them away.

import { closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

import { timed } from "./timing.mjs";

const [SOURCES, EACH, DIM, WORDS, TOPICS, QUESTIONS] = [10, 10_000, 384, 30_000, 1_000, 30];
const MODEL = "all-MiniLM-L6-v2";

/** Numbers that look random and are the same every time (mulberry32). */
function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const random = dice(20260131);
const SOUNDS = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu", "shan", "tor", "lin", "mer", "quel"];
const word = (rank) => SOUNDS[rank % 20] + SOUNDS[Math.floor(rank / 20) % 20] + SOUNDS[Math.floor(rank / 400) % 20] + (rank >= 8000 ? SOUNDS[Math.floor(rank / 8000) % 20] : "");
/** A rank by Zipf's law, by turning its sum round. */
const zipf = () => Math.floor(Math.exp(random() * Math.log(WORDS))) - 1;
const topical = (topic) => (topic * 7919 + Math.floor(random() ** 2 * 40)) % WORDS;
const text = (topic, length) => Array.from({ length }, () => word(random() < 0.25 ? topical(topic) : zipf())).join(" ");

const centres = Array.from({ length: TOPICS }, () => Float32Array.from({ length: DIM }, () => random() - 0.5));
function vector(topic, row) {
  let sum = 0;
  for (let at = 0; at < DIM; at += 1) {
    row[at] = centres[topic][at] + 0.8 * (random() - 0.5);
    sum += row[at] * row[at];
  }
  for (let at = 0; at < DIM; at += 1) row[at] /= Math.sqrt(sum);
}

/** The head of a `.npy` file of float32. */
function head(rows) {
  const told = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${DIM}), }`;
  const padded = told.padEnd(Math.ceil((told.length + 11) / 64) * 64 - 11) + "\n";
  const size = Buffer.alloc(2);
  size.writeUInt16LE(padded.length);
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), size, Buffer.from(padded)]);
}

/** Writes a collection and puts it into the store as a source. */
function source(world, store, at) {
  const folder = world.folder(`large-${at}`);
  mkdirSync(folder);
  const [corpus, vectors] = [openSync(join(folder, "corpus.jsonl"), "w"), openSync(join(folder, "corpus.npy"), "w")];
  writeSync(vectors, head(EACH));
  const row = new Float32Array(DIM);
  for (let start = 0; start < EACH; start += 1000) {
    const lines = [];
    const rows = [];
    for (let n = start; n < start + 1000; n += 1) {
      const topic = Math.floor(random() * TOPICS);
      lines.push(JSON.stringify({ _id: `d${n}`, title: text(topic, 5), text: text(topic, 50 + Math.floor(random() * 50)) }));
      vector(topic, row);
      rows.push(Buffer.from(row.slice().buffer));
    }
    writeSync(corpus, lines.join("\n") + "\n");
    writeSync(vectors, Buffer.concat(rows));
  }
  closeSync(corpus);
  closeSync(vectors);
  const { status, stderr } = world.run(store, "ingest", folder, "--source", `source-${at}`, "--kind", "beir", "--vectors", join(folder, "corpus.npy"), "--vectors-model", MODEL);
  if (status !== 0) throw new Error(stderr);
  world.folder(`large-${at}`);
}

/** The store, made when it is not there. */
function filled(world) {
  const [store, mark] = [join(world.out, "store-large"), join(world.out, "store-large.done")];
  if (existsSync(mark)) return store;
  world.folder("store-large");
  for (let at = 0; at < SOURCES; at += 1) source(world, store, at);
  writeFileSync(mark, "");
  return store;
}

const middle = (values, part = 0.5) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];

export const large = [
  [`${SOURCES * EACH} chunks (a report)`, { inTime: true }, async (at) => {
    const { page, world, report } = at;
    const store = filled(world);
    const models = process.env.MAINSTEM_MODELS;
    const server = at.known(await world.start(["--store", store, "serve", "--address", "127.0.0.1:0", "--log-level", "error"], models ? { MAINSTEM_MODELS: models } : {}));
    await page.goto(server.origin);
    await page.waitForSelector("#empty .start");
    const asked = dice(7);
    const question = () => text(Math.floor(asked() * TOPICS), 3 + Math.floor(asked() * 6));
    for (let n = 0; n < 5; n += 1) await timed(page, question());
    const took = [];
    for (let n = 0; n < QUESTIONS; n += 1) took.push(await timed(page, question()));
    const legs = await page.textContent("#status");
    const rounded = (values) => ({ p50_ms: Math.round(middle(values)), p90_ms: Math.round(middle(values, 0.9)), most_ms: Math.round(Math.max(...values)) });
    report.timings = {
      chunks: SOURCES * EACH, sources: SOURCES, queries: took.length, by_meaning: !/words alone/.test(legs) && Boolean(models),
      first_result: rounded(took.map((one) => one.shown)), painted: rounded(took.map((one) => one.painted)), request: rounded(took.map((one) => one.asked)),
    };
    await at.picture("large");
  }],
];
