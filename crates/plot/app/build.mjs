// Bundles the app: dist/app.js, dist/app.css and dist/index.html. A page from file:// can't import modules, so the
// script is a classic one.

import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const STYLES = ["tokens", "base", "shell", "home", "test", "run", "compare", "trend", "charts", "print"];

const here = (path) => new URL(path, import.meta.url).pathname;

await mkdir(here("dist"), { recursive: true });
await build({
  entryPoints: [here("src/main.ts")],
  outfile: here("dist/app.js"),
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});

// The order of the files is the order of the cascade; those of other parts may not be there.
const styles = await Promise.all(STYLES.map((name) => readFile(here(`src/style/${name}.css`), "utf8").catch(() => "")));
const { outputFiles } = await build({
  stdin: { contents: styles.join("\n"), loader: "css" },
  minify: true,
  target: "es2022",
  charset: "utf8",
  write: false,
  logLevel: "warning",
});
await writeFile(here("dist/app.css"), outputFiles[0].contents);
await cp(here("index.html"), here("dist/index.html"));
