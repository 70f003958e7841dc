import assert from "node:assert/strict";
import { test } from "node:test";
import { marginsOf } from "../src/shell/paper";

test("a sheet has its page's title from the second on, the version and the date", () => {
  const css = marginsOf(' nightly › "shop"\n\\ ', "1.2", Date.UTC(2026, 11, 1));
  assert.ok(css.includes(String.raw`@top-left { content: "nightly › \"shop\" \\"`), css);
  assert.ok(css.includes('"perfpipe 1.2, printed 1 December 2026"') && css.includes(":first"), css);
});
