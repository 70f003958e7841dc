import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, link, parseRoute } from "../src/router";

test("an empty fragment is home, and one that names no page is none", () => {
  for (const fragment of ["", "#", "#/", "#/?test=shop", "#?theme=dark"]) assert.equal(parseRoute(fragment).page, "home");
  const { page, id } = parseRoute("#/nothing/here?a=1");
  assert.deepEqual([page, id], ["unknown", "nothing/here"]);
});

test("links are read as they were written", () => {
  const route = parseRoute(link("run", "go_shop-1", { from: 10, to: 30 }));
  assert.deepEqual([route.page, route.id, route.query.get("from"), route.query.get("to")], ["run", "go_shop-1", "10", "30"]);
});

test("ids and values may hold anything", () => {
  const id = "a/b?c#d&e=f%20g ü";
  const route = parseRoute(link("test", id, { tag: ["version=1.2", "branch=a&b+c #1"] }));
  assert.equal(route.id, id);
  assert.deepEqual(route.query.getAll("tag"), ["version=1.2", "branch=a&b+c #1"]);
});

test("links are readable", () => {
  assert.equal(link("compare", null, { a: "x-1,x-2", b: ["y-1", "z-1"] }), "#/compare?a=x-1,x-2&b=y-1&b=z-1");
  assert.equal(link("home", null, { test: "shop", tag: "version=1.2", measure: "" }), "#/?test=shop&tag=version=1.2");
});

test("a changed route keeps its other values", () => {
  const route = parseRoute("#/?test=shop&tag=a=1&tag=b=2&rows=100");
  assert.equal(changed(route, { rows: null, measure: "p95" }), "#/?test=shop&tag=a=1&tag=b=2&measure=p95");
});

test("values of a route may be named as members of objects are", () => {
  assert.equal(changed(parseRoute("#/?__proto__=a&constructor=b"), { rows: 5 }), "#/?__proto__=a&constructor=b&rows=5");
});

test("a broken escape does no harm", () => assert.equal(parseRoute("#/run/100%").id, "100%"));
