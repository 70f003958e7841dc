import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../src/save";

test("cells of a CSV file are exact, and quoted where they need it", () => {
  assert.equal(csv([["name", "n"], ['a "b", c', 0.1], [null, -5]]), 'name,n\r\n"a ""b"", c",0.1\r\n,-5\r\n');
});

test("no text begins as a formula; numbers may have a sign", () => {
  const texts = ["=1+1", "+1", "-cmd|' /C calc'!A0", "@SUM(A1)", "\tx", "＝1"];
  assert.equal(csv([texts]), texts.map((text) => `'${text}`).join(",") + "\r\n");
  assert.equal(csv([["\r=1", -1.5, "a=b", "−3"]]), "\"'\r=1\",-1.5,a=b,−3\r\n");
});
