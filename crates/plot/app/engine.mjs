// Packs the program that compares: `node engine.mjs FILE.wasm` writes dist/engine.js. A page from file:// can't fetch its
// neighbours, so that the program comes as a script.

import { readFile, writeFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";

const [file] = process.argv.slice(2);
const packed = deflateSync(await readFile(file), { level: 9 }).toString("base64");
await writeFile(new URL("dist/engine.js", import.meta.url), `perfpipe.engine("${packed}");\n`);
