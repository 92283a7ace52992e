// Sessions between the official SDK's client and the server beside this file, recorded.
const { mkdtempSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

/** Calls `add` with each pair of numbers, and gives the path of the recording. */
exports.recorded = async function recorded(...pairs) {
  const path = join(mkdtempSync(join(tmpdir(), "session-")), "session.jsonl");
  const args = ["-q", "record", "-o", path, "--", process.execPath, join(__dirname, "server.mjs")];
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: process.env.MCP_CONCORD ?? "mcp-concord", args }));
  for (const [a, b] of pairs) await client.callTool({ name: "add", arguments: { a, b } });
  await client.close();
  return path;
};

/** A recording that is not there yet: its path, and the sum of two numbers, by the server or from the recording. */
exports.played = async function played() {
  const { recordedServer } = require("@mcp-concord/core/recording");
  const path = join(mkdtempSync(join(tmpdir(), "played-")), "recordings", "add.jsonl");
  const sum = async (a, b, { without, ...options } = {}) => {
    const server = without ? ["nothing-of-this-name"] : [process.execPath, join(__dirname, "server.mjs")];
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StdioClientTransport(recordedServer(path, server[0], server.slice(1), options)));
    try {
      return (await client.callTool({ name: "add", arguments: { a, b } })).structuredContent.sum;
    } finally {
      await client.close();
    }
  };
  return { path, sum };
};
