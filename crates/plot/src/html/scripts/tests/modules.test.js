import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

test("no two modules have a name in common: in the report they share one scope", () => {
  /** @type {Map<string, string>} */
  const declared = new Map();
  for (const folder of ["data", "draw", "charts", "page"]) {
    for (const file of readdirSync(new URL(`../${folder}/`, import.meta.url))) {
      const text = readFileSync(new URL(`../${folder}/${file}`, import.meta.url), "utf8");
      for (const [, name] of text.matchAll(/^(?:export )?(?:async )?(?:const|let|class|function) (\w+)/gm)) {
        assert.equal(declared.get(name), undefined, `${name} is in ${file} too`);
        declared.set(name, file);
      }
    }
  }
  assert.ok(declared.size > 50, `only ${declared.size} names found`);
});
