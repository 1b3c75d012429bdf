// What the page talks to: real servers on stores of their own, and services that say what a case has written for them.

import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = new URL("../..", import.meta.url).pathname;
const OFFICE = ["slack", "notion", "linear", "gmail"];

/** The program, in an environment without models, browsers or settings of its own. */
export class World {
  constructor(mainstem, out) {
    Object.assign(this, { mainstem, out, none: join(out, "none"), children: new Set() });
    mkdirSync(this.none, { recursive: true });
    process.on("exit", () => this.children.forEach((child) => child.kill("SIGKILL")));
  }

  get env() {
    return { PATH: this.none, HOME: this.none, MAINSTEM_MODELS: this.none };
  }

  /** An empty folder. */
  folder(name) {
    const path = join(this.out, name);
    rmSync(path, { recursive: true, force: true });
    return path;
  }

  /** A file with this text. */
  file(name, text) {
    const path = join(this.out, name);
    writeFileSync(path, text);
    return path;
  }

  /** Runs a command on a store: its exit code and what it printed. */
  run(store, ...args) {
    const { status, stdout, stderr } = spawnSync(this.mainstem, ["--store", store, ...args], { env: this.env, cwd: ROOT, encoding: "utf8", maxBuffer: 1 << 28 });
    return { status, stdout, stderr };
  }

  /** The same while the services of this process go on: the exit code. */
  runBeside(store, ...args) {
    const child = spawn(this.mainstem, ["--store", store, ...args], { env: this.env, cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
    return new Promise((done) => child.on("exit", done));
  }

  /** A command that asks a server: the exit code. */
  runOnServer(origin, ...args) {
    return spawnSync(this.mainstem, ["--server", origin, ...args], { env: this.env, cwd: ROOT }).status;
  }

  /** Starts the program and waits for the address that it prints. */
  async start(args, env = {}) {
    const child = spawn(this.mainstem, args, { env: { ...this.env, ...env }, stdio: ["ignore", "pipe", "inherit"], cwd: ROOT });
    this.children.add(child);
    const url = await new Promise((found, failed) => {
      let text = "";
      child.stdout.on("data", (data) => {
        text += data;
        const address = /http:\S+/.exec(text);
        if (address) found(address[0]);
      });
      child.on("exit", (code) => failed(new Error(`the server stopped with ${code}: ${text}`)));
    });
    const stop = () => new Promise((done) => {
      if (child.exitCode !== null) return done(child.exitCode);
      child.removeAllListeners("exit");
      child.on("exit", (code) => {
        this.children.delete(child);
        done(code);
      });
      child.kill("SIGTERM");
    });
    return { url, origin: new URL(url).origin, stop };
  }

  /** The mails, messages, pages and issues of the sample office in a store of their own, with these settings. */
  office(settings = "") {
    if (!this.first) {
      this.first = this.folder("store-office");
      for (const source of OFFICE) {
        const { status, stderr } = this.run(this.first, "ingest", `recipes/desktop/${source}.jsonl`, "--source", source, "--kind", source);
        if (status !== 0) throw new Error(stderr);
      }
    }
    this.copies = (this.copies ?? 0) + 1;
    const store = this.folder(`store-office-${this.copies}`);
    cpSync(this.first, store, { recursive: true });
    // On a machine that does other things, too, a search may take its time here; what is late is a case of its own.
    writeFileSync(join(store, "mainstem.toml"), `${settings}\n[deadline]\nsoft = "10s"\nhard = "20s"\n`);
    return store;
  }

  serve(store, ...args) {
    return this.start(["--store", store, "serve", "--address", "127.0.0.1:0", "--log-level", "error", ...args]);
  }
}

/**
 * A service with the interface of OpenAI. Each script answers one question, the last one all others; a script is a list of steps:
 * `"words"`, `{ raw }`, `{ refuse: status, headers }`, and `{ wait: true }`, which is silent until the other side has left.
 */
export async function model(scripts) {
  const asked = [];
  let left;
  const gone = new Promise((resolve) => (left = resolve));
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    asked.push(JSON.parse(body));
    const script = scripts[Math.min(asked.length, scripts.length) - 1];
    response.on("close", () => { if (!response.writableEnded) left(); });
    if (script[0]?.refuse) {
      response.writeHead(script[0].refuse, { "content-type": "application/json", ...script[0].headers });
      return response.end(JSON.stringify({ error: { message: "too much to do" } }));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const step of script) {
      if (step.wait) return;
      response.write(step.raw ?? `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: step } }] })}\n\n`);
      // So that words come one by one.
      await new Promise((next) => setTimeout(next, 5));
    }
    response.end(script.at(-1).raw ? "" : `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`);
  });
  const url = await listening(server);
  return { url: `${url}/v1`, settings: `[ask]\nurl = "${url}/v1"\nmodel = "scripted"\n`, asked, gone, stop: () => server.closeAllConnections() ?? server.close() };
}

/** A reranker with the interface of Jina: it likes the last text best, until it is told to fail. */
export async function judge() {
  const service = { fails: false, asked: 0 };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    service.asked += 1;
    response.writeHead(service.fails ? 500 : 200, { "content-type": "application/json" });
    const { documents } = JSON.parse(body);
    const results = documents.map((_, index) => ({ index, relevance_score: (index + 1) / documents.length }));
    response.end(service.fails ? "{}" : JSON.stringify({ results }));
  });
  return Object.assign(service, { url: await listening(server), stop: () => server.closeAllConnections() ?? server.close() });
}

const listening = (server) => new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(`http://127.0.0.1:${server.address().port}`)));
