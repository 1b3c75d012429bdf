// The web page in a real browser, against a real server on the demo's documents.
//
//   node tests/browser/run.mjs MAINSTEM CHROMIUM OUT
//
// MAINSTEM is the program, CHROMIUM the browser, OUT the folder that has `node_modules` and gets the pictures. With WEB_FILES=FOLDER the files
// of the page come from that folder instead of the program: to try a change without building. ONLY=WORDS runs the cases with these words, and
// UPDATE_PICTURES=1 renews the picture of the README.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { cases } from "./cases.mjs";

const [mainstem, chromium, out] = process.argv.slice(2).map((path) => resolve(path));
const only = process.env.ONLY;
const load = createRequire(join(out, "node_modules", "x"));
const { chromium: playwright } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");

/** Starts the demo behind its page, without a model and without a browser of its own. */
async function serve() {
  const store = join(out, "store");
  rmSync(store, { recursive: true, force: true });
  const none = join(out, "none");
  mkdirSync(none, { recursive: true });
  const child = spawn(mainstem, ["demo", "--open", "--keep", store], { env: { PATH: none, HOME: none, MAINSTEM_MODELS: none }, stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((found, failed) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const address = /http:\S+/.exec(text);
      if (address) found(address[0]);
    });
    child.on("exit", (code) => failed(new Error(`the server stopped with ${code}`)));
  });
  process.on("exit", () => child.kill("SIGTERM"));
  return { url, origin: new URL(url).origin, stop: () => new Promise((done) => { child.removeAllListeners("exit"); child.on("exit", (code) => done(code)); child.kill("SIGTERM"); }) };
}

/** Runs a command on the store of the demo, and gives its exit code. */
function run(...args) {
  const none = join(out, "none");
  return spawnSync(mainstem, ["--store", join(out, "store"), ...args], { env: { PATH: none, HOME: none, MAINSTEM_MODELS: none }, cwd: new URL("../..", import.meta.url) }).status;
}

/** A page that notes everything it must not do. */
async function open(browser, server, options, seen) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 860 }, colorScheme: "light", ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.origin });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(server.origin + "/")) seen.outside.push(request.url());
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
    const response = await route.fetch();
    const name = new URL(route.request().url()).pathname.slice("/web/".length);
    await route.fulfill({ response, body: readFileSync(join(process.env.WEB_FILES, name)) });
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

const server = await serve();
const browser = await playwright.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"] });
const report = { timings: {}, axe: {} };
let failed = 0;
for (const [name, options, body] of cases) {
  if (only && !name.includes(only)) continue;
  const seen = { outside: [], errors: [] };
  const page = await open(browser, server, options, seen);
  const picture = (file, more = {}) => page.screenshot({ path: join(out, `${file}.png`), animations: "disabled", ...more });
  try {
    await body({ page, server, picture, run, accessible: async (what) => (report.axe[what] = await accessible(page)), report, seen });
    assert.deepEqual(await page.evaluate(() => window.violations), [], "the page breaks its own policy");
    assert.deepEqual(seen.outside, [], "the page asks somebody else");
    assert.deepEqual(seen.errors, [], "the page has errors");
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}\n${seen.errors.join("\n")}`);
    await picture(`failed-${name.replaceAll(/\W+/g, "-")}`).catch(() => undefined);
  }
  await page.context().close();
}
await browser.close();
assert.equal(await server.stop(), 0, "the server stops well");
if (process.env.UPDATE_PICTURES && !failed) copyFileSync(join(out, "readme.png"), new URL("../../docs/images/page.png", import.meta.url));
writeFileSync(join(out, "report.json"), JSON.stringify(report, null, 2));
console.log(`time from the last key to the first result: ${JSON.stringify(report.timings)}`);
process.exit(failed ? 1 : 0);
