// Measures how soon the pages of a site are there: `node tests/speed.mjs SITE [ROUNDS]`, SITE a folder that `perfpipe site` wrote,
// or an address. Prints for each page the median of the times until it is drawn, its longest task, and the bytes that it reads.

import { spawn } from "node:child_process";
import { readFile, rm, stat } from "node:fs/promises";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [site, rounds = "9"] = process.argv.slice(2);
const served = /^https?:/.test(site);
const base = served ? site.replace(/\/$/, "") : `file://${site}`;
const text = await (served ? (await fetch(`${base}/runs.js`)).text() : readFile(join(site, "runs.js"), "utf8"));
const store = JSON.parse(text.replace(/^perfpipe\.store\(/, "").replace(/\);\n$/, ""));

/** Chromium, which is spoken to by its pipe: messages of JSON, each ended by a NUL. */
class Browser {
  constructor() {
    this.profile = mkdtempSync(join(tmpdir(), "perfpipe-speed-"));
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", `--user-data-dir=${this.profile}`];
    this.child = spawn("chromium", [...flags, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.calls = new Map();
    this.seen = [];
    let rest = "";
    this.child.stdio[4].on("data", (bytes) => {
      const parts = (rest + bytes).split("\0");
      rest = parts.pop();
      for (const part of parts) {
        const message = JSON.parse(part);
        if (message.id) this.calls.get(message.id)?.(message);
        else this.seen.push(message);
      }
    });
  }

  async begin() {
    const { targetInfos } = await this.call("Target.getTargets");
    const { targetId } = targetInfos.find(({ type }) => type === "page");
    this.session = (await this.call("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    await this.call("Page.enable");
    await this.call("Network.enable");
    await this.call("Network.setCacheDisabled", { cacheDisabled: true });
    await this.call("Emulation.setDeviceMetricsOverride", { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false });
    await this.call("Page.addScriptToEvaluateOnNewDocument", {
      source: `window.longest = 0;
        new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (longest = Math.max(longest, duration))))
          .observe({ type: "longtask", buffered: true });
        window.drawn = (selector) => new Promise((done) => {
          const look = () => document.querySelector(selector)
            ? requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)) : setTimeout(look, 4);
          look();
        });`,
    });
  }

  call(method, params = {}) {
    const id = this.calls.size + 1;
    const message = { id, method, params, ...(this.session ? { sessionId: this.session } : {}) };
    this.child.stdio[3].write(`${JSON.stringify(message)}\0`);
    return new Promise((done, fail) =>
      this.calls.set(id, ({ result, error }) => (error ? fail(new Error(`${method}: ${error.message}`)) : done(result))),
    );
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  }

  /** Opens a page anew, and returns when it was drawn, and what its longest task and its bytes were. */
  async open(fragment, selector) {
    await this.call("Page.navigate", { url: "about:blank" });
    this.seen = [];
    await this.call("Page.navigate", { url: `${base}/index.html${fragment}` });
    const drawn = await this.evaluate(`new Promise((done) => { const wait = () => window.drawn ? done(drawn(${JSON.stringify(selector)})) : setTimeout(wait, 4); wait(); })`);
    await new Promise((done) => setTimeout(done, 700));
    const longest = await this.evaluate("longest");
    const read = this.seen.filter(({ method }) => method === "Network.requestWillBeSent").map(({ params }) => params.request.url);
    return { drawn, longest, files: read.filter((url) => !url.startsWith("data:") && !url.startsWith("about:")) };
  }

  async end() {
    this.child.kill();
    await rm(this.profile, { recursive: true, force: true });
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function bytesOf(url) {
  const path = url.split("#")[0];
  return served ? (await (await fetch(path)).arrayBuffer()).byteLength : (await stat(new URL(path))).size;
}

const runs = store.runs;
const pair = (at) => [runs[(at * 37) % runs.length], runs[(at * 61 + 5) % runs.length]];
const trend = store.tests.find((test) => test.trend);
const pages = [
  ["home", () => "", "table.runs tr.run-row"],
  ["run", (at) => `#/run/${pair(at)[0].id}`, "#at-labels"],
  ["test", (at) => `#/test/${store.tests[at % store.tests.length].id}`, "svg"],
  ["compare", (at) => `#/compare?a=${pair(at)[0].id}&b=${pair(at)[1].id}`, ".compare-table tbody tr, table.changes tbody tr"],
  ...(trend ? [["trend", () => `#/trend/${trend.id}`, ".trend-point"]] : []),
];
const browser = new Browser();
await browser.begin();
console.log(`${runs.length} runs, ${rounds} rounds`);
for (const [name, fragment, selector] of pages) {
  const found = [];
  for (let at = 0; at < Number(rounds); at++) found.push(await browser.open(fragment(at), selector));
  const sizes = await Promise.all(found[0].files.map(bytesOf));
  const longest = Math.max(...found.map(({ longest }) => longest));
  const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1000;
  console.log(
    `${name.padEnd(8)} drawn after ${median(found.map(({ drawn }) => drawn)).toFixed(0)} ms, longest task ${longest.toFixed(0)} ms, ${found[0].files.length} files of ${kilobytes.toFixed(0)} kB`,
  );
}
await browser.end();
process.exit(0);
