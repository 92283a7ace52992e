// Made-up recordings: sessions.js FOLDER writes a long one of 50,000 messages with some faults, a medium one of 10,000,
// and one whose every string is hostile. The same in every run.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\"><!--\u202e\u2028\u0000\u001b[31m";

// A trace, line by line: `put` adds a message, `time` milliseconds after its beginning.
const trace = (command) => {
  const start = Date.parse("2026-01-01T00:00:00Z");
  const lines = [{ v: 1, type: "meta", startedAt: new Date(start).toISOString(), label: command, command: ["node", command] }];
  const put = (time, dir, message) => lines.push({ t: new Date(start + time).toISOString(), dir, raw: { jsonrpc: "2.0", ...message } });
  const ask = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: command, version: "1" } };
  put(0, "in", { id: 0, method: "initialize", params: ask });
  put(3, "out", { id: 0, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: command, version: "1" } } });
  put(4, "in", { method: "notifications/initialized" });
  return { lines, put };
};
const keep = (name, { lines }) => writeFileSync(join(folder, name), lines.map((line) => JSON.stringify(line)).join("\n") + "\n");

for (const [name, messages] of [["long", 50_000], ["medium", 10_000]]) {
  const session = trace("server.js");
  for (let id = 1; session.lines.length <= messages; id++) {
    const time = id * 20 + (id % 7);
    session.put(time, "in", { id, method: "tools/call", params: { name: `tool-${id % 9}`, arguments: { city: `city ${id}`, text: "x".repeat(id % 300) } } });
    if (session.lines.length > messages || id % 1000 === 7) continue;
    if (id % 500 === 3) session.put(time + 9, "out", { id, error: { code: -32602, message: "wrong" } });
    else session.put(time + 9, "out", { id, result: { content: [{ type: "text", text: `result ${id} ${"y".repeat(id % 400)}` }], ...(id % 700 === 5 ? { isError: true } : {}) } });
  }
  keep(`${name}.jsonl`, session);
}

const hostile = trace(HOSTILE);
hostile.put(10, "in", { id: HOSTILE, method: "tools/call", params: { name: HOSTILE, arguments: { [HOSTILE]: HOSTILE } } });
hostile.put(20, "out", { id: HOSTILE, result: { content: [{ type: "text", text: HOSTILE }], isError: true } });
hostile.put(30, "in", { id: `${HOSTILE}2`, method: HOSTILE, params: { [HOSTILE]: HOSTILE } });
hostile.put(40, "out", { id: "nobody asked", error: { code: 1, message: HOSTILE } });
hostile.put(50, "in", { id: null, method: "ping" });
hostile.put(60, "out", { method: "notifications/message", params: { level: "info", data: `${HOSTILE} `.repeat(20_000) } });
keep("hostile.jsonl", hostile);
