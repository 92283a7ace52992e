#!/usr/bin/env node
// Starts the program out of the package for this platform. Its input, output, signals and exit code are the program's own.
"use strict";
const { spawn } = require("node:child_process");
const platforms = require("./platforms.json");

/** The platform's name, as its package has it. */
function platform() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return name;
  // The report would look up the names of open connections.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? name : `${name}-musl`;
}

function program() {
  const name = platform();
  const file = process.platform === "win32" ? "mcp-concord.exe" : "mcp-concord";
  if (!(name in platforms)) {
    throw new Error(`there is no prebuilt program for ${name}, only for ${Object.keys(platforms).join(", ")}. Build it with Rust: https://github.com/mcp-concord/mcp-concord#install`);
  }
  try {
    return require.resolve(`@mcp-concord/cli-${name}/${file}`);
  } catch {
    throw new Error(`the package @mcp-concord/cli-${name} is not installed; install @mcp-concord/cli again, with optional dependencies`);
  }
}

let child;
try {
  child = spawn(program(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });
} catch (error) {
  failed(error);
}

function failed(error) {
  console.error(`mcp-concord: ${error.message}`);
  process.exitCode = 2;
}

if (child) {
  // What a terminal sends goes to the program as well; what is sent to this process alone is passed on.
  for (const signal of ["SIGTERM", "SIGHUP", "SIGUSR2"]) process.on(signal, () => child.kill(signal));
  process.on("SIGINT", () => {});
  child.on("error", failed);
  child.on("exit", (code, signal) => {
    if (signal === null) return void (process.exitCode = code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
