// Runs a script within a page of a site in headless Chromium, and returns the text that it gives.

import { spawnSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ESCAPES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** Copies a site, its policy left out so that a check may be added, and adds scripts to its page. */
export async function copyOf(site, scripts) {
  const folder = await mkdtemp(join(tmpdir(), "perfpipe-site-"));
  await cp(site, folder, { recursive: true });
  const tags = [];
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(join(folder, name), text);
    tags.push(`<script src="${name}" defer></script>`);
  }
  const index = await readFile(join(folder, "index.html"), "utf8");
  await writeFile(join(folder, "index.html"), index.replace(/<meta http-equiv[^>]*>/, "").replace("</head>", `${tags.join("")}</head>`));
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** A script that waits for the page, runs an asynchronous body, and leaves the text that it returns in the page. */
export function check(body) {
  return `const wait = (ms) => new Promise((done) => setTimeout(done, ms));
(async () => { await wait(1500); ${body} })().catch((error) => error.stack).then((text) => {
  const pre = document.createElement("pre");
  pre.id = "check-result";
  pre.textContent = text;
  document.body.append(pre);
});`;
}

/** Opens a page of a copy in a window of a width, and returns what its check left. */
export function open(folder, fragment, width) {
  const options = ["--headless", "--no-sandbox", "--disable-gpu", `--window-size=${width},800`, "--virtual-time-budget=25000", "--dump-dom"];
  const { stdout } = spawnSync("chromium", [...options, `file://${folder}/index.html#${fragment}`], { encoding: "utf8", maxBuffer: 1e8 });
  const text = /<pre id="check-result">([^]*?)<\/pre>/.exec(stdout)?.[1] ?? "no result";
  return text.replace(/&(lt|gt|amp);/g, (code) => ESCAPES[code]);
}
