import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { unpack } from "../src/load";

test("packed data are unpacked", async () => {
  const data = { texts: ["ü", "</script>"], numbers: Array.from({ length: 5000 }, (_, at) => at % 77) };
  const packed = deflateSync(JSON.stringify(data)).toString("base64");
  assert.deepEqual(await unpack(packed), data);
});

test("damaged data are an error", async () => {
  await assert.rejects(unpack("AAAA"));
});
