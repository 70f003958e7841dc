import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "../src/dom";

test("what turns the direction of writing, has no width or controls is seen", () => {
  assert.equal(visible("evil\u202efdp.exe"), "evil\\u{202e}fdp.exe");
  assert.equal(visible("a\u200bb\u2066c\ufeff\u0007\n\u00ad"), "a\\u{200b}b\\u{2066}c\\u{feff}\\u{7}\\u{a}\\u{ad}");
  assert.equal(visible("go\u200dlang"), "go\\u{200d}lang");
});

test("joiners within words and emoji stay, and so does all that is seen", () => {
  for (const text of ["Größe, 日本語, שלום", "👩\u200d💻", "می\u200cخواهم", "1\u00a0234 – ms"]) assert.equal(visible(text), text);
});
