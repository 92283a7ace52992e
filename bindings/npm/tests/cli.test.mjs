// The launcher, as it is installed beside the package for this platform.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const launcher = join(modules, ".bin/mcp-concord");
const run = (path, args, options = {}) => spawnSync(process.execPath, [path, ...args], { encoding: "utf8", ...options });

test("the program is the one that was packed, and all packages have one version", () => {
  const printed = execFileSync(launcher, ["--version"], { encoding: "utf8" }).trim();
  for (const name of ["core", "cli"]) {
    const { version, optionalDependencies = {} } = JSON.parse(readFileSync(join(modules, "@mcp-concord", name, "package.json"), "utf8"));
    assert.equal(printed, `mcp-concord ${version}`);
    for (const wanted of Object.values(optionalDependencies)) assert.equal(wanted, version);
  }
});

test("input, output and exit code are the program's", () => {
  const input = '{"jsonrpc":"2.0","id":null,"method":"ping"}\n';
  const found = run(launcher, ["check", "-q", "-"], { input });
  assert.equal(found.status, 1, found.stderr);
  assert.match(found.stdout, /jsonrpc\.id\.null/);
  assert.equal(run(launcher, ["read", "no-such-file"]).status, 2);
});

test("a signal reaches the program, and ends the launcher as it ended the program", async () => {
  const child = spawn(launcher, ["record", "-q", "-o", join(mkdtempSync(join(tmpdir(), "cli-")), "a.jsonl"), "--", "cat"], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  const [code, signal] = await once(child, "exit");
  assert.ok(signal === "SIGTERM" || code === 143, `${code} ${signal}`);
});

test("without the package for the platform, or on another platform, the launcher says so", () => {
  const folder = mkdtempSync(join(tmpdir(), "cli-"));
  cpSync(join(modules, "@mcp-concord/cli"), folder, { recursive: true });
  const alone = run(join(folder, "mcp-concord.cjs"), ["--version"]);
  assert.deepEqual([alone.status, alone.stdout], [2, ""]);
  assert.match(alone.stderr, /^mcp-concord: the package @mcp-concord\/cli-\S+ is not installed; install @mcp-concord\/cli again, with optional dependencies\n$/);
  const elsewhere = run("-e", [`Object.defineProperty(process, "arch", { value: "riscv64" }); require(${JSON.stringify(join(folder, "mcp-concord.cjs"))})`]);
  assert.deepEqual([elsewhere.status, elsewhere.stdout], [2, ""]);
  assert.match(elsewhere.stderr, /^mcp-concord: there is no prebuilt program for \w+-riscv64\S*, only for darwin-arm64, .*, win32-x64\. Build it with Rust: https/);
});
