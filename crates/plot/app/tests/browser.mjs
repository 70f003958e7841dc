// Walks through a site by keys, links and history in Chromium: node tests/browser.mjs SITE

import assert from "node:assert/strict";
import { check, copyOf, open } from "./chromium.mjs";

const [site = "site"] = process.argv.slice(2);
const BODY = `
const results = [];
const say = (what, value) => results.push([what, value]);
const key = (name, target = document.activeElement ?? document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const at = async (hash) => { location.hash = hash; await wait(900); };
const rows = () => [...document.querySelectorAll(".run-row .col-run a")];

key("j");
say("j goes to the first row", document.activeElement === rows()[0]);
key("j");
say("j goes on", document.activeElement === rows()[1]);
key("x"); key("k"); key("x"); await wait(100);
say("x ticks", document.querySelector(".basket a").textContent);
const ids = [1, 0].map((row) => rows()[row].hash.slice(6));
key("c"); await wait(900);
say("c compares, the first ticked is the baseline", location.hash === "#/compare?a=" + ids[0] + "&b=" + ids[1]);
say("the title has the focus", document.activeElement.tagName);
key("g"); key("h"); await wait(900);
say("g h", location.hash);
say("ticks stay", document.querySelectorAll(".run-row input:checked").length);
key("g"); key("t"); await wait(900);
say("g t", /^#\\/test\\/./.test(location.hash));
history.back(); await wait(900);
say("back", location.hash);
key("?"); await wait(50);
say("? opens the list of keys", document.querySelector("dialog").open);
const letters = document.querySelector("dialog input");
letters.click();
document.querySelector("dialog").close(); await wait(50);
key("j");
say("letters can be turned off", document.activeElement !== rows()[0]);
key("?");
say("and all of them are", document.querySelector("dialog[open]") === null);
localStorage.clear();
return JSON.stringify(results);`;
const MORE = `
const results = [];
const say = (what, value) => results.push([what, value]);
const key = (name, target = document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
key("[");
say("[ folds the sidebar", document.documentElement.dataset.sidebar);
key("/");
say("/ opens it and goes to the search", document.documentElement.dataset.sidebar + " " + document.activeElement.id);
const input = document.activeElement;
const name = document.querySelector(".run-row .col-run a").hash.slice(6);
input.value = name;
input.dispatchEvent(new Event("input", { bubbles: true }));
say("a run is found by its id", document.querySelector(".found").textContent);
key("Enter", input); await wait(900);
say("Enter opens it", location.hash === "#/run/" + name);
location.hash = "#/?rows=50"; await wait(900);
const select = document.querySelector("#filter-test");
select.focus();
select.value = select.options[1].value;
select.dispatchEvent(new Event("change")); await wait(900);
say("a filter is a link, and keeps the focus", location.hash === "#/?test=" + select.options[1].value && document.activeElement.id);
document.querySelector(".runs th a").click(); await wait(500);
say("a head sorts", location.hash.endsWith("&sort=time"));
location.hash = "#/test/nothing"; await wait(500);
say("an unknown test is told", document.querySelector(".state-title").textContent);
localStorage.clear();
return JSON.stringify(results);`;

const COMPARE = `
const results = [];
const say = (what, value) => results.push([what, value]);
const key = (name, target = document.activeElement ?? document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const sides = () => new URLSearchParams(location.hash.split("?")[1]);
const choose = async (id, at) => {
  document.getElementById(id).click(); await wait(200);
  const links = [...document.querySelectorAll(".picker[open] .picker-list a")];
  links.at(at).click(); await wait(900);
};
location.hash = "#/compare"; await wait(900);
say("nothing is chosen", document.querySelector(".state-title").textContent);
document.getElementById("side-add").click(); await wait(200);
say("the list has the focus in its search", document.activeElement.type);
key("ArrowDown");
say("arrows go to the entries", document.activeElement === document.querySelector(".picker[open] .picker-list a"));
key("Escape");
say("Escape closes it", document.querySelector(".picker[open]") === null && document.activeElement.id);
await choose("side-add", 0);
say("a choice is a link", sides().has("a") && !sides().has("b"));
say("the button keeps the focus", document.activeElement.id);
await choose("side-add", -1);
say("so is the second", sides().getAll("b").length);
const [a, b] = [sides().get("a"), sides().get("b")];
key("x"); await wait(900);
say("x swaps", sides().get("a") === b && sides().get("b") === a);
document.getElementById("side-1").click(); await wait(200);
document.querySelector(".picker[open] .picker-links a").click(); await wait(900);
say("a side becomes the baseline", sides().get("a") === a);
document.getElementById("side-1").click(); await wait(200);
[...document.querySelectorAll(".picker[open] .picker-links a")].at(-1).click(); await wait(900);
say("a side is removed", sides().get("a") === a && !sides().has("b"));
localStorage.clear();
return JSON.stringify(results);`;

const EXPECTED = [
  [true, true, "Compare 2 runs", true, "H1", "#/", 2, true, "#/", true, true, true],
  ["folded", "open search", "1 found", true, "filter-test", true, "This store has no such test."],
  ["Nothing is chosen yet.", "search", true, "side-add", true, "side-add", 1, true, true, true],
];
for (const [at, body] of [BODY, MORE, COMPARE].entries()) {
  const copy = await copyOf(site, { "check.js": check(body) });
  const text = open(copy.folder, "/", 1280);
  await copy.remove();
  assert.match(text, /^\[/, text);
  for (const [step, [what, value]] of JSON.parse(text).entries()) assert.deepEqual(value, EXPECTED[at][step], what);
}
console.log("all steps pass");
