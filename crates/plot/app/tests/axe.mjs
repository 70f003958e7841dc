// Checks pages of a site with axe-core, for sideways scroll and for small text: node tests/axe.mjs SITE [FRAGMENT…]

import { readFile } from "node:fs/promises";
import { check, copyOf, open } from "./chromium.mjs";

const [site = "site", ...fragments] = process.argv.slice(2);
const PAGES = ["/?theme=light", "/?theme=dark", "/test/json?theme=light", "/test/json?theme=dark&at=labels", "/compare?theme=light"];
const WIDTHS = [1280, 390, 320];

const axe = await readFile(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const BODY = `
const tags = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];
const { violations } = await axe.run(document, { runOnly: tags });
const short = (text, most) => text.replace(/\\s+/g, " ").slice(0, most);
const lines = violations.flatMap(({ id, help, nodes }) => [
  id + ": " + help,
  ...nodes.slice(0, 4).map((node) => "    " + short(node.html, 160) + " | " + short(node.failureSummary, 220)),
]);
const { scrollWidth, clientWidth } = document.documentElement;
if (scrollWidth > clientWidth) {
  lines.push("scrolls sideways: " + scrollWidth + " > " + clientWidth);
  const wide = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > clientWidth + 1 && !e.closest(".scroll"));
  lines.push(...wide.slice(0, 8).map((e) => "    " + short(e.outerHTML, 120)));
}
const hasText = (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
const small = [...document.querySelectorAll("body *")].filter((e) => hasText(e) && parseFloat(getComputedStyle(e).fontSize) < 11);
if (small.length > 0) lines.push("text below 11 px: " + small.map((e) => short(e.textContent, 20)).slice(0, 5).join(", "));
return lines.join("\\n") || "nothing";`;

const copy = await copyOf(site, { "axe.js": axe, "check.js": check(BODY) });
let failed = false;
for (const width of WIDTHS)
  for (const page of fragments.length > 0 ? fragments : PAGES) {
    const text = open(copy.folder, page, width);
    console.log(`${width} ${page}: ${text}`);
    failed ||= text !== "nothing";
  }
await copy.remove();
process.exit(failed ? 1 : 0);
