// Measures how soon a report is seen, and its longest task: `npm run bench -- report.html [turns]`. Needs Chromium.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** A headless Chromium with one page, told what to do over its DevTools pipe. */
export class Browser {
  static async start() {
    const browser = new Browser();
    const { targetId } = await browser.call("Target.createTarget", { url: "about:blank" });
    ({ sessionId: browser.session } = await browser.call("Target.attachToTarget", { targetId, flatten: true }));
    await browser.call("Page.enable");
    return browser;
  }

  constructor() {
    this.profile = mkdtempSync(join(tmpdir(), "bench-"));
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--disable-background-networking", "--window-size=1280,900"];
    this.child = spawn("chromium", [...flags, `--user-data-dir=${this.profile}`], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.waiting = new Map();
    this.listeners = [];
    this.calls = 0;
    let rest = "";
    this.child.stdio[4].setEncoding("utf8").on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      messages.forEach((message) => this.take(JSON.parse(message)));
    });
  }

  take(message) {
    const done = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (done) done(message);
    else this.listeners.forEach((listener) => listener(message));
  }

  async call(method, params = {}) {
    const id = (this.calls += 1);
    const answer = new Promise((done) => this.waiting.set(id, done));
    this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
    const { result, error } = await answer;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  event(method) {
    return new Promise((done) => {
      const listener = (message) => {
        if (message.method !== method) return;
        this.listeners = this.listeners.filter((other) => other !== listener);
        done(message.params);
      };
      this.listeners.push(listener);
    });
  }

  async open(path) {
    const loaded = this.event("Page.loadEventFired");
    await this.call("Page.navigate", { url: pathToFileURL(resolve(path)).href });
    await loaded;
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  end() {
    // Closed, it ends its other processes, which a signal would leave behind for a moment.
    const gone = new Promise((done) => this.child.once("exit", done));
    this.session = undefined;
    this.call("Browser.close");
    return gone.then(() => rmSync(this.profile, { recursive: true, force: true, maxRetries: 9, retryDelay: 100 }));
  }
}

/** Scrolls through the whole page, and tells the first paint and the longest task, in ms. */
const MEASURE = `new Promise((done) => {
  let longest = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (longest = Math.max(longest, duration))))
    .observe({ type: "longtask", buffered: true });
  const step = () => {
    scrollBy(0, innerHeight / 2);
    if (scrollY + innerHeight < document.documentElement.scrollHeight - 2) return setTimeout(step, 30);
    setTimeout(() => done({ paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null, longest }), 300);
  };
  setTimeout(step, 500);
})`;

/** Measures one opening of a report in a browser of its own. */
async function measure(path) {
  const browser = await Browser.start();
  try {
    await browser.open(path);
    return await browser.evaluate(MEASURE);
  } finally {
    await browser.end();
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [path, turns = "9"] = process.argv.slice(2);
  const found = [];
  for (let turn = 0; turn < Number(turns); turn += 1) found.push(await measure(path));
  const told = (name) => `${Math.round(median(found.map((one) => one[name])))} ms`;
  console.log(`median of ${turns}: first paint ${told("paint")}, longest task ${told("longest")}`);
}
