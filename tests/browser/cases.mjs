// What the page has to do. Each case is a name, how the browser is, and what is done in it.

import assert from "node:assert/strict";

import { settled, timed } from "./timing.mjs";

const QUERY = "how do I add an index to a big table without blocking writes";
const OFFICE = "when do we move to the new office";

/** Goes to an address of the page and waits for what it shows. */
async function visit({ page, server }, path = "/?now=2026-01-31") {
  await page.goto(server.origin + path);
  await page.waitForSelector("#hits .hit:not(.shadow), #empty > *, #view-sources table, #view-evaluation .head");
}

const asked = (query, more = "") => `/?q=${encodeURIComponent(query)}&now=2026-01-31${more}`;
const titles = (page) => page.$$eval("#hits .hit .title", (all) => all.map((one) => one.textContent));
const sources = (page) => page.$$eval("#hits .hit .badge", (all) => all.map((one) => one.textContent));
const HOSTILE = {
  id: "evil",
  title: "<img src=x onerror=alert(1)> \u202Egnihsihp\u202C <script>alert('title')</script>",
  text: "zyzzyva <script>alert('text')</script><img src=\"http://evil.example/x.png\" onerror=\"alert(2)\">\n<style>body{display:none}</style> \u2066\u202Ereversed\u2069 \u0007 bell \u200Bzero javascript:alert(3) [[1]] &lt;b&gt; </p></li></ol>",
  url: "javascript:alert('url')",
  label: "[<b>label</b>]",
  created_at: "2026-01-30",
  metadata: { "<u>name</u>": "<i>value</i>", path: "../../<script>alert(4)</script>.rs", author: "\u202Eroot" },
};

export const cases = [
  ["the first view says what can be asked", {}, async (at) => {
    await visit(at);
    assert.equal(await at.page.locator(".example").count(), 7);
    assert.equal(await at.page.locator(".shelf li").count(), 16);
    assert.equal(await at.page.evaluate(() => document.activeElement.id), "query");
    await at.accessible("first view");
    await at.picture("start");
  }],

  ["search as you type, and the address follows", {}, async (at) => {
    const { page } = at;
    await visit(at);
    await page.locator("#query").pressSequentially(QUERY, { delay: 15 });
    await page.waitForFunction(() => document.querySelector("#hits .title")?.textContent.includes("0087"));
    await settled(page);
    assert.equal(new URL(page.url()).searchParams.get("q"), QUERY);
    assert.equal((await sources(page))[0], "reviews");
    assert.ok((await page.locator("#hits mark").count()) > 3);
    assert.match(await page.textContent("#hits .hit:nth-child(1) time"), /months ago/);
    assert.match(await page.textContent("#hits"), /also in/);
    assert.match(await page.textContent("#hits .hit:nth-child(1) .about"), /0087_parcel_status_index\.sql/);
    await at.accessible("results");
    await at.picture("results");
    await page.reload();
    await page.waitForSelector("#hits .hit:not(.shadow)");
    assert.equal(await page.inputValue("#query"), QUERY);
  }],

  ["pills filter by source, and the back button takes it back", {}, async (at) => {
    const { page } = at;
    await visit(at, asked(OFFICE));
    const all = await titles(page);
    await page.click(".pill:has-text('linear')");
    await page.waitForFunction(() => [...document.querySelectorAll("#hits .badge")].every((one) => one.textContent === "linear"));
    assert.deepEqual(new URL(page.url()).searchParams.getAll("source"), ["linear"]);
    assert.equal(await page.getAttribute(".pill:has-text('linear')", "aria-pressed"), "true");
    assert.ok((await page.locator(".pill").count()) > 2, "the other pills stay");
    await page.click(".pill:has-text('slack')", { modifiers: ["Shift"] });
    await page.waitForFunction(() => document.querySelectorAll("#hits .badge").length && new URL(location).searchParams.getAll("source").length === 2);
    await settled(page);
    assert.deepEqual([...new Set(await sources(page))].sort(), ["linear", "slack"]);
    await page.goBack();
    await page.goBack();
    await page.waitForFunction(() => !new URL(location).searchParams.has("source"));
    await settled(page);
    assert.deepEqual(await titles(page), all);
    await visit(at, asked(OFFICE, "&source=slack"));
    // A shared address has all pills, too.
    await page.waitForFunction(() => document.querySelectorAll(".pill").length > 3);
  }],

  ["more hits come when asked for", {}, async (at) => {
    const { page } = at;
    await visit(at, asked(OFFICE));
    for (const expected of [20, 30, 40]) {
      await page.click("#more button");
      await page.waitForFunction((wanted) => document.querySelectorAll("#hits .hit").length === wanted, expected);
    }
    const ranks = await page.$$eval("#hits .hit", (all) => all.map((one) => Number(one.dataset.rank)));
    assert.deepEqual(ranks, ranks.map((_, place) => place + 1));
    assert.equal(await page.evaluate(() => document.activeElement.dataset.rank), "31");
  }],

  ["typing can be taken back, and the address can be shared", {}, async (at) => {
    const { page } = at;
    await visit(at);
    await page.locator("#query").pressSequentially("pickup code", { delay: 40 });
    await settled(page);
    await page.goBack();
    await page.waitForSelector(".start");
    assert.equal(await page.inputValue("#query"), "");
    await page.goForward();
    await page.waitForSelector("#hits .hit:not(.shadow)");
    assert.equal(await page.inputValue("#query"), "pickup code");
  }],

  ["dates filter", {}, async (at) => {
    const { page } = at;
    await visit(at, asked(OFFICE));
    const before = (await titles(page)).length;
    await page.selectOption("#period", "30d");
    await settled(page);
    assert.equal(new URL(page.url()).searchParams.get("since"), "30d");
    const ages = await page.$$eval("#hits time", (all) => all.map((one) => Date.parse(one.dateTime)));
    assert.ok(ages.length && ages.every((time) => time >= Date.parse("2026-01-01")), "all are of the last month");
    await page.selectOption("#period", "range");
    await page.fill("#from", "2025-11-01");
    await page.fill("#to", "2025-12-01");
    await page.dispatchEvent("#to", "change");
    await page.waitForFunction(() => new URL(location).searchParams.get("until") === "2025-12-01");
    await settled(page);
    const times = await page.$$eval("#hits time", (all) => all.map((one) => one.dateTime));
    assert.ok(times.length && times.every((time) => time >= "2025-11-01" && time < "2025-12-02"), String(times));
    assert.ok(before > 0);
  }],

  ["every hit says why, in a bar, a sentence and in full", {}, async (at) => {
    const { page } = at;
    await visit(at, asked(OFFICE));
    assert.match(await page.textContent("#hits .hit:nth-child(1) .sentence"), /ranked 1st by meaning and 2nd by words.*copies folded into it.*3 days old/i);
    assert.match(await page.textContent("#hits .hit:nth-child(2) .sentence"), /behind number 1/);
    // The parts of the bar sum up to the score that the server gives.
    const { score, sum } = await page.evaluate(async () => {
      const { parts } = await import("/web/ledger.js");
      const body = JSON.stringify({ query: "when do we move to the new office", now: "2026-01-31", k: 30 });
      const { hits } = await (await fetch("/v1/search", { method: "POST", headers: { "content-type": "application/json" }, body })).json();
      const sums = hits.map((hit) => parts(hit.ledger).reduce((total, part) => total + part.amount, 0));
      return { score: hits.map((hit) => hit.score), sum: sums };
    });
    score.forEach((value, place) => assert.ok(Math.abs(value - sum[place]) < 1e-9, `${value} is not ${sum[place]}`));
    await page.keyboard.press("Escape");
    await page.click("#hits .hit:nth-child(1) [data-act=why]");
    const why = await page.textContent("#hits .hit:nth-child(1) .why");
    for (const part of ["Fusion", "Copies", "Neighbours", "Freshness", "same key"]) assert.match(why, new RegExp(part));
    await page.click("#hits .hit:nth-child(1) [data-act=related]");
    await page.waitForSelector("#hits .hit:nth-child(1) .graph");
    assert.ok((await page.locator("#hits .hit:nth-child(1) .likes li").count()) >= 5);
    await at.accessible("explained");
    await at.picture("explain", { fullPage: true, clip: { x: 0, y: 0, width: 1200, height: 1500 } });
  }],

  ["links are drawn with why and since when, and a run can be undone", {}, async (at) => {
    const { page, server } = at;
    await visit(at, "/?view=sources&now=2026-01-31");
    await page.waitForSelector(".links h2");
    assert.match(await page.textContent(".links"), /No run yet.*link run/s);
    await page.click(".links button:has-text('Look for links')");
    await page.waitForSelector(".runs tbody tr");
    await page.waitForFunction(() => !document.querySelector(".under-way"));
    const { runs: [run] } = await (await page.request.get(`${server.origin}/v1/links/runs`)).json();
    assert.match(await page.textContent(".runs tbody tr"), new RegExp(`just now.*and 12 more.*by meaning, words and title.*${run.documents} documents`, "s"));
    assert.equal((await page.textContent(".runs tbody .number")).replace(/\D/g, ""), String(run.edges));
    await page.click(".runs button:has-text('Show')");
    await page.waitForSelector(".pairs li");
    assert.equal(await page.locator(".pairs li").count(), 10);
    await page.evaluate(() => document.querySelector(".links").scrollIntoView());
    await at.accessible("links");
    await at.picture("links-runs");

    await visit(at, asked(OFFICE));
    const hit = "#hits .hit:nth-child(1)";
    await page.click(`${hit} [data-act=related]`);
    await page.waitForSelector(`${hit} .graph`);
    const found = await (await page.request.get(`${server.origin}/v1/documents/${encodeURIComponent("g-office-move")}/related?source=gmail&k=7&among=true`)).json();
    assert.ok(found.links.length >= 2, "there is something to draw");
    assert.equal(await page.locator(`${hit} .graph line.linked`).count(), found.links.length);
    assert.ok((await page.locator(`${hit} .graph line.alike`).count()) > 0, "what is only alike is dashed");
    assert.ok((await page.locator(`${hit} .graph .tie`).count()) > 0, "and so are links among the others");
    assert.deepEqual(await page.$$eval(`${hit} .graph .score`, (all) => all.map((one) => one.textContent)), found.links.map((one) => one.score.toFixed(2)));
    const told = await page.$$eval(`${hit} li.linked`, (all) => all.map((one) => one.textContent));
    assert.equal(told.length, found.links.length);
    assert.match(told[0], /\d\.\d\d.*: chunk \d+ of gmail\/g-office-move and chunk \d+ of .*; found by .*rank \d+.*just now/s);
    await page.evaluate(() => document.querySelector("#hits .hit .alike").scrollIntoView({ block: "center" }));
    await at.accessible("links of a hit");
    await at.picture("links");

    // The same in the dark, and on a phone.
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await at.accessible("links of a hit, dark");
    await at.picture("links-dark");
    await page.setViewportSize({ width: 390, height: 844 });
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.equal(await wide(), 0, "nothing is wider than the screen");
    await page.evaluate(() => document.querySelector("#hits .hit .alike").scrollIntoView());
    await page.evaluate(() => scrollBy(0, -70));
    await at.picture("links-phone");
    await visit(at, "/?view=sources&now=2026-01-31");
    await page.waitForSelector(".runs");
    assert.equal(await wide(), 0, "not the runs, either");
    await page.click(".runs button:has-text('Show')");
    await page.waitForSelector(".pairs li");
    await page.evaluate(() => document.querySelector(".links").scrollIntoView());
    await page.evaluate(() => scrollBy(0, -70));
    await at.accessible("links, dark, on a phone");
    await at.picture("links-phone-runs");
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1200, height: 860 });

    await page.click(".runs button:has-text('Undo')");
    await page.waitForSelector(".ask-undo[open]");
    assert.match(await page.textContent(".ask-undo"), /Undo this run\?.*links go; what another run says, too, stays/s);
    await at.accessible("asked before a run is undone");
    await at.picture("links-undo");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Undo", "the focus is where it was");
    assert.equal((await (await page.request.get(`${server.origin}/v1/links/runs`)).json()).runs[0].undone_at, null);
    await page.click(".runs button:has-text('Undo')");
    await page.click(".ask-undo .danger");
    await page.waitForSelector(".runs .undone");
    assert.match(await page.textContent(".runs .undone"), /undone just now/);
    assert.equal(await page.locator(".runs button").count(), 0);
    await visit(at, asked(OFFICE));
    await page.click(`${hit} [data-act=related]`);
    await page.waitForSelector(`${hit} .graph`);
    assert.equal(await page.locator(`${hit} .linked`).count(), 0);
  }],

  ["a picture for the README", { viewport: { width: 1040, height: 700 } }, async (at) => {
    await visit(at, asked(OFFICE));
    await visit(at, asked(OFFICE));
    await at.page.click("#hits .hit:nth-child(1) [data-act=why]");
    await at.page.mouse.move(0, 0);
    await at.page.evaluate(() => document.activeElement.blur());
    await at.picture("readme");
  }],

  ["the keyboard does it all", {}, async (at) => {
    const { page } = at;
    await visit(at, asked(OFFICE));
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "query");
    await page.keyboard.press("ArrowDown");
    const rank = () => page.evaluate(() => document.activeElement.dataset.rank);
    assert.equal(await rank(), "1");
    await page.keyboard.press("j");
    assert.equal(await rank(), "2");
    await page.keyboard.press("ArrowUp");
    assert.equal(await rank(), "1");
    await page.keyboard.press("e");
    assert.ok(await page.isVisible("#hits .hit:nth-child(1) .why"));
    await page.evaluate(() => document.querySelector("#hits .hit a.title").addEventListener("click", (event) => { event.preventDefault(); window.opened = event.currentTarget.href; }));
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => window.opened), "https://example.com/desktop/gmail/g-office-move");
    await page.keyboard.press("w");
    await page.waitForSelector("#whatif fieldset");
    await page.keyboard.press("Escape");
    assert.ok(await page.isHidden("#whatif"));
    await page.keyboard.press("?");
    assert.ok(await page.isVisible("#shortcuts"));
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement.id), "query");
  }],

  ["what if ranks the same lists otherwise", {}, async (at) => {
    const { page } = at;
    await visit(at, asked(OFFICE));
    const before = await titles(page);
    let searches = 0;
    page.on("request", (request) => { if (request.url().endsWith("/v1/search")) searches += 1; });
    await page.click("#what");
    await page.waitForSelector("#whatif fieldset");
    await page.waitForFunction(() => document.querySelector(".told").textContent.includes("stay as they are"));
    assert.deepEqual(await titles(page), before, "the same settings give the same order");
    await page.selectOption("#whatif select >> nth=0", "rrf");
    await page.selectOption("#whatif select >> nth=1", "rank");
    await page.waitForFunction(() => /moved/.test(document.querySelector(".told").textContent));
    const after = await titles(page);
    assert.notDeepEqual(after, before);
    assert.ok((await page.locator("#hits .move.up").count()) > 0);
    await at.accessible("what if");
    await at.picture("what-if");
    await page.click("#whatif button:has-text('Reset')");
    await page.waitForFunction(() => document.querySelector(".told").textContent.includes("stay as they are"));
    assert.deepEqual(await titles(page), before);
    // A source that weighs nothing does not lead.
    await page.click("#whatif summary");
    await page.locator("#whatif label", { hasText: /^gmail$/ }).locator("xpath=../input").fill("0");
    await page.waitForFunction(() => document.querySelector("#hits .badge").textContent !== "gmail");
    await page.locator("#whatif label", { hasText: /^Half-life$/ }).locator("xpath=../input").fill("0");
    await page.waitForFunction(() => document.querySelector("#hits .sentence").textContent.includes("keeps"));
    assert.equal(searches, 0, "nothing is searched again");
    await page.click("#whatif .head button");
    assert.deepEqual(await titles(page), before);
  }],

  ["a partial answer says so", {}, async (at) => {
    const { page } = at;
    // The server is asked not to wait at all.
    await page.route("**/v1/search", (route) => route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), deadline: { soft_ms: 0, hard_ms: 0 } }) }));
    await page.goto(at.server.origin + asked(OFFICE));
    await page.waitForSelector("#status .warn");
    assert.match(await page.textContent("#status .warn"), /This answer is partial: search by (meaning|words) was late/);
    // Nothing may have come at all: that is not the same as nothing that matches.
    assert.doesNotMatch(await page.textContent("#empty"), /Nothing matches/);
    await at.accessible("partial");
    await at.picture("partial");
  }],

  ["an error says what to do", {}, async (at) => {
    at.seen.expected = /status of 400/;
    await at.page.goto(at.server.origin + asked("x", "&source=nowhere"));
    await at.page.waitForSelector("#status .warn");
    assert.match(await at.page.textContent("#status"), /unknown source `nowhere`/);
  }],

  ["nothing found says what to try", {}, async (at) => {
    await visit(at, asked("qqqqzzzz", "&source=slack&since=7d"));
    assert.match(await at.page.textContent("#empty"), /Nothing matches .qqqqzzzz./);
    assert.equal(await at.page.locator("#empty button.text").count(), 2);
    await at.accessible("nothing found");
    await at.picture("nothing");
    await at.page.click("#empty button.text >> nth=0");
    await settled(at.page);
    assert.equal(new URL(at.page.url()).searchParams.getAll("source").length, 0);
  }],

  ["a server without answers has no such button", {}, async (at) => {
    await at.page.route("**/openapi.json", async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      delete body.paths["/v1/ask"];
      await route.fulfill({ response, json: body });
    });
    await visit(at, asked(OFFICE));
    await at.page.waitForLoadState("networkidle");
    assert.ok(await at.page.isHidden("#ask"));
  }],

  ["sources and evaluation", {}, async (at) => {
    const { page } = at;
    await visit(at);
    await page.click("nav >> text=Sources");
    await page.waitForSelector("#view-sources table");
    assert.equal(await page.locator("#view-sources > .scroll tbody tr").count(), 16);
    assert.match(await page.textContent("#view-sources"), /297 documents/);
    await at.accessible("sources");
    await at.picture("sources");
    await page.click("nav >> text=Evaluation");
    await page.waitForSelector("#view-evaluation .bars");
    assert.match(await page.textContent("#view-evaluation"), /50 judged questions/);
    await at.accessible("evaluation");
    await at.picture("evaluation", { fullPage: true });
    const judged = ["--queries", "recipes/docs-team/queries.jsonl", "--qrels", "recipes/docs-team/qrels.tsv"];
    assert.equal(at.run("eval", ...judged, "-m", "nDCG@10", "-m", "MRR"), 0);
    assert.equal(at.run("eval", "sources", ...judged), 0);
    assert.ok([0, 1].includes(at.run("tune", ...judged, "--budget", "40")), "0 is better settings, 1 none");
    await page.reload();
    await page.waitForSelector("#view-evaluation .tiles");
    assert.equal(await page.locator("#view-evaluation .report").count(), 4);
    const told = await page.textContent("#view-evaluation");
    for (const part of ["guides alone", "against the mean", "settings tried on"]) assert.ok(told.includes(part), part);
    await at.accessible("evaluation, all reports");
    await at.picture("evaluation-all", { fullPage: true });
    await page.goBack();
    await page.waitForSelector("#view-sources table");
  }],

  ["dark mode", { colorScheme: "dark" }, async (at) => {
    const { page } = at;
    await visit(at, asked(QUERY));
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await at.accessible("dark");
    await at.picture("dark");
    await page.click("#what");
    await page.waitForSelector("#whatif fieldset");
    await at.accessible("dark, what if");
    await page.click("#theme");
    const light = await ground();
    assert.notEqual(dark, light);
    await page.reload();
    await page.waitForSelector("#hits .hit:not(.shadow)");
    assert.equal(await ground(), light, "the choice stays");
  }],

  ["on a phone", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }, async (at) => {
    const { page } = at;
    await visit(at);
    await at.picture("phone-start");
    await visit(at, asked(OFFICE));
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.equal(await wide(), 0, "nothing is wider than the screen");
    await at.accessible("phone");
    await at.picture("phone");
    await page.tap("#hits .hit:nth-child(1) [data-act=why]");
    assert.equal(await wide(), 0);
    await page.tap("#hits .hit:nth-child(1) [data-act=related]");
    await page.waitForSelector("#hits .hit:nth-child(1) .graph");
    assert.equal(await wide(), 0);
    await at.picture("phone-why");
    await page.tap("#what");
    await page.waitForSelector("#whatif fieldset");
    assert.equal(await wide(), 0);
    await at.picture("phone-what-if");
    await page.tap("#whatif .head .icon");
    await page.tap("#ask");
    await page.waitForSelector("#answer .packed");
    assert.equal(await wide(), 0);
    await page.evaluate(() => document.getElementById("answer").scrollIntoView());
    await at.picture("phone-answer");
    for (const view of ["sources", "evaluation"]) {
      await visit(at, `/?view=${view}`);
      assert.equal(await wide(), 0, view);
      await at.accessible(`phone, ${view}`);
    }
    await at.picture("phone-evaluation");
  }],

  ["first result after the last key (a report)", { inTime: true }, async (at) => {
    const { page, report } = at;
    await visit(at);
    const took = [];
    for (const query of [QUERY, OFFICE, "barcode scanner", "pickup code", "webhook secret", "isolated pawn", "배포 일정", "hazelnut allergy", "retry with jitter", "LKR-409"]) took.push(await timed(page, query));
    const sorted = (name) => took.map((one) => Math.round(one[name])).sort((a, b) => a - b);
    const [shown, painted] = [sorted("shown"), sorted("painted")];
    report.timings = { queries: took.length, median_ms: shown[shown.length >> 1], most_ms: shown.at(-1), painted_median_ms: painted[painted.length >> 1] };
  }],

  ["a hostile document is text", {}, async (at) => {
    const { page, server } = at;
    const stored = await fetch(`${server.origin}/v1/sources/${encodeURIComponent("<b>evil</b>\u202E")}/documents`, { method: "PUT", headers: { "content-type": "application/x-ndjson" }, body: JSON.stringify(HOSTILE) + "\n" });
    assert.match(await stored.text(), /"stored":1/);
    await visit(at, asked("zyzzyva"));
    const hit = page.locator("#hits .hit").first();
    assert.match(await hit.textContent(), /<script>alert\('text'\)<\/script>/);
    await page.click("#hits .hit [data-act=why]");
    await page.click("#hits .hit [data-act=text]");
    await page.click("#hits .hit [data-act=related]");
    await page.waitForSelector("#hits .hit .alike > *");
    const made = await page.evaluate(() => document.querySelectorAll("#hits script, #hits img, #hits style, #hits b, #hits u, #hits a[href^='javascript:'], .pills b, #hits i").length);
    assert.equal(made, 0, "a document has become markup");
    const hidden = await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069\u200b\u0007]/.test(document.body.textContent + [...document.querySelectorAll("[title],[aria-label]")].map((one) => one.title + one.getAttribute("aria-label")).join("")));
    assert.ok(!hidden, "a trick with direction reached the page");
    assert.ok((await page.locator("#hits .trick").count()) >= 4);
    await page.click("#what");
    await page.waitForSelector("#whatif fieldset");
    await page.click("nav >> text=Sources");
    await page.waitForSelector("#view-sources table");
    await page.goBack();
    await page.waitForSelector("#hits .hit:not(.shadow)");
    await at.accessible("hostile");
    await at.picture("hostile");
    const headers = (await page.request.get(server.origin + "/")).headers();
    assert.match(headers["content-security-policy"], /default-src 'none'; script-src 'self'/);
    assert.doesNotMatch(headers["content-security-policy"], /unsafe/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
  }],
];
