// Writes the page that judges in the browser, as one file: node page.mjs FILE
//
// It takes the package as build.sh left it. The page runs no script and no style but its own and those of the viewer, by their
// digests, and its policy lets it connect to nothing.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const here = import.meta.dirname;
const read = (path) => readFileSync(join(here, path), "utf8");
const digest = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const [, , out] = process.argv;
if (out === undefined) {
  console.error("node page.mjs FILE");
  process.exit(2);
}

// The modules of the package that the worker needs, each as a function, since a page has no files to import.
const modules = ["api", "describe", "engine", "errors", "exact", "types"].map(
  (name) => `"./${name}.js": (require, exports) => {\n${read(`core/dist/node/${name}.js`)}\n}`,
);
const worker = `"use strict";
const made = {};
const modules = {\n${modules.join(",\n")}\n};
function require(name) {
  if (!(name in made)) modules[name](require, (made[name] = {}));
  return made[name];
}
${read("page/worker.js")}`;

// The viewer's page is made while this one runs. Its policy comes on top of this one, so this one has to let its parts pass.
const { show } = createRequire(import.meta.url)("./core/dist/node/node.js");
const viewer = show(Buffer.from('{"jsonrpc":"2.0","method":"ping"}\n'), "html");
const parts = (name) => [...viewer.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, "gs"))].map(([, text]) => digest(text));

const [script, style] = [read("page/page.js"), read("page/page.css")];
const policy = [
  "default-src 'none'",
  `script-src ${[digest(script), ...parts("script")].join(" ")} 'wasm-unsafe-eval'`,
  `style-src ${[digest(style), ...parts("style")].join(" ")}`,
  "worker-src blob:",
  "frame-src blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const version = /^\[workspace\.package\]\nversion = "([^"]+)"/m.exec(read("../../Cargo.toml"))[1];
const module = gzipSync(readFileSync(join(here, "core/dist/concord.wasm")), { level: 9 }).toString("base64");
const given = { policy, style, script, worker, module, version };
for (const [name, text] of Object.entries({ script, worker })) if (/<\/script|<!--/i.test(text)) throw new Error(`${name} would end its element`);
writeFileSync(out, read("page/page.html").replace(/\{\{ (\w+) \}\}/g, (_, name) => given[name]));
