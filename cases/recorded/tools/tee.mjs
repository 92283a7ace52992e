// Stands between an MCP client and a stdio server, passes every byte on untouched, and writes what it saw
// as an mcp-replay v1 file. The text of a message is spliced into its line as it came: it is never parsed and
// written again, so that numbers, escapes and member order stay those of the wire.
// It knows lines and directions. It knows nothing of what a message means.
//
//   node tee.mjs TRACE LABEL -- COMMAND [ARGUMENT…]

import { spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";

const [trace, label, dashes, ...command] = process.argv.slice(2);
if (dashes !== "--" || command.length === 0) {
  console.error("usage: node tee.mjs TRACE LABEL -- COMMAND [ARGUMENT…]");
  process.exit(2);
}

const file = openSync(trace, "w");
const write = (line) => writeSync(file, line + "\n");
const startedAt = new Date();
write(JSON.stringify({ v: 1, type: "meta", startedAt: startedAt.toISOString(), label, command }));

const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
copy(process.stdin, child.stdin, "in");
copy(child.stdout, process.stdout, "out");
child.stdin.on("error", () => {}); // The server may be gone before the client's last line.
process.stdout.on("error", () => {});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));

child.on("close", (code, signal) => {
  const now = new Date();
  const exitCode = code ?? 128 + (signal === "SIGTERM" ? 15 : signal === "SIGINT" ? 2 : 9);
  write(JSON.stringify({ t: now.toISOString(), type: "end", exitCode, durationMs: now - startedAt }));
  closeSync(file);
  process.exit(0);
});

// Bytes go on at once; the record is kept by whole lines, so a character cut by a chunk stays whole.
function copy(from, to, dir) {
  let rest = Buffer.alloc(0);
  from.on("data", (chunk) => {
    to.write(chunk);
    rest = Buffer.concat([rest, chunk]);
    for (let end; (end = rest.indexOf(10)) >= 0; rest = rest.subarray(end + 1)) {
      const text = rest.subarray(0, end).toString("utf8").replace(/\r$/, "");
      if (text.trim()) write(`{"t":"${new Date().toISOString()}","dir":"${dir}","raw":${text}}`);
    }
  });
  from.on("end", () => to !== process.stdout && to.end());
}
