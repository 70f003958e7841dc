import assert from "node:assert/strict";
import { test } from "node:test";
import { versionPage } from "../src/app";
import type { StoreData } from "../src/types";

test("a version has a page of the web if it is a tag's value", () => {
  const page = (versionUrl: string | undefined, by: string, version: string): string | null =>
    versionPage({ store: { ...(versionUrl === undefined ? {} : { versionUrl }) } as StoreData }, by, version);
  const url = "https://host/commit/{}";
  assert.equal(page(url, "tag:commit", "1ddf11"), "https://host/commit/1ddf11");
  assert.equal(page(url, "tag:commit", "a/../b?c#$&"), "https://host/commit/a%2F..%2Fb%3Fc%23%24%26");
  assert.equal(page(url, "day", "2026-12-01"), null);
  assert.equal(page(undefined, "tag:commit", "1ddf11"), null);
  for (const bad of ["javascript:alert(1)//{}", "https:///{}", "https://\\/{}", "https://{}/", "https://a@b/{}"])
    assert.equal(page(bad, "tag:commit", "1"), null, "whoever alters the list names no script and no other host");
});
