// Bundles the tests, since Node can't read TypeScript, and runs them.

import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const names = (await readdir(here, { recursive: true })).filter((name) => name.endsWith(".test.ts"));
const folder = await mkdtemp(join(tmpdir(), "perfpipe-app-"));
await build({
  entryPoints: names.map((name) => join(here, name)),
  outbase: here,
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "warning",
});
const files = names.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")));
const { status } = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
await rm(folder, { recursive: true });
process.exit(status ?? 1);
