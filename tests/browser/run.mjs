// The web page in a real browser, against a real server on the demo's documents.
//
//   node tests/browser/run.mjs MAINSTEM CHROMIUM OUT [--large]
//
// With --large it measures the page on a store of 100,000 chunks instead, which it makes the first time; build the program with `--release` for that.
// MAINSTEM is the program, CHROMIUM the browser, OUT the folder that has `node_modules` and gets the pictures. With WEB_FILES=FOLDER the files
// of the page come from that folder instead of the program: to try a change without building. ONLY=WORDS runs the cases with these words, and
// UPDATE_PICTURES=1 renews the picture of the README.

import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { cases } from "./cases.mjs";
import { large } from "./large.mjs";
import { served } from "./served.mjs";
import { World } from "./world.mjs";

const [mainstem, chromium, out] = process.argv.slice(2).map((path) => resolve(path));
const only = process.env.ONLY;
const load = createRequire(join(out, "node_modules", "x"));
const { chromium: playwright } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");

const world = new World(mainstem, out);
const store = world.folder("store");

/** Runs a command on the store of the demo, and gives its exit code. */
const run = (...args) => world.run(store, ...args).status;

const PATIENT = { soft_ms: 10_000, hard_ms: 20_000 };

/** A page that notes everything it must not do. */
async function open(browser, { inTime = false, ...options }, seen) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 860 }, colorScheme: "light", ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
  });
  // On a machine that does other things, too, a search may take its time; what is late, and how long it takes, are cases of their own.
  if (!inTime) await page.route(/\/v1\/(search|record)$/, (route) => route.continue({ postData: JSON.stringify({ deadline: PATIENT, ...route.request().postDataJSON() }) }));
  page.on("request", (request) => {
    if (!seen.own.some((origin) => request.url().startsWith(`${origin}/`))) seen.outside.push(request.url());
  });
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !seen.expected?.test(message.text())) seen.errors.push(message.text());
  });
  page.on("dialog", (dialog) => {
    seen.errors.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  if (process.env.WEB_FILES) await page.route(/\/web\/[a-z]+\.(js|css)$/, async (route) => {
    const name = new URL(route.request().url()).pathname.slice("/web/".length);
    await route.fulfill({ contentType: name.endsWith(".css") ? "text/css" : "text/javascript", body: readFileSync(join(process.env.WEB_FILES, name)) });
  });
  return page;
}

/** What axe finds that is serious. */
async function accessible(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run({ resultTypes: ["violations"] })).violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map((node) => `${node.target} ${node.failureSummary}`) })));
  const serious = found.filter((one) => ["serious", "critical"].includes(one.impact));
  assert.deepEqual(serious, [], "axe finds something serious");
  return found.map((one) => one.id);
}

const measured = process.argv.includes("--large");
const server = measured ? null : await world.start(["demo", "--open", "--keep", store]);
const browser = await playwright.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });
const report = { timings: {}, axe: {} };
let failed = 0;

/** Runs one case in a page of its own; what it has started is stopped behind it. */
async function play([name, options, body]) {
  const seen = { outside: [], errors: [], own: server ? [server.origin] : [] };
  const ends = [];
  const page = await open(browser, options, seen);
  const picture = (file, more = {}) => page.screenshot({ path: join(out, `${file}.png`), animations: "disabled", ...more });
  const known = (started) => {
    seen.own.push(started.origin);
    ends.push(started.stop);
    return started;
  };
  const serve = async (...args) => known(await world.serve(...args));
  try {
    await body({ page, server, world, serve, known, picture, run, accessible: async (what) => (report.axe[what] = await accessible(page)), after: (end) => ends.push(end), report, seen });
    assert.deepEqual((await page.evaluate(() => window.violations)) ?? [], [], "the page breaks its own policy");
    assert.deepEqual(seen.outside, [], "the page asks somebody else");
    assert.deepEqual(seen.errors, [], "the page has errors");
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}\n${seen.errors.join("\n")}`);
    await picture(`failed-${name.replaceAll(/\W+/g, "-")}`).catch(() => undefined);
  }
  await page.context().close();
  for (const end of ends.reverse()) await end();
}

for (const one of measured ? large : [...cases, ...served]) {
  if (!only || one[0].includes(only)) await play(one);
}
await browser.close();
if (server) assert.equal(await server.stop(), 0, "the server stops well");
if (process.env.UPDATE_PICTURES && !failed) copyFileSync(join(out, "readme.png"), new URL("../../docs/images/page.png", import.meta.url));
writeFileSync(join(out, measured ? "large.json" : "report.json"), JSON.stringify(report, null, 2));
console.log(`time from the last key to the first result: ${JSON.stringify(report.timings)}`);
process.exit(failed ? 1 : 0);
