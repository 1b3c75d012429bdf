// What the page does with servers that have a model, a reranker that fails, keys, or nothing at all. No answer is altered on its way.

import assert from "node:assert/strict";

import { judge, model } from "./world.mjs";

const OFFICE = "when do we move to the new office";
const ASKED = `/?q=${encodeURIComponent(OFFICE)}&now=2026-01-31`;

/** A server on the sample office, whose model says what the scripts say. */
async function answering(at, scripts, more = "") {
  const service = await model(scripts);
  const server = await at.serve(at.world.office(service.settings + more));
  at.after(service.stop);
  await at.page.goto(server.origin + ASKED);
  await at.page.waitForSelector("#hits .hit:not(.shadow)");
  await at.page.waitForSelector("#ask:not([hidden])");
  return { service, server };
}

const done = (page) => page.waitForFunction(() => document.querySelector("#answer .stop") === null && document.querySelector("#answer .head"));

/** Waits until something holds that is not in the page. */
async function until(holds, what) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (holds()) return;
    await new Promise((next) => setTimeout(next, 25));
  }
  throw new Error(`never: ${what}`);
}

export const served = [
  ["a model answers, and its citations jump to the hits", {}, async (at) => {
    const { page } = at;
    const text = "You move on **Monday 23 February** [1]:\n\n- pack by Friday 20 February [1, 2]\n- `[3]` is code\n\nThe lift is broken [Source 99].";
    const { service } = await answering(at, [text.match(/.{1,9}/gs)]);
    await page.click("#ask");
    await done(page);
    assert.match(await page.textContent("#answer .prose"), /You move on Monday 23 February 1/);
    assert.equal(await page.locator("#answer .prose strong").count(), 1);
    assert.equal(await page.locator("#answer .prose li").count(), 2);
    assert.equal(await page.textContent("#answer .prose code"), "[3]");
    assert.equal(await page.locator("#answer .prose button.cite").count(), 3);
    assert.equal(await page.textContent("#answer .prose .cite.unknown"), "[99] (unknown)");
    assert.match(await page.textContent("#answer"), /Do not trust \[99\]/);
    assert.match(await page.textContent("#answer .figure"), /^\d+ passages from 4 sources, diversity 0\.\d\d, \d[\d\u202f]* of 4\u202f000 tokens$/);
    assert.equal(await page.locator("#answer .passages > ol > li.cited").count(), 2, "what is cited is shown");
    assert.match(await page.textContent("#answer .passages"), /rank 1, score [\d.]+: floor of \w+, 1 of 5/);
    await at.accessible("answer");
    await at.picture("answer");
    await page.click("#answer .prose button.cite >> nth=0");
    const first = await page.$eval("#hits .hit", (hit) => hit.dataset.id);
    assert.equal(await page.evaluate(() => document.activeElement.dataset.id), first);
    assert.equal(service.asked.length, 1);
    assert.equal(service.asked[0].stream, true);
    const [system, user] = service.asked[0].messages.map((message) => message.content);
    assert.ok(system.includes("never instructions") && user.includes("[Source 1: ") && user.endsWith(`Question: ${OFFICE}`));
    // What is asked for next is another question, and the old answer goes.
    await page.fill("#query", "pickup code");
    await page.waitForFunction(() => document.getElementById("answer").hidden);
    assert.equal(await page.getAttribute("#ask", "aria-expanded"), "false");
  }],

  ["an answer is for what is searched, filters and clock included", {}, async (at) => {
    const { page } = at;
    const { service, server } = await answering(at, [["Nothing [1]."]]);
    await page.goto(`${server.origin}${ASKED}&source=slack&since=2026-01-01`);
    await page.waitForSelector("#hits .hit:not(.shadow)");
    await page.waitForSelector("#ask:not([hidden])");
    await page.keyboard.press("a");
    await done(page);
    const user = service.asked[0].messages[1].content;
    assert.deepEqual([...new Set(user.match(/^\[Source \d+: \w+/gm).map((heading) => heading.split(": ")[1]))], ["Slack"]);
    const days = [...user.matchAll(/^Written (.*)$/gm)].map((day) => day[1]);
    assert.ok(days.length && days.every((day) => day >= "2026-01-01"), String(days));
  }],

  ["three passes, of which the last is shown", {}, async (at) => {
    const { page } = at;
    const { service } = await answering(at, [["One pass [1]."], ["- the day [1]"], ["The day is fixed [1]."], ["All in one [1]."]]);
    await page.click("#ask");
    await done(page);
    assert.match(await page.textContent("#answer .prose"), /^One pass/);
    await page.click("#answer button:has-text('three passes')");
    await page.waitForFunction(() => document.querySelector("#answer .prose")?.textContent.startsWith("All in one"));
    await done(page);
    assert.equal(service.asked.length, 4);
    assert.ok(service.asked[3].messages[1].content.includes("Draft:\nThe day is fixed [1]."));
    assert.doesNotMatch(await page.textContent("#answer"), /the day \[/);
  }],

  ["a model that fails in the middle keeps what came, with its citations", {}, async (at) => {
    const { page } = at;
    await answering(at, [["You move on Monday [1], not [42] ", { raw: `data: ${JSON.stringify({ error: { message: "out of memory" } })}\n\n` }]]);
    await page.click("#ask");
    await done(page);
    assert.match(await page.textContent("#answer .prose"), /You move on Monday 1/);
    assert.match(await page.textContent("#answer .problem >> nth=0"), /the model failed: out of memory/);
    assert.equal(await page.locator("#answer .passages li.cited").count(), 1, "what came is checked");
    assert.match(await page.textContent("#answer"), /Do not trust \[42\]/);
    await at.accessible("answer that broke off");
    await at.picture("answer-broken");
  }],

  ["a model that is busy is asked once more; one that stays so is named", {}, async (at) => {
    const { page } = at;
    const busy = [{ refuse: 503, headers: { "retry-after": "0" } }];
    const { service } = await answering(at, [busy, ["Here I am [1]."], busy]);
    await page.click("#ask");
    await done(page);
    assert.match(await page.textContent("#answer .prose"), /^Here I am/);
    assert.equal(service.asked.length, 2);
    await page.click("#answer button:has-text('three passes')");
    await page.waitForSelector("#answer .problem");
    assert.match(await page.textContent("#answer .problem"), /answered 503: .*too much to do/);
  }],

  ["stopping an answer, or leaving it, stops the model", {}, async (at) => {
    const { page } = at;
    const { service } = await answering(at, [["You move on [1] ", { wait: true }]]);
    await page.click("#ask");
    await page.waitForSelector("#answer .prose");
    await at.picture("answer-writing");
    await page.click("#answer .stop");
    await service.gone;
    await done(page);
    assert.match(await page.textContent("#answer"), /You move on.*stopped/s);
    const second = await answering(at, [["You ", { wait: true }]]);
    await page.click("#ask");
    await page.waitForSelector("#answer .prose");
    await page.click("#answer .head .icon");
    await second.service.gone;
    assert.ok(await page.isHidden("#answer"));
    const third = await answering(at, [["You ", { wait: true }]]);
    await page.click("#ask");
    await until(() => third.service.asked.length === 1, "the model is asked");
    await page.goto("about:blank");
    await third.service.gone;
  }],

  ["without a model there is a prompt to paste, and what to do", {}, async (at) => {
    const { page } = at;
    const server = await at.serve(at.world.office());
    await page.goto(server.origin + ASKED);
    await page.waitForSelector("#ask:not([hidden])");
    await page.waitForSelector("#hits .hit:not(.shadow)");
    await page.click("#ask");
    await page.waitForSelector("#answer .packed");
    await page.click("#answer button.primary");
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(copied.startsWith("You answer questions from the passages") && copied.includes("[Source 1: ") && copied.trimEnd().endsWith(`Question: ${OFFICE}`), copied.slice(-300));
    await page.click("#answer .setup summary");
    assert.match(await page.textContent("#answer .setup"), /\[ask\]\nurl = /);
    await at.accessible("no model");
    await at.picture("no-model");
  }],

  ["a reranker that fails is named, and the order before it stays", {}, async (at) => {
    const { page } = at;
    const service = await judge();
    at.after(service.stop);
    const added = at.world.runBeside(at.world.folder("store-none"), "model", "add", "judge", "--rerank", "--shape", "jina", "--url", service.url);
    assert.equal(await added, 0);
    const order = () => page.$$eval("#hits .hit", (hits) => hits.map((hit) => hit.dataset.id));
    const visit = async (settings) => {
      const server = await at.serve(at.world.office(settings));
      await page.goto(server.origin + ASKED);
      await page.waitForSelector("#hits .hit:not(.shadow)");
      return server;
    };
    await visit("");
    const before = await order();
    const judged = await visit('[rerank]\nmodel = "judge"\nreplace = true\n');
    assert.equal(await page.locator("#status .warn").count(), 0);
    assert.notDeepEqual(await order(), before, "it has its say");
    assert.match(await page.textContent("#hits .hit .sentence"), /reranker/);
    service.fails = true;
    await page.goto(judged.origin + ASKED);
    await page.waitForSelector("#status .warn");
    assert.match(await page.textContent("#status .warn"), /The reranker fell back: .*500.*The order before it stays\./);
    assert.deepEqual(await order(), before);
    await at.accessible("reranker failed");
    await at.picture("reranker");
    // An answer says so, too.
    await page.click("#ask");
    await page.waitForSelector("#answer .warn");
    assert.match(await page.textContent("#answer .warn"), /The reranker fell back/);
  }],

  ["a server with keys asks for one, and shows what it is for", {}, async (at) => {
    const { page } = at;
    at.seen.expected = /status of 401/;
    const store = at.world.office();
    const keys = ["admin", "helper"].map((name) => at.world.run(store, "key", "create", name, ...(name === "helper" ? ["--source", "slack", "--source", "notion"] : [])).stdout.trim());
    const server = await at.serve(store);
    await page.goto(server.origin + ASKED);
    await page.waitForSelector("#key[open]");
    await at.accessible("key");
    await at.picture("key");
    const give = async (key) => {
      await page.fill("#key-value", key);
      await Promise.all([page.waitForEvent("load"), page.click("#key button")]);
    };
    await give("wrong");
    await page.waitForSelector("#key[open]");
    assert.ok(await page.isVisible("#key-wrong"), "a key that is wrong is told");
    await give(keys[1]);
    await page.waitForSelector("#hits .hit:not(.shadow)");
    const pills = await page.$$eval(".pill bdi", (all) => all.map((one) => one.textContent));
    assert.deepEqual(pills.sort(), ["All", "notion", "slack"], "what the key is not for does not exist");
    await page.click("nav >> text=Sources");
    await page.waitForSelector("#view-sources table");
    assert.equal(await page.locator("#view-sources tbody tr").count(), 2);
    await page.click("nav >> text=Evaluation");
    await page.waitForSelector("#view-evaluation h1");
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(server.origin + ASKED);
    await page.waitForSelector("#key[open]");
    await give(keys[0]);
    await page.waitForSelector("#hits .hit:not(.shadow)");
    assert.equal(await page.locator(".pill").count(), 5);
  }],

  ["who may only read sees links, but undoes none, and a reader is told no counts", {}, async (at) => {
    const { page } = at;
    at.seen.expected = /status of 401/;
    const store = at.world.office();
    const make = (name, ...more) => at.world.run(store, "key", "create", name, ...more).stdout.trim();
    const [admin, helper, reader, other] = [make("admin", "--write"), make("helper"), make("reader", "--reader", "ann"), make("other", "--source", "slack", "--source", "notion", "--write")];
    const server = await at.serve(store);
    const run = async (key, data) => page.request.post(`${server.origin}/v1/links/runs`, { headers: { authorization: `Bearer ${key}` }, data });
    for (const sources of [undefined, ["slack", "linear"]]) {
      assert.equal((await run(admin, { least: 0.2, sources })).status(), 201);
    }
    assert.equal((await run(helper, {})).status(), 403);
    const visit = async (key, path) => {
      // A page that asks for nothing, and so for no key.
      await page.goto(`${server.origin}/docs`);
      await page.evaluate((key) => sessionStorage.setItem("mainstem-key", key), key);
      await page.goto(server.origin + path);
    };
    await visit(helper, "/?view=sources");
    await page.waitForSelector(".runs");
    assert.match(await page.textContent(".runs"), /\d+ documents/);
    assert.equal(await page.locator(".links button:has-text('Undo'), .links button:has-text('Look')").count(), 0, "it may read only");
    // Of the other run, a part may not be read by everybody.
    await visit(reader, "/?view=sources");
    await page.waitForSelector(".runs");
    const told = await page.textContent(".runs");
    assert.ok(told.includes("linear") && !told.includes("gmail"), told);
    assert.doesNotMatch(await page.textContent(".runs"), /\d+ documents/);
    assert.equal(await page.textContent(".runs tbody .number"), "\u2013");
    await at.accessible("links, to a reader");
    // Who does not see all sources of a run does not see the run, nor what it says.
    await visit(other, "/?view=sources");
    await page.waitForSelector(".links h2");
    assert.match(await page.textContent(".links"), /No run yet/);
    assert.equal((await run(other, { least: 0.2 })).status(), 201);
    await visit(other, ASKED);
    await page.waitForSelector("#hits .hit:not(.shadow)");
    await page.click("#hits .hit [data-act=related]");
    await page.waitForSelector("#hits .hit .graph");
    const shown = await page.textContent("#hits .hit .alike");
    assert.doesNotMatch(shown, /gmail|linear/);
    await visit(admin, "/?view=sources");
    await page.waitForSelector(".runs button:has-text('Undo')");
  }],

  ["titles of links are text", {}, async (at) => {
    const { page } = at;
    const server = await at.serve(at.world.folder("store-hostile"));
    const title = "<img src=x onerror=alert(1)> \u202Egnihsihp\u202C <script>alert('t')</script>";
    for (const source of ["<b>evil</b>\u202E", "notes"]) {
      const lines = [1, 2].map((at) => JSON.stringify({ id: `<i>${at}</i>\u202E\``, title: `${title} ${at}`, text: "zyzzyva quokka wombat numbat <script>alert(2)</script>", url: "javascript:alert(3)", label: "<u>x</u>" }) + "\n");
      const stored = await fetch(`${server.origin}/v1/sources/${encodeURIComponent(source)}/documents`, { method: "PUT", headers: { "content-type": "application/x-ndjson" }, body: lines.join("") });
      assert.match(await stored.text(), /"stored":2/);
    }
    assert.equal((await page.request.post(`${server.origin}/v1/links/runs`, { data: { least: 0 } })).status(), 201);
    await page.goto(`${server.origin}/?q=zyzzyva`);
    await page.waitForSelector("#hits .hit:not(.shadow)");
    await page.click("#hits .hit [data-act=related]");
    await page.waitForSelector("#hits .hit .graph line.linked");
    assert.match(await page.textContent("#hits li.linked"), /<script>alert\('t'\)<\/script>/);
    const clean = async (inside) => {
      assert.equal(await page.evaluate((inside) => document.querySelectorAll(`${inside} script, ${inside} img, ${inside} b, ${inside} u, ${inside} i, ${inside} a[href^='javascript:']`).length, inside), 0, "a title has become markup");
      assert.ok(!(await page.evaluate(() => /[\u202a-\u202e]/.test(document.body.textContent + [...document.querySelectorAll("[title],[aria-label]")].map((one) => one.title + one.getAttribute("aria-label")).join("")))), "a trick with direction reached the page");
    };
    await clean("#hits");
    await page.click("nav >> text=Sources");
    await page.waitForSelector(".runs");
    await page.click(".runs button:has-text('Show')");
    await page.waitForSelector(".pairs li");
    await clean(".links");
    await at.picture("links-hostile");
  }],

  ["an empty store says what to do", {}, async (at) => {
    const { page } = at;
    const store = at.world.folder("store-empty");
    const server = await at.serve(store);
    await page.goto(server.origin);
    await page.waitForSelector("#empty .blank");
    assert.match(await page.textContent("#empty pre"), new RegExp(`mainstem --server ${server.origin} ingest`));
    await at.accessible("empty store");
    await at.picture("empty");
    // What it says works: the server has its store to itself.
    assert.equal(await at.world.runOnServer(server.origin, "ingest", "recipes/desktop/notion.jsonl", "--source", "notes"), 0);
    await page.fill("#query", "office");
    await page.waitForSelector("#hits .hit:not(.shadow)");
    await page.fill("#query", "");
    await page.click("nav >> text=Evaluation");
    await page.waitForSelector("#view-evaluation .blank");
    assert.match(await page.textContent("#view-evaluation"), /Nothing has been measured/);
    await at.picture("empty-evaluation");
  }],

  ["a hit in code names its file and line", {}, async (at) => {
    const { page } = at;
    const store = at.world.folder("store-code");
    assert.equal(at.world.run(store, "ingest", "crates/mainstem/src/ask", "--source", "code").status, 0);
    const server = await at.serve(store);
    await page.goto(`${server.origin}/?q=${encodeURIComponent("unreachable broken nonsense")}`);
    await page.waitForSelector("#hits .hit:not(.shadow)");
    const places = await page.$$eval("#hits .hit .about code:first-child", (all) => all.map((one) => one.textContent));
    assert.ok(places.length && places.every((place) => /^[\w/.]+\.(rs|jinja)(:\d+)?$/.test(place)), places.join(" "));
    assert.ok(places.some((place) => /^chat\.rs:\d{2,}$/.test(place)), places.join(" "));
    await at.picture("code");
  }],

  ["sources say what the last ingest did, and what it could not read", {}, async (at) => {
    const { page } = at;
    const store = at.world.folder("store-broken");
    const file = at.world.file("broken.jsonl", '{"id": "a", "text": "whole", "created_at": "2026-01-01"}\n{"id": "b", "text": \n{"text": "no id <b>"}\n');
    at.world.run(store, "ingest", file, "--source", "notes");
    const server = await at.serve(store);
    await page.goto(`${server.origin}/?view=sources&now=2026-01-31`);
    await page.waitForSelector("#view-sources table");
    assert.match(await page.textContent("#view-sources tbody"), /notes.*4 weeks ago.*just now.*1 added/s);
    await page.click("#view-sources .errors summary");
    const told = await page.textContent("#view-sources .errors");
    assert.match(told, /^2 problems/);
    assert.match(told, /broken\.jsonl:2: not JSON.*broken\.jsonl:3: `id`: expected text or a number, received none/);
    await at.accessible("sources with problems");
    await at.picture("sources-problems");
  }],

  ["pills count what was found, and show it all", {}, async (at) => {
    const { page } = at;
    const server = await at.serve(at.world.office());
    await page.goto(server.origin + ASKED);
    await page.waitForSelector(".pill >> nth=4");
    const counts = async () => Object.fromEntries(await page.$$eval(".pill", (all) => all.map((one) => [one.querySelector("bdi").textContent, Number(one.querySelector(".amount").textContent.replace(/\D/g, ""))])));
    const { All: all, ...by } = await counts();
    assert.equal(Object.values(by).reduce((sum, count) => sum + count, 0), all, "the pills sum up to all");
    const whole = await (await page.request.post(`${server.origin}/v1/search`, { data: { query: OFFICE, now: "2026-01-31", k: 500 } })).json();
    const expected = {};
    for (const hit of whole.hits) expected[hit.source] = (expected[hit.source] ?? 0) + 1;
    assert.deepEqual(by, expected, "and are what all pages hold");
    await page.click(".pill:has-text('linear')");
    await page.waitForFunction(() => [...document.querySelectorAll("#hits .badge")].every((one) => one.textContent === "linear") && document.querySelector("#hits .hit"));
    assert.deepEqual(await counts(), { All: all, ...by }, "a filter does not change the counts of the others");
    while (await page.locator("#more button").count()) {
      const before = await page.locator("#hits .hit").count();
      await page.click("#more button");
      await page.waitForFunction((count) => document.querySelectorAll("#hits .hit").length > count || !document.querySelector("#more button"), before);
    }
    assert.ok((await page.locator("#hits .hit").count()) >= by.linear, "at least what the pill has promised");
  }],
];
