// The page of a running test: drawn anew whenever the command that watches the test tells of new seconds.
// @ts-check

import { byId } from "../draw/elements.js";
import { looked } from "../page/main.js";
import { mainPart, pause, replacePage } from "./replace.js";

/** How long, in ms, a lost connection is not told: it is made anew each minute. */
const SILENT = 4000;

/** How long, in ms, a page that is looked at waits until it is asked again whether it still is. */
const HELD = 500;

/** What the page has: the state of the test that it shows, and the newest one. */
const has = { shown: "", newest: "", busy: false, ended: "" };

/** Draws the newest state, once nobody looks at a part of this one. */
async function keepUp() {
  if (has.busy) return;
  has.busy = true;
  try {
    let fetched = { state: has.shown, text: "" };
    while (has.shown !== has.newest) {
      // Also while this one is looked at: the test may end meanwhile.
      if (fetched.state !== has.newest) fetched = { state: has.newest, text: await fetchPage() };
      if (isHeld()) {
        tellState(has.ended || "Paused. Esc resumes.");
        await pause(HELD);
        continue;
      }
      await replacePage(new DOMParser().parseFromString(fetched.text, "text/html"));
      has.shown = fetched.state;
    }
    tellState(has.ended || "Live, updated every second.");
  } catch {
    // The next event tries again.
    if (has.ended) tellState(has.ended);
  } finally {
    has.busy = false;
  }
}

/** Returns the page by now. */
async function fetchPage() {
  const answer = await fetch("/");
  if (!answer.ok) throw new Error(`the answer is ${answer.status}`);
  return answer.text();
}

/** Returns true while the pointer, the focus or a selection is on a part of the page. */
function isHeld() {
  return looked.cursor !== null || looked.isZoomed() || mainPart(document).contains(document.activeElement);
}

/** @param {string} text */
function tellState(text) {
  const state = byId("state");
  if (state.textContent !== text) state.textContent = text;
}

/** Follows the test. */
function followTest() {
  const events = new EventSource("/events");
  let lost = 0;
  events.addEventListener("open", () => {
    clearTimeout(lost);
    lost = 0;
    keepUp();
  });
  events.addEventListener("state", ({ data }) => {
    has.newest = data;
    keepUp();
  });
  events.addEventListener("ended", ({ data }) => {
    events.close();
    clearTimeout(lost);
    has.ended = data;
    keepUp();
  });
  events.addEventListener("error", () => {
    lost ||= setTimeout(() => tellState("Connection lost. These are the last figures; retrying."), SILENT);
  });
  addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    looked.all();
    looked.point(null);
  });
}

has.shown = document.documentElement.dataset.state ?? "";
has.newest = has.shown;
followTest();
